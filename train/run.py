"""The folder of a run: held by one process at a time, and nothing in it is ever half-written.

::

    arguments.json      the resolved arguments
    progress.jsonl      a line of JSON for each update: the learning curve
    tensorboard/        the same as curves
    checkpoints/        folders named by the choices of the learner so far, as below
    policy.safetensors  the portable policy that was best in evaluation

A checkpoint holds all that decides how the run goes on:

- ``network.pt``: weights, the optimiser and torch's state of chance, read as weights only;
- ``arrays.npz``: the tables, the pool's counts and the best evaluation, read without pickles;
- ``state.json``: counters and all other states of chance;
- ``past/``: the past selves, as policy files;
- ``policy.safetensors``: the policy as it was.

None of it runs code when read, unlike SB3's zip files. Still, only go on with runs of your own:
`arguments.json` may name agents as ``module:object``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from eval.arguments import finite_number, whole_number
from train.arguments import Arguments
from uno_env.reading import json_of

ARGUMENTS, PROGRESS, POLICY = "arguments.json", "progress.jsonl", "policy.safetensors"
_PARTIAL = ".partial"


class RunError(ValueError):
    """A run folder that cannot be used; says which, why, and what may be done."""


class RunFolder:
    """The folder of a run; leave it with ``with``, which lets others in.

    Args:
        path: where.

    Raises:
        RunError: it is in use by another process.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: int | None = None
        try:
            import fcntl
        except ImportError:  # not on this system: nobody watches
            return
        self._held = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._release()
            raise RunError(f"the run folder {path} is in use by another process") from None

    @classmethod
    def new(cls, arguments: Arguments) -> RunFolder:
        """Make the folder that the arguments name, and keep them in it.

        Raises:
            FileExistsError: it is there already.
            OSError: it cannot be made.
        """
        try:
            arguments.out.mkdir(parents=True)
        except FileExistsError:
            message = f"the run folder {arguments.out} exists: name another with --out"
            if (arguments.out / ARGUMENTS).exists():
                message += f", or go on with --resume {arguments.out}"
            raise FileExistsError(message) from None
        folder = cls(arguments.out)
        folder.write_arguments(arguments)
        return folder

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def write_arguments(self, arguments: Arguments) -> None:
        """Keep the arguments."""
        self.write(ARGUMENTS, json.dumps(arguments.as_json(), indent=2) + "\n")

    def write(self, name: str, text: str) -> None:
        """Write a file, whole or not at all."""
        partial = self.path / f".{name}{_PARTIAL}"
        partial.write_text(text)
        partial.replace(self.path / name)

    # ------------------------------------------------------------------ the learning curve

    def add_progress(self, row: Mapping[str, Any]) -> None:
        """Add an update to the learning curve."""
        with (self.path / PROGRESS).open("a") as file:
            file.write(json.dumps(row) + "\n")

    def drop_progress_after(self, timesteps: int) -> None:
        """Drop what a killed process did after its last checkpoint, half a line too."""
        kept = [row for row in read_progress(self.path) if row["timesteps"] <= timesteps]
        self.write(PROGRESS, "".join(json.dumps(row) + "\n" for row in kept))

    # ------------------------------------------------------------------ checkpoints

    def write_checkpoint(self, timesteps: int, fill: Callable[[Path], None]) -> Path:
        """Make a checkpoint, whole or not at all; `fill` writes it into an empty folder."""
        folder = self.path / "checkpoints"
        folder.mkdir(exist_ok=True)
        target = folder / _name(timesteps)
        partial = folder / f".{target.name}{_PARTIAL}"
        for old in folder.glob(f".*{_PARTIAL}"):
            shutil.rmtree(old)
        partial.mkdir()
        fill(partial)
        if target.exists():  # of a process that was killed and ran on from an earlier one
            shutil.rmtree(target)
        partial.rename(target)
        return target

    def drop_checkpoints(self, keep: int, best: int) -> None:
        """Keep the last few checkpoints, and that of the best policy."""
        for old in checkpoints(self.path)[:-keep]:
            if old.name != _name(best):
                shutil.rmtree(old)

    def drop_checkpoints_after(self, timesteps: int) -> None:
        """Drop checkpoints that are later than the one to go on from."""
        for late in checkpoints(self.path):
            if int(late.name) > timesteps:
                shutil.rmtree(late)

    def take_policy(self, timesteps: int) -> None:
        """The policy of a checkpoint becomes that of the run."""
        partial = self.path / f".{POLICY}{_PARTIAL}"
        shutil.copyfile(self.path / "checkpoints" / _name(timesteps) / POLICY, partial)
        partial.replace(self.path / POLICY)


