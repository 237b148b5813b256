"""The folder of a tournament: nothing in it is ever half-written or overwritten.

While a tournament is played:

- ``results.json`` says what is played (`plan`), and that it is not complete;
- ``pieces/`` holds a file for each piece that is over, written whole and then renamed.

Once it is complete:

- ``results.json`` holds what was played and what came out, all that is needed to recompute it;
- ``rounds.csv.gz`` has a line for each round;
- ``report.html`` is for people;
- ``pieces/`` is gone.

All of them depend on the plan alone: neither on times, nor on processes, nor on interruptions.
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
import io
import json
import os
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from agents.policy import PolicyAgent
from eval.arrays import read_arrays
from eval.floor import Failure, Outcome, Piece, Rounds, Table
from uno_env import __version__
from uno_env.game.actions import ACTION_LAYOUT_VERSION
from uno_env.game.observation import OBSERVATION_LAYOUT_VERSION
from uno_env.reading import json_of

FORMAT = 1
"""The version of the folder's layout."""
RESULTS, ROUNDS, REPORT, PIECES = "results.json", "rounds.csv.gz", "report.html", "pieces"
_MOST_TIMES = 100
"""How many times its size `rounds.csv.gz` may hold: each line has bits of its own."""


class FolderError(RuntimeError):
    """A results folder that cannot be used; says which, why, and what may be done."""


def fingerprint(agent: Agent) -> str:
    """What an agent is, as far as can be told: a hash of its weights, or of its source file."""
    if isinstance(agent, PolicyAgent):
        digest = hashlib.sha256(repr(agent.temperature).encode())
        for name, weights in sorted(agent.policy.weights.items()):
            digest.update(name.encode() + np.ascontiguousarray(weights).tobytes())
        return f"weights {digest.hexdigest()[:16]}"
    try:
        source = Path(inspect.getfile(type(agent))).read_bytes()
    except (TypeError, OSError):
        return "unknown"
    return f"source {hashlib.sha256(source).hexdigest()[:16]}"


def plan_of(
    table: Table, agents: Sequence[Agent], specs: Mapping[str, str], lineups: Sequence[Any]
) -> dict[str, Any]:
    """All that decides the results, as JSON has it.

    Args:
        table: what is played.
        agents: who plays.
        specs: how a command line names agents, by name, where that differs.
        lineups: the matches, as indices of `agents`.
    """
    return {
        "agents": [
            {
                "name": agent.name,
                "given": specs.get(agent.name, agent.name),
                "fingerprint": fingerprint(agent),
            }
            for agent in agents
        ],
        "rules": str(table.rules),
        "players": table.rules.num_players,
        "matches": [list(lineup) for lineup in lineups],
        "deals": table.deals,
        "games": table.games,
        "seed": table.seed,
        "max_decisions": table.max_decisions,
        "piece": table.piece,
        "uno_env": __version__,
        "action_layout": ACTION_LAYOUT_VERSION,
        "observation_layout": OBSERVATION_LAYOUT_VERSION,
    }


class Folder:
    """The folder of one tournament, held by one process at a time; leave it with ``with``.

    Args:
        path: where; it need not be there.
        plan: what is played, see `plan_of`.
        resume: go on with what is there.

    Raises:
        FolderError: the folder is in use or holds something else; nothing has been changed.
    """

    def __init__(self, path: str | os.PathLike[str], plan: dict[str, Any], *, resume: bool) -> None:
        self.path, self.plan = Path(path), plan
        self._held: int | None = None
        """The open folder, locked as long as this process lives."""
        try:
            self._enter(resume)
        except OSError as error:
            self._release()
            raise FolderError(f"{self.path} cannot be used: {error}") from error
        except FolderError:
            self._release()
            raise

    def _enter(self, resume: bool) -> None:
        there = self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir()))
        if there and not resume:
            raise FolderError(f"{self.path} {_what_is_in(self.path)}; nothing was changed")
        if resume and not (self.path / RESULTS).exists():
            raise FolderError(f"{self.path} holds no tournament to resume; nothing was changed")
        self.path.mkdir(parents=True, exist_ok=True)
        self._take()
        if resume:
            self._check_plan()
        else:
            self.write(RESULTS, as_json({"complete": False, "format": FORMAT, "plan": self.plan}))
        if not self.complete:
            (self.path / PIECES).mkdir(exist_ok=True)

    def _take(self) -> None:
        """Hold the folder, so that no other process writes to it."""
        try:
            import fcntl
        except ImportError:  # not on this system: nobody watches
            return
        self._held = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{self.path} is in use by another process") from None

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _check_plan(self) -> None:
        found = read_results(self.path)["plan"]
        different = [key for key in self.plan if found.get(key) != self.plan[key]]
        if different:
            key = different[0]
            what = f"its {key} is {found.get(key)!r}, now asked for is {self.plan[key]!r}"
            if key == "matches":  # the agents are the same, so it is seated otherwise
                there = found.get(key)
                number = len(there) if isinstance(there, list) else 0
                what = f"its seating is another, of {number:,} line-ups, now asked for are "
                what += f"{len(self.plan[key]):,}"
            raise FolderError(f"{self.path} holds another tournament: {what}; nothing was changed")

    @property
    def complete(self) -> bool:
        """Whether all is played and written."""
        return bool(read_results(self.path)["complete"])

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder, whole or not at all.

        Raises:
            FolderError: it cannot be written.
        """
        target = self.path / name
        partial = target.with_name(f".{target.name}.partial")
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise FolderError(f"cannot write {target}: {error}") from error

    # ------------------------------------------------------------------ pieces

    def keep(self, piece: Piece, outcome: Outcome) -> None:
        """Write down a piece that is over.

        Raises:
            FolderError: it cannot be written.
        """
        if isinstance(outcome, Failure):
            self.write(_piece_name(piece, "json"), as_json(asdict(outcome)))
            return
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **outcome.arrays())  # type: ignore[arg-type]
        self.write(_piece_name(piece, "npz"), buffer.getvalue())

    def kept(self, pieces: Sequence[Piece]) -> dict[Piece, Outcome]:
        """The pieces that are over.

        Raises:
            FolderError: a file is damaged; the message names it.
        """
        found: dict[Piece, Outcome] = {}
        for piece in pieces:
            rounds, failure = (self.path / _piece_name(piece, end) for end in ("npz", "json"))
            try:
                if rounds.exists():
                    deals, games = range(piece.start, piece.stop), bool(self.plan["games"])
                    arrays = read_arrays(rounds)
                    found[piece] = Rounds.of(arrays, piece.players, deals, games=games)
                elif failure.exists():
                    found[piece] = Failure.of(json_of(failure.read_text("utf-8")))
            except (ValueError, OSError) as error:
                path = rounds if rounds.exists() else failure
                raise FolderError(
                    f"{path} is damaged ({error}); nothing was changed: delete it to have this "
                    "piece played again"
                ) from error
        return found

    def drop_pieces(self) -> None:
        """Remove what `rounds.csv.gz` holds as well."""
        pieces = self.path / PIECES
        if pieces.exists():
            for file in pieces.iterdir():
                file.unlink()
            pieces.rmdir()


def _piece_name(piece: Piece, end: str) -> str:
    return f"{PIECES}/{piece.lineup:04d}-{piece.number:06d}.{end}"


def as_json(content: object) -> bytes:
    """JSON for people and programs."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _what_is_in(path: Path) -> str:
    if not path.is_dir():
        return "is a file: allowed is a new folder"
    if not (path / RESULTS).exists():
        return "is not empty and holds no tournament: allowed is a new or an empty folder"
    try:
        complete = read_results(path)["complete"]
    except FolderError:
        return f"holds a {RESULTS} that cannot be read: allowed is a new or an empty folder"
    if complete:
        return "holds a tournament already: name another folder"
    pieces = path / PIECES
    over = sum(1 for file in pieces.iterdir() if file.name[0] != ".") if pieces.is_dir() else 0
    return (
        f"holds a tournament that is half played ({over:,} pieces are over): go on with it by "
        "--resume, or name another folder"
    )


