"""Write the portable policy of a run: ``python -m train.export RUN [--last] [--out FILE]``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from eval.command import run_command
from eval.timing import cpu_name
from train.run import POLICY, best_checkpoint, last_checkpoint, read_arguments, seconds_of
from uno_env.policy import Policy

_PROG = "python -m train.export"


@dataclass(frozen=True)
class Options:
    """What to export."""

    run: Annotated[Path, tyro.conf.Positional]
    """Folder of the run, which may go on meanwhile."""
    out: Path | None = None
    """The file to write, which ends in .safetensors; by default policy.safetensors in the run."""
    last: bool = False
    """The policy of the last checkpoint, in place of the one that was best in evaluation."""


def export(run: Path, out: Path | None = None, *, last: bool = False) -> Path:
    """Write a run's policy, with a summary of its training, and return where it is.

    Args:
        run: the run's folder.
        out: the file; by default ``policy.safetensors`` in the run.
        last: take that of the last checkpoint, not the best.

    Raises:
        RunError: there is no run, or no checkpoint of it that can be used.
        ValueError: the name does not end in ``.safetensors``.
        OSError: the file cannot be written.
    """
    arguments = read_arguments(run)
    found = last_checkpoint(run) if last else best_checkpoint(run)
    policy = Policy.load(found / POLICY)
    summary = {
        "algorithm": "MaskablePPO",
        **policy.training,
        "seconds": round(seconds_of(run)),
        "machine": f"one core of a machine with {os.cpu_count()}, {cpu_name()}",
        # Where the run lay tells nothing of it.
        "arguments": {k: v for k, v in arguments.as_json().items() if k != "out"},
    }
    path = out or run / POLICY
    Policy(policy.weights, policy.rules, summary).save(path)
    return path


def main() -> int:
    """The command line; returns the exit status."""
    options = tyro.cli(Options, prog=_PROG, description=__doc__)
    try:
        return run_command(_PROG, lambda: str(export(options.run, options.out, last=options.last)))
    except (ValueError, OSError) as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