def _name(timesteps: int) -> str:
    return f"{timesteps:012d}"


def checkpoints(run: Path) -> list[Path]:
    """The whole checkpoints of a run, the last one last."""
    folder = run / "checkpoints"
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name.isdecimal())


def last_checkpoint(run: Path) -> Path:
    """The last checkpoint of a run.

    Raises:
        RunError: there is none.
    """
    found = checkpoints(run)
    if not found:
        raise RunError(f"{run} holds no checkpoint")
    return found[-1]


def best_checkpoint(run: Path) -> Path:
    """The checkpoint of the policy that was best in evaluation.

    Raises:
        RunError: there is none, or the last checkpoint does not tell.
    """
    path = last_checkpoint(run) / "state.json"
    try:
        told = json_of(path.read_text("utf-8"))["best"]["timesteps"]
        best = run / "checkpoints" / _name(whole_number("timesteps", told, 0))
    except (ValueError, TypeError, KeyError) as error:
        raise RunError(f"{path} cannot be used: {type(error).__name__}: {error}") from error
    if not best.is_dir():
        raise RunError(f"no policy of {run} has been evaluated yet: take the last")
    return best


def read_arguments(run: Path) -> Arguments:
    """The arguments of a run.

    Raises:
        RunError: there is no run there, or its arguments cannot be read.
    """
    try:
        values = json_of((run / ARGUMENTS).read_text("utf-8"))
        return Arguments(**{**values, "out": run})
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{run} holds no run: there is no {ARGUMENTS}") from None
    except (ValueError, TypeError) as error:
        raise RunError(f"{run / ARGUMENTS} cannot be used: {error}") from error


def check_same(saved: Arguments, asked: Arguments) -> None:
    """Whether a run may go on with these arguments.

    Raises:
        RunError: something else than `total_timesteps` differs, or that is less.
    """
    for each in fields(Arguments):
        name = each.name
        old, new = getattr(saved, name), getattr(asked, name)
        longer = name == "total_timesteps" and new > old
        if name != "out" and new != old and not longer:
            raise RunError(
                f"{name}={new!r}: the run in {saved.out} has {old!r} and keeps its arguments; "
                "allowed is a larger total_timesteps alone"
            )


def read_progress(run: Path) -> list[dict[str, Any]]:
    """The learning curve, a row for each update; a last line that is not whole is left out.

    Raises:
        RunError: a line is no row of it.
    """
    path = run / PROGRESS
    if not path.exists():
        return []
    *whole, _ = path.read_bytes().split(b"\n")
    rows = []
    for number, line in enumerate(whole, start=1):
        try:
            rows.append(_row_of(json_of(line.decode())))
        except ValueError as error:
            raise RunError(f"{path}: line {number} cannot be used: {error}") from error
    return rows


def _row_of(row: Any) -> dict[str, Any]:
    """A row of the learning curve, checked; raises a ValueError."""
    if not isinstance(row, dict):
        raise ValueError("allowed is a JSON object")
    for name, value in row.items():
        if value is not None:
            finite_number(name, value, "a finite number or null", lambda _: True)
    whole_number("timesteps", row.get("timesteps"), 0)
    return row


def seconds_of(run: Path) -> float:
    """How long a run took, over all processes that went on with it.

    Raises:
        RunError: as for `read_progress`, or a row does not tell.
    """
    total = before = 0.0
    for row in read_progress(run):
        now = row.get("time/seconds")
        if now is None:
            raise RunError(f"{run / PROGRESS} does not tell the time/seconds of every update")
        total += now - before if now > before else now
        before = now
    return total
