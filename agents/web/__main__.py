"""Serve the page: ``python -m agents.web``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

_PROG = "python -m agents.web"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROG, description="Play UNO against bots, and watch them, in a browser."
    )
    parser.add_argument(
        "--bots",
        nargs="+",
        default=[],
        metavar="BOT",
        help="more to choose from: policy files, module:object or names with settings",
    )
    parser.add_argument("--port", type=int, default=8000, help="(%(default)s)")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on (%(default)s: this machine alone). Another lets everyone "
        "play who can reach it",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C. Returns the exit status."""
    options = _parser().parse_args(argv)
    try:
        import uvicorn

        from agents.web.app import LOOPBACK, make_app
    except ImportError as error:
        print(f'{_PROG}: {error}: install "uno-env[web]"', file=sys.stderr)
        return 2
    if not 0 <= options.port < 2**16:
        print(f"{_PROG}: --port {options.port}: allowed is 0 to 65535", file=sys.stderr)
        return 2
    hosts = LOOPBACK if options.host in ("127.0.0.1", "localhost", "::1") else ("*",)
    try:
        app = make_app(options.bots, hosts=hosts)
    except (ValueError, TypeError, OSError) as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 2
    address = f"[{options.host}]" if ":" in options.host else options.host
    print(f"Open http://{address}:{options.port} in a browser; Ctrl-C ends.", flush=True)
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning", access_log=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
