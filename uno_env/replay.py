"""Records as text: ``python -m uno_env.replay FILE``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from uno_env.game.actions import ACTIONS
from uno_env.records import Decision, Record, RecordError, replay


def describe(record: Record) -> Iterator[str]:
    """What happens in a record, a line for each of its lines.

    Raises:
        RecordError: as for `replay`.
    """
    yield f"{record.rules}, seed {record.seed}: {', '.join(record.seats)}"
    tables = replay(record)
    next(tables)
    for entry, _ in zip(record.entries, tables, strict=True):
        if isinstance(entry, Decision):
            yield f"{record.seats[entry.seat]}: {ACTIONS[entry.action]}"
        else:
            who = "nobody" if entry.winner is None else record.seats[entry.winner]
            scores = ", ".join(map(str, entry.scores))
            yield f"{who} wins the round; totals {scores}"


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m uno_env.replay FILE``: print what happens in a record, if it is right."""
    parser = argparse.ArgumentParser(
        prog="python -m uno_env.replay",
        description="Play a record again and print what happens in it, or say what is wrong.",
    )
    parser.add_argument("file", type=Path)
    path = parser.parse_args(argv).file
    try:
        for line in describe(Record.read(path)):
            print(line)
    except (RecordError, OSError) as error:
        print(f"{parser.prog}: {path}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
