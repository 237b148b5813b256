"""Pieces played by Ray: on the processes of this machine, or on a cluster of many.

Ray starts and watches the processes, carries agents to them and results back, and plays again what
was lost with a process or a machine; that is why nothing of the kind is written here. A piece is
the same wherever it is played, so results are those of a single process, bit for bit.

Ray is an extra of this package: ``pip install "uno-env[ray]"``.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from eval.arguments import whole_number
from eval.floor import Outcome, Piece, Table, Wanted, WorkerError, play_piece

_AHEAD = 2
"""Pieces given out for each core: one is played, the other is there when it ends."""
_ANSWER = 10.0
"""Seconds in which a running cluster has to take a connection."""
_RETRIES = 3
"""How often Ray begins a piece anew whose process or machine was lost."""


@dataclass(frozen=True)
class Cluster:
    """Where Ray plays; takes the place of a number of processes wherever `jobs` is an argument.

    A script that uses Ray already has it used as it is, and left running.
    """

    address: str | None = None
    """Of a running cluster, as for ``ray.init``, such as ``"auto"`` or ``"10.0.0.1:6379"``. By
    default one is started on this machine, reached from this machine alone, and ended after."""
    cores: int | None = None
    """How many pieces are played at a time; by default as many as the cluster has cores."""

    def __post_init__(self) -> None:
        if self.cores is not None:
            object.__setattr__(self, "cores", whole_number("cores", self.cores, 1))

    def play(
        self, table: Table, pieces: Sequence[Piece], wanted: Wanted
    ) -> Iterator[tuple[Piece, Outcome | None]]:
        """Play pieces and yield each as soon as it is over, in any order.

        Args:
            table: what is played.
            pieces: the pieces, in the order in which they are begun.
            wanted: is asked before a piece is given out; one that is not wanted comes with None.

        Raises:
            WorkerError: there is no Ray, its cluster cannot be reached, or a piece was lost again
                and again.
        """
        with self.connected() as ray:
            cores = self.cores or max(1, math.floor(ray.cluster_resources().get("CPU", 1)))
            yield from _play(ray, table, pieces, wanted, cores)

    @contextmanager
    def connected(self) -> Iterator[ModuleType]:
        """Have Ray connected; for several matches, so that it is started but once.

        Raises:
            WorkerError: there is no Ray, or its cluster cannot be reached.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if self.address is None:
            # Despite its name, this keeps Ray's servers on the loopback address on Linux, too; Ray
            # reads it when it is imported.
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        try:
            import ray
        except ImportError:
            raise WorkerError('there is no Ray here: pip install "uno-env[ray]"') from None
        if ray.is_initialized():
            yield ray
            return
        self._check_address()
        try:
            ray.init(**self._options())
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            where = self.address or "this machine"
            raise WorkerError(f"no Ray at {where}: {' '.join(str(error).split())}") from None
        try:
            yield ray
        finally:
            ray.shutdown()

    def _options(self) -> dict[str, Any]:
        """What Ray is told when it is started or connected to."""
        # Agents are found where they are found here, as far as a machine has these folders.
        path = os.pathsep.join(map(os.path.abspath, sys.path))
        options = {
            "runtime_env": {"env_vars": {"PYTHONPATH": path}},
            "log_to_driver": False,
            "logging_level": logging.ERROR,
        }
        if self.address is None:
            return {
                "address": "local",
                "num_cpus": self.cores,
                "include_dashboard": False,
                **options,
            }
        return {"address": self.address, **options}

    def _check_address(self) -> None:
        """Ray itself waits for minutes for a machine that does not answer."""
        host, colon, port = (self.address or "").rpartition(":")
        if not colon or not port.isdecimal() or "//" in host:
            return
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
        except (OSError, OverflowError) as error:
            raise WorkerError(f"no Ray at {self.address}: {error}") from None


def _play(
    ray: ModuleType, table: Table, pieces: Sequence[Piece], wanted: Wanted, cores: int
) -> Iterator[tuple[Piece, Outcome | None]]:
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(play_piece)
    sent = ray.put(table)
    waiting = deque(pieces)
    given: dict[Any, Piece] = {}
    try:
        while waiting or given:
            while waiting and len(given) < _AHEAD * cores:
                piece = waiting.popleft()
                if wanted(piece):
                    given[task.remote(sent, piece)] = piece
                else:
                    yield piece, None
            for over in ray.wait([*given])[0] if given else ():
                piece = given.pop(over)
                yield piece, _outcome(ray, over, piece)
    finally:
        for running in given:
            ray.cancel(running, force=True)


def _outcome(ray: ModuleType, over: Any, piece: Piece) -> Outcome:
    try:
        outcome: Outcome = ray.get(over)
    except ray.exceptions.RayTaskError as error:
        raise WorkerError(f"playing failed in a process:\n{error}") from None
    except ray.exceptions.RayError as error:
        raise WorkerError(
            f"what played deals {piece.start} to {piece.stop - 1} of match {piece.lineup} was lost "
            f"{_RETRIES + 1} times, last since {' '.join(str(error).split())}"
        ) from None
    return outcome