def read_results(path: Path) -> dict[str, Any]:
    """What `results.json` says.

    Raises:
        FolderError: there is none, or it is none of ours.
    """
    file = path / RESULTS
    try:
        results: Any = json_of(file.read_text("utf-8"))
        if results["format"] != FORMAT:
            raise FolderError(f"{file} has the format {results['format']}: read is {FORMAT}")
        if not isinstance(results["plan"], dict) or not isinstance(results["complete"], bool):
            raise KeyError("plan")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FolderError(f"{file} cannot be read: {type(error).__name__}: {error}") from error
    return dict(results)


# ---------------------------------------------------------------------- rounds as text


def rounds_as_csv(matches: Mapping[int, Rounds], players: int) -> bytes:
    """A line for each round, compressed; the same rounds give the same bytes.

    Args:
        matches: the rounds of each match, by its number.
        players: P.
    """
    lines = [_head(players)]
    for number, rows in matches.items():
        columns: list[NDArray[Any]] = [
            np.full(len(rows.deal), number),
            *(rows.deal, rows.rotation, rows.number, rows.first, rows.winner, rows.decisions),
            *rows.points.T,
        ]
        lines += [",".join(map(str, row)) for row in np.stack(columns, axis=1).tolist()]
    return gzip.compress("\n".join([*lines, ""]).encode(), compresslevel=6, mtime=0)


def _head(players: int) -> str:
    names = ["match", "deal", "rotation", "round", "first", "winner", "decisions"]
    return ",".join([*names, *(f"points_{place}" for place in range(players))])


def rounds_from_csv(path: Path, players: int, deals: int, *, games: bool) -> dict[int, Rounds]:
    """What `rounds_as_csv` wrote, by match.

    Args:
        path: the file.
        players: P.
        deals: of each match.
        games: whether a deal is a whole game.

    Raises:
        FolderError: the file is damaged.
    """
    try:
        table = _table_of(path, players)
        found = {}
        for number in np.unique(table[:, 0]).tolist():
            own = table[table[:, 0] == number, 1:]
            names = ("deal", "rotation", "number", "first", "winner", "decisions")
            columns = dict(zip(names, own.T, strict=False), points=own[:, len(names) :])
            found[number] = Rounds.of(columns, players, range(deals), games=games)
    except (OSError, ValueError, EOFError, zlib.error, Warning) as error:
        raise FolderError(f"{path} is damaged: {error}") from error
    return found


def _table_of(path: Path, players: int) -> NDArray[np.int64]:
    """The numbers of `rounds.csv.gz`. Raises all that `rounds_from_csv` catches."""
    most = _MOST_TIMES * path.stat().st_size
    with gzip.open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it holds more than {_MOST_TIMES} times its size")
    head, _, lines = data.decode("ascii").partition("\n")
    if head != _head(players):
        raise ValueError(f"its first line is {head[:80]!r}: needed is {_head(players)}")
    if not lines:
        return np.empty((0, 7 + players), np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of numbers that are not whole
        rows = io.StringIO(lines)
        table = np.loadtxt(rows, np.int64, delimiter=",", comments=None, ndmin=2)
    if table.shape[1] != 7 + players:
        raise ValueError(f"{table.shape[1]} columns: needed are {7 + players}")
    return table
