"""Pieces played here, by Ray, or in several processes, each of which may die without the others.

`concurrent.futures` ends all processes when one is killed, and with them what they were playing.
Here, a process that dies is replaced and its piece is played again: nothing but that piece is lost.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from eval.arguments import whole_number
from eval.cluster import Cluster
from eval.floor import (
    Outcome,
    Piece,
    Progress,
    Table,
    Wanted,
    WorkerError,
    play_piece,
    say_nothing,
)

__all__ = ["Jobs", "WorkerError", "checked_jobs", "play_pieces"]

Jobs = int | Cluster
"""A number of processes on this machine, or where Ray plays."""

_TRIES = 2
"""How often a piece is begun whose process dies."""


def checked_jobs(jobs: Jobs) -> Jobs:
    """What is allowed for it: a `Cluster`, or a whole number from 1.

    Raises:
        ValueError: anything else.
    """
    return jobs if isinstance(jobs, Cluster) else whole_number("jobs", jobs, 1)


def play_pieces(
    table: Table,
    pieces: Sequence[Piece],
    jobs: Jobs = 1,
    progress: Progress = say_nothing,
    wanted: Wanted = lambda _: True,
) -> Generator[tuple[Piece, Outcome], None, None]:
    """Play pieces and yield each as soon as it is over, in any order.

    Args:
        table: what is played.
        pieces: the pieces, in the order in which they are begun.
        jobs: processes, or a cluster. With one, or where a person plays, this one plays.
        progress: is told how far all of them have come.
        wanted: is asked before a piece is begun; one that is not wanted is left out.

    Raises:
        WorkerError: see there. What was yielded before stays good.
    """
    total, over, told = sum(piece.rounds for piece in pieces), 0, 0

    def within(now: int, _: int = 0) -> None:
        nonlocal told
        if over + now > told:
            told = over + now
            progress(told, total)

    asks = any(agent.interactive for lineup in table.lineups for agent in lineup)
    if asks or jobs == 1 or (len(pieces) < 2 and not isinstance(jobs, Cluster)):
        played = _here(table, pieces, within, wanted)
    elif isinstance(jobs, Cluster):
        played = jobs.play(table, pieces, wanted)
    else:
        played = _in_processes(table, pieces, jobs, wanted)
    for piece, outcome in played:
        over += piece.rounds
        within(0)
        if outcome is not None:
            yield piece, outcome


def _here(
    table: Table,
    pieces: Sequence[Piece],
    progress: Progress,
    wanted: Wanted,
) -> Iterator[tuple[Piece, Outcome | None]]:
    for piece in pieces:
        yield piece, play_piece(table, piece, progress) if wanted(piece) else None


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    piece: Piece | None = None


def _serve(pipe: Connection, table: Table) -> None:
    """What a process does: play what it is sent, until there is nothing more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    try:
        while (piece := pipe.recv()) is not None:
            try:
                pipe.send(play_piece(table, piece))
            except Exception:
                pipe.send(traceback.format_exc())
    except (EOFError, OSError):
        pass  # the parent is gone


def _in_processes(
    table: Table,
    pieces: Sequence[Piece],
    jobs: int,
    wanted: Wanted,
) -> Iterator[tuple[Piece, Outcome | None]]:
    # Forking a process that runs threads, as training does, may hang; so new ones are started.
    context = multiprocessing.get_context("spawn")
    waiting, deaths = deque(pieces), Counter[Piece]()
    workers: dict[Connection, _Worker] = {}

    def start() -> None:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, table), daemon=True)
        process.start()
        theirs.close()  # or its end would not be noticed here
        workers[ours] = _Worker(process, ours)

    def died(worker: _Worker) -> None:
        del workers[worker.pipe]
        worker.process.join()
        piece, code = worker.piece, worker.process.exitcode
        worker.piece = None
        if piece is None:
            return
        deaths[piece] += 1
        if deaths[piece] >= _TRIES:
            raise WorkerError(
                f"the process that played deals {piece.start} to {piece.stop - 1} of match "
                f"{piece.lineup} died {_TRIES} times, last with the exit code {code}"
            )
        waiting.appendleft(piece)
        start()

    def give(worker: _Worker) -> Iterator[tuple[Piece, None]]:
        """The next piece that is wanted to a process; yields those that are not."""
        while waiting:
            piece = waiting.popleft()
            if not wanted(piece):
                yield piece, None
                continue
            worker.piece = piece
            try:
                worker.pipe.send(piece)
            except OSError:
                died(worker)
            return

    try:
        for _ in range(min(jobs, len(pieces))):
            start()
        while True:
            for worker in [each for each in workers.values() if each.piece is None]:
                yield from give(worker)
            if not any(worker.piece for worker in workers.values()):
                if waiting:
                    continue
                return
            for pipe in wait([each.pipe for each in workers.values() if each.piece]):
                worker = workers[pipe]  # type: ignore[index]
                try:
                    outcome = worker.pipe.recv()
                except (EOFError, OSError):
                    died(worker)
                    continue
                piece, worker.piece = worker.piece, None
                if isinstance(outcome, str):
                    raise WorkerError(f"playing failed in a process:\n{outcome}")
                assert piece is not None
                yield from give(worker)
                yield piece, outcome
    finally:
        for worker in workers.values():
            worker.process.terminate()
            worker.pipe.close()
        for worker in workers.values():
            worker.process.join()
