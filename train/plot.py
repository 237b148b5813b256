"""Draw learning curves: ``python -m train.plot RUN... --out curve.svg``.

The share of rounds won against each opponent of the evaluations, greedy action choice, over the
choices trained on: a panel for each kind of table, a line for each opponent. Several runs of the
same arguments but for the seed are drawn as their mean and the range between the worst and best.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from eval.command import run_command
from train.run import PROGRESS, RunError, read_progress

_PROG = "python -m train.plot"
_PREFIX, _MODE = "eval/", "greedy"
_KIND = re.compile(r" ([2-9]|10) players$")
"""What the name of a kind of table ends in."""
ENDINGS = (".svg", ".png")
"""What pictures can be."""
_COLOURS = ("#c0392b", "#2471a3", "#1e8449", "#9a7d0a", "#6c3483")

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Choices (n,), in millions, and the share won (runs, n)."""


def curves(runs: Sequence[Path]) -> dict[str, dict[str, Curve]]:
    """The curves of some runs, by kind of table and opponent.

    Raises:
        RunError: there is no run, it has no evaluation yet, or runs were not evaluated alike.
    """
    found: dict[str, dict[str, list[NDArray[np.float64]]]] = {}
    at: NDArray[np.float64] | None = None
    for run in runs:
        rows = [row for row in read_progress(run) if f"{_PREFIX}score" in row]
        if not rows:
            raise RunError(f"{run / PROGRESS} has no evaluation yet")
        timesteps = np.array([row["timesteps"] for row in rows]) / 1e6
        if at is not None and not np.array_equal(at, timesteps):
            raise RunError(f"{run} was evaluated at other times than {runs[0]}: draw it by itself")
        at = timesteps
        for name in rows[0]:
            if name.startswith(_PREFIX) and name.count("/") == 3:
                _, kind, mode, opponent = name.split("/")
                if mode == _MODE:
                    if any(row.get(name) is None for row in rows) or not _KIND.search(kind):
                        raise RunError(f"{run / PROGRESS} has {name!r} not in every evaluation")
                    values = np.array([row[name] for row in rows], np.float64)
                    found.setdefault(kind, {}).setdefault(opponent, []).append(values)
    assert at is not None, "argparse takes one run at least"
    return {
        kind: {opponent: (at, np.stack(values)) for opponent, values in lines.items()}
        for kind, lines in found.items()
    }


def draw(panels: dict[str, dict[str, Curve]]) -> Figure:
    """The picture of some curves."""
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.6 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for axis in axes.ravel()[len(panels) :]:
        axis.remove()
    for axis, (kind, lines) in zip(axes.ravel(), panels.items(), strict=False):
        for colour, (opponent, (at, shares)) in zip(_COLOURS, lines.items(), strict=False):
            percent = 100 * shares
            axis.plot(at, percent.mean(axis=0), color=colour, label=f"against {opponent}")
            if len(percent) > 1:
                axis.fill_between(
                    at, percent.min(axis=0), percent.max(axis=0), color=colour, alpha=0.2, lw=0
                )
        players = int(kind.split()[-2])
        axis.axhline(100 / players, color="#777777", lw=1, ls="--", label="even")
        axis.set_title(kind, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", alpha=0.25)
        axis.tick_params(labelsize=8)
    axes[0, 0].set_ylabel("rounds won, %", fontsize=9)
    axes[0, 0].legend(fontsize=8, frameon=False)
    figure.supxlabel("millions of choices", fontsize=9)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a picture, whole or not at all; the ending, one of `ENDINGS`, says what kind."""
    written = io.BytesIO()
    figure.savefig(written, format=path.suffix[1:], dpi=150, metadata={"Date": None})
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(written.getvalue())
    partial.replace(path)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog=_PROG, description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders")
    parser.add_argument("--out", type=Path, default=Path("curve.svg"), help="(%(default)s)")
    options = parser.parse_args(argv)
    if options.out.suffix not in ENDINGS:
        parser.error(f"--out {options.out}: allowed is a name that ends in {' or '.join(ENDINGS)}")

    def output() -> str:
        save(draw(curves(options.runs)), options.out)
        return f"drawn: {options.out}"

    return run_command(_PROG, output)


if __name__ == "__main__":
    sys.exit(main())
