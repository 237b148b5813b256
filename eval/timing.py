"""How fast things are, side by side: blocks, rounds, medians and ratios.

What is measured is a `Workload`. All workloads of a run take turns: in a round each of them has one
block of some tenths of a second, and there are several rounds. Machines switch between faster and
slower states without notice, often for minutes, so one long measurement after the other compares
the machine with itself. Within a round the state is mostly the same. Hence a ratio is taken within
each round, and the median over the rounds is told; the rounds in which the machine changed are
outliers, and do no harm while they are few. Every second round runs backwards, so that a steady
drift favours neither side of a ratio.

Time is processor time (`time.process_time`), on one core that `one_core` ties the process to: what
other processes take of that core in the meantime does not count, and a library's threads cannot
take more than one. Reading that clock takes about a microsecond, as long as some steps; so it is
found out how long, and taken off. Where the system's clock is too coarse for steps, it is the
wall's (`time.perf_counter`).
"""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

Clock = Callable[[], float]

_FINE = 1e-6
"""Seconds: a clock that is coarser is not for steps."""


def _no_choice() -> None:
    """Where nothing has to be chosen outside the time that counts."""


@dataclass(frozen=True)
class Play:
    """Something that goes on and on: what is chosen, which is not timed, and then what is."""

    advance: Callable[[Any], int]
    """Takes what was chosen and returns how many things it did, such as decisions. Timed."""
    choose: Callable[[], Any] = _no_choice
    """Not timed."""


@dataclass(frozen=True)
class Workload:
    """Something to measure."""

    table: str
    """The heading that it is reported under, with what is counted."""
    row: str
    """Its row there."""
    make: Callable[[], Play]
    """Gets it ready, past its start. Raises ImportError where a library is missing."""
    column: str = ""
    """Its column there, where the table has some."""
    install: str = ""
    """The command that installs what `make` may miss."""

    @property
    def name(self) -> str:
        """Row and column; no two workloads of a run share it."""
        return f"{self.row}, {self.column}" if self.column else self.row


@dataclass(frozen=True)
class Comparison:
    """How many times as fast a workload should be as another."""

    of: str
    """The name of the one."""
    to: str
    """The name of the other."""
    target: float | None = None
    """The least ratio that is aimed at, if any."""


@dataclass(frozen=True)
class Block:
    """One measurement."""

    count: int
    """Things done, such as decisions."""
    seconds: float
    """The time they took; what was not timed, and what other processes took, is left out."""

    @property
    def rate(self) -> float:
        """Things per second."""
        return self.count / self.seconds


@dataclass(frozen=True)
class Spread:
    """The median of some numbers and the quartiles around it."""

    median: float
    low: float
    """The first quartile."""
    high: float
    """The third quartile."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """From the numbers themselves, at least one; quartiles are interpolated linearly."""
        low, median, high = np.percentile(values, [25, 50, 75])
        return cls(float(median), float(low), float(high))

    @property
    def share(self) -> float:
        """Half the distance of the quartiles, as a share of the median."""
        return (self.high - self.low) / 2 / self.median


def run_block(play: Play, seconds: float, clock: Clock | None = None) -> Block:
    """Go on until `seconds` of timed work are over, by at least one step.

    Args:
        play: what to do.
        seconds: for how long, about.
        clock: in seconds; by default that of `step_clock`.
    """
    clock, reading = step_clock() if clock is None else (clock, 0.0)
    count, steps, spent = 0, 0, 0.0
    while True:
        chosen = play.choose()
        start = clock()
        count += play.advance(chosen)
        spent += clock() - start
        steps += 1
        if spent >= seconds:
            # A coarse clock may not have moved at all, but some time must have passed.
            return Block(count, max(spent - steps * reading, 1e-9))


@cache
def step_clock() -> tuple[Clock, float]:
    """The clock for steps, and how long reading it takes, in seconds: the least of many times."""
    fine = time.get_clock_info("process_time").resolution <= _FINE
    clock = time.process_time if fine else time.perf_counter
    return clock, min(-clock() + clock() for _ in range(1_000))


def prepare(workloads: Sequence[Workload]) -> tuple[dict[str, Play], list[str]]:
    """Make workloads ready to run.

    Returns:
        Plays by the names of their workloads, and a line for each that misses a library.
    """
    plays: dict[str, Play] = {}
    missing: list[str] = []
    for workload in workloads:
        try:
            plays[workload.name] = workload.make()
        except ImportError as error:
            why = " ".join(str(error).split())
            missing.append(f"{workload.name}: not measured: {why}; install: {workload.install}")
    return plays, missing


def in_pairs(names: Sequence[str], comparisons: Sequence[Comparison]) -> list[str]:
    """The order of a round: what is compared stands together in front, the rest behind it."""
    compared = [name for comparison in comparisons for name in (comparison.of, comparison.to)]
    known = set(names)
    return list(dict.fromkeys([*(name for name in compared if name in known), *names]))


def measure(
    plays: dict[str, Play],
    order: Sequence[str],
    repeats: int,
    seconds: float,
    progress: Callable[[int, int], None],
) -> dict[str, list[Block]]:
    """Run all workloads in turns.

    Args:
        plays: by name.
        order: the names in the order of the first round; the next runs backwards, and so on.
        repeats: rounds.
        seconds: of a block, about.
        progress: is given the blocks that are over, and how many there will be.

    Returns:
        The blocks of each workload, one a round.
    """
    total = repeats * len(order)
    blocks: dict[str, list[Block]] = {name: [] for name in order}
    for name in order:
        run_block(plays[name], seconds / 10)
    # What stays for the whole run is no garbage: one workload's objects should not make the
    # collector slow in the blocks of another.
    gc.collect()
    gc.freeze()
    try:
        for number in range(repeats):
            for place, name in enumerate(order if number % 2 == 0 else order[::-1]):
                blocks[name].append(run_block(plays[name], seconds))
                progress(number * len(order) + place + 1, total)
    finally:
        gc.unfreeze()
    return blocks


def ratios(blocks: dict[str, list[Block]], comparison: Comparison) -> list[float] | None:
    """The ratio of each round; None where one of the two was not measured."""
    if comparison.of not in blocks or comparison.to not in blocks:
        return None
    pairs = zip(blocks[comparison.of], blocks[comparison.to], strict=True)
    return [of.rate / to.rate for of, to in pairs]


@contextmanager
def one_core() -> Iterator[str]:
    """Keep this process, and the linear algebra in it, to one core, and say which.

    The last of those it may use, since the system prefers the first. Afterwards all is as before.
    Where the system cannot tie a process to a core, only the number of threads is limited.
    """
    with threadpool_limits(limits=1):
        if not hasattr(os, "sched_setaffinity"):
            yield "one thread"
            return
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(allowed)})
        try:
            yield f"core {max(allowed)}"
        finally:
            os.sched_setaffinity(0, allowed)


def cpu_name() -> str:
    """The processor's name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
