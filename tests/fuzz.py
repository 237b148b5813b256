"""Fuzzes every kind of file from outside, guided by coverage: only documented errors may come.

    python tests/fuzz.py record --seconds 600
    python tests/fuzz.py all --seconds 60 --corpus fuzz
    python tests/fuzz.py record --again fuzz-record-crash-0123...

`tests/fuzz_targets.py` says which kinds there are, how their files are spoilt and used, and what
errors are documented. Beside any other error and any warning of this package it is a fault to take
more than a second, or memory far beyond the file's size. At the first fault the run ends with the
traceback, and the file is kept in the folder that the command was called in.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

PACKAGES = ("uno_env", "agents", "eval", "train")
KINDS = (
    *("policy", "record", "position", "case", "tournament", "piece"),
    *("arguments", "progress", "state", "card", "tuning"),
)
SECONDS = 1.0
"""Of a file: how long it may take, on a processor of its own."""
MOST_TIMES, SPARE = 1_100, 2**25
"""How many times the size of a file may be taken, as some are compressed, and how much beside."""
LARGEST = 2**16
"""Bytes of a file."""
ADDRESSES = 2**33
"""Bytes that the process may ask for in all."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python tests/fuzz.py", description="Fuzz the files that come from outside."
    )
    parser.add_argument("target", choices=[*KINDS, "all"], metavar="TARGET", help=", ".join(KINDS))
    parser.add_argument("--seconds", type=int, default=60, help="of each target (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of chance, from 1 (%(default)s)")
    parser.add_argument("--corpus", type=Path, help="folder that keeps files of new coverage")
    parser.add_argument("--again", type=Path, metavar="FILE", help="only this file")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.folder:
        return fuzz(options)
    try:
        import atheris  # noqa: F401
    except ImportError:
        parser.error('there is no atheris, which fuzzes: pip install -e ".[fuzz]"')
    statuses = []
    for target in KINDS if options.target == "all" else (options.target,):
        # In a process of its own, since the fuzzer ends the one that it runs in.
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            given = [f"--seconds={options.seconds}", f"--seed={options.seed}", f"--folder={folder}"]
            given += [f"--corpus={options.corpus}"] if options.corpus else []
            given += [f"--again={options.again}"] if options.again else []
            print(f"--- {target}", flush=True)
            statuses.append(subprocess.call([sys.executable, __file__, target, *given]))
    return max(statuses)


def fuzz(options: argparse.Namespace) -> int:
    """Fuzz one kind of file; returns only if that is one file alone."""
    import atheris

    with atheris.instrument_imports(include=list(PACKAGES)):
        import fuzz_targets
    for package in PACKAGES:
        warnings.filterwarnings("error", module=rf"{package}(\.|$)")
    folder = options.folder
    target = fuzz_targets.TARGETS[options.target](folder)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    if options.again:
        check(target, options.again.read_bytes())
        return 0
    seeds, new = folder / "seeds", (options.corpus or folder / "corpus") / options.target
    for each in (seeds, new):
        each.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (seeds / f"{number:03d}").write_bytes(seed)

    def spoil(data: bytes, largest: int, seed: int) -> bytes:
        rng = Random(seed)
        if rng.random() < 0.2:
            return atheris.Mutate(data, largest)
        return target.spoil(data, rng)[:largest]

    settings = {
        "max_total_time": options.seconds,
        "seed": options.seed,
        "max_len": LARGEST,
        "timeout": 60,
        "rss_limit_mb": 0,
        "reduce_inputs": 0,
        "artifact_prefix": f"fuzz-{options.target}-",
        "print_final_stats": 1,
    }
    atheris.Setup(
        ["", *(f"-{name}={value}" for name, value in settings.items()), str(new), str(seeds)],
        lambda data: check(target, data),
        custom_mutator=spoil,
    )
    atheris.Fuzz()
    return 0


def check(target: Any, data: bytes) -> None:
    """Read and use a file, as fast and with as little memory as its size warrants."""
    before, memory = time.process_time(), _peak()
    target.check(data)
    took, more = time.process_time() - before, _peak() - memory
    assert took < SECONDS, f"it took {took:.1f} s"
    assert more < MOST_TIMES * len(data) + SPARE, f"it took {more:,} bytes more of memory"


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
