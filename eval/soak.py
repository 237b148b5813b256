"""Play for long and see that nothing breaks: ``python -m eval.soak [--decisions N] [--rules R …]``.

Each of the presets, or of the rules that are named, is played for N decisions by agents that mostly
get on with it and now and then do anything legal. The deck is counted, every round ends, if not by
itself then by the cap on decisions, and the memory of the process does not grow.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import make_agent
from eval.arguments import RulesLike, rules_for
from eval.command import CommandParser, ProgressLine, run_command, whole_number_of
from uno_env.game.cards import CARD_BITS, set_sizes
from uno_env.game.engine import GameBatch
from uno_env.game.rules import MAX_CYCLES, PRESETS, Rules

GAMES = 4_096
CHECK_EVERY = 50
"""Steps between two counts of the deck."""
ANYTHING = 1 / 16
"""The share of decisions that are any legal action."""


class SoakError(RuntimeError):
    """Something that must hold does not; says what, and in which game."""


@dataclass(frozen=True)
class Soak:
    """What came of a long run under some rules."""

    rules: Rules
    decisions: int
    rounds: int
    capped: int
    """Rounds that ended by the cap alone."""
    seconds: float
    growth: int
    """Bytes by which the largest memory of the process grew after the first tenth."""

    def __str__(self) -> str:
        return (
            f"{self.rules}: {self.decisions:,} decisions, {self.rounds:,} rounds, {self.capped:,} "
            f"of them ended by the cap; {self.seconds:.0f} s, memory +{self.growth / 2**20:.1f} MiB"
        )


def soak(rules: RulesLike, decisions: int, seed: int = 0, games: int = GAMES) -> Soak:
    """Play so many decisions, at least.

    Args:
        rules: as for `Rules.make`.
        decisions: how many.
        seed: of the deals and the play.
        games: played side by side.

    Raises:
        SoakError: cards are missing or there twice, or a seat that acts has nothing to do.
    """
    batch = GameBatch(rules_for(rules), games, seed)
    keen, rng = make_agent("keen"), np.random.default_rng(seed)
    ages = np.zeros(games, np.int64)
    made = rounds = capped = steps = 0
    started, before = time.perf_counter(), 0
    with ProgressLine("decisions") as progress:
        while made < decisions:
            mask = batch.legal
            actions = keen.act(batch.observe(), mask, rng)
            anything = np.flatnonzero(rng.random(games) < ANYTHING)
            chances = mask[anything] * rng.random((anything.size, mask.shape[1]))
            actions[anything] = chances.argmax(axis=1)
            _, done = batch.step(actions)
            made, steps, ages = made + games, steps + 1, ages + 1
            cut = ~done & (ages >= MAX_CYCLES)
            rounds, capped = rounds + int((done | cut).sum()), capped + int(cut.sum())
            ages[done | cut] = 0
            batch.next_round(done | cut)
            if steps % CHECK_EVERY == 0:
                _check(batch)
                progress(min(made, decisions), decisions)
            if made <= decisions / 10:
                before = _memory()
    _check(batch)
    seconds = time.perf_counter() - started
    return Soak(batch.rules, made, rounds, capped, seconds, max(0, _memory() - before))


def _memory() -> int:
    """The largest memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _check(batch: GameBatch) -> None:
    wrong = ~_whole_decks(batch) | ~batch.legal.any(axis=1)
    if wrong.any():
        game = int(wrong.argmax())
        raise SoakError(
            f"game {game} under [{batch.rules}]: the deck is not whole, or the seat to act has "
            f"nothing to do\n{batch.state.hands[game]}\n{batch.state.discard[game]}"
        )


def _whole_decks(batch: GameBatch) -> NDArray[np.bool_]:
    """Whether each card of the deck lies in just one place: (N,)."""
    state, size = batch.state, batch.rules.deck_size
    in_pile = np.arange(size) >= state.pile_at[:, None]
    piles = np.where(in_pile[..., None], CARD_BITS[state.pile], np.uint64(0))
    sets = np.concatenate(
        [state.hands, state.discard[:, None], np.bitwise_or.reduce(piles, axis=1)[:, None]], axis=1
    )
    whole = np.bitwise_or.reduce(CARD_BITS[:size], axis=0)
    all_there = (np.bitwise_or.reduce(sets, axis=1) == whole).all(axis=1)
    none_twice: NDArray[np.bool_] = np.equal(set_sizes(sets).sum(axis=1, dtype=np.int64), size)
    return all_there & none_twice & (in_pile.sum(axis=1) == set_sizes(sets[:, -1]))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog="python -m eval.soak", description="Play for long and see that nothing breaks."
    )
    parser.add_argument(
        "--decisions", type=whole_number_of(1), default=10_000_000, help="under each (%(default)s)"
    )
    parser.add_argument(
        "--rules", nargs="+", default=list(PRESETS), help="presets, or rules as text (all presets)"
    )
    parser.add_argument("--seed", type=whole_number_of(0), default=0, help="(%(default)s)")
    options = parser.parse_args(argv)
    try:
        asked = [rules_for(rules) for rules in options.rules]
    except (TypeError, ValueError) as error:
        parser.error(str(error))

    def output() -> str:
        return "\n".join(str(soak(rules, options.decisions, options.seed)) for rules in asked)

    try:
        return run_command(parser.prog, output)
    except SoakError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
