"""Whole tables from what one seat sees, sampled (`sample_tables`), or from all (`true_tables`).

*Determinization*: what is hidden is filled in at random, so that it fits everything the observation
tells. A sampled table gives the seat the very observation it was made from, bit for bit, and what
does not come back so is refused.

What the observation does not tell, though the seat may have seen it:

- Which seat the observer has. It sits in seat 0 of the tables, the others follow clockwise.
- The dealer, who matters from the next round on: seat 0. `Rules.dealer_draw` likewise.
- Points of cards within fives, a target or totals of 8,192 or more within the last 32: they come
  out rounded down, unless `rules` are given.
- What the others remember of the observer: which of its cards a King Pig was seen to deal, and
  which colours it drew on. In the tables they remember nothing of it.
- Where somebody else is asked whether to catch, who: the first it may be, clockwise. Who is asked
  whether to jump in is whoever has the card in the table.
- Whether a Wild Draw 4 that is still open to a challenge was a bluff: its player's sampled cards
  say so. (Who was caught without the call and drew the penalty may hold the colour from there
  alone; that is passed over.)
- That who lays a Wild Draw 4 where no bluff is allowed has no card of the colour then active, and
  that who draws where one may draw only without a match has none of the number or symbol either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game import legality
from uno_env.game.cards import (
    CARD_COLOUR,
    FACE_BITS,
    FACE_KIND,
    NO_CARD,
    NO_COLOUR,
    NUM_CARDS,
    NUM_KINDS,
)
from uno_env.game.checks import whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import FULL_SIZE, LAYOUT, OBSERVATION_SIZE
from uno_env.game.rules import MAX_PLAYERS, Rules
from uno_env.game.state import Phase, State
from uno_env.hidden import deal_hidden
from uno_env.seen import FIRST_CARD, KIND_OF_FACE, Seen, as_rows, copies, decode, rules_of, set_of

__all__ = ["rules_of", "sample_tables", "true_tables"]

_COLOURS_AND_WILDS = NO_COLOUR + 1
_KINDS_OF_COLOUR = [CARD_COLOUR[FIRST_CARD] == colour for colour in range(_COLOURS_AND_WILDS)]


def _drawing_is_proof(rules: Rules) -> bool:
    """Whether who draws has no card of the active colour, nor keeps the one drawn if it has it."""
    return rules.voluntary_draw == "without_match" and rules.drawn_card == "forced"


def _check_seen(tables: GameBatch, seen: Seen, k: int, but: tuple[str, ...] = ()) -> None:
    """The first of each k tables gives the observation it was made from, `but` for some features.

    Raises:
        ValueError: it does not, or nobody could go on: then no game leads to such an observation.
    """
    first = np.arange(0, tables.num_games, k)
    wrong = tables.observe(0, first) != seen.rows
    for feature in but:
        wrong[:, LAYOUT[feature]] = False
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        at = int(wrong[row].argmax())
        name = next(name for name, where in LAYOUT.items() if where.start <= at < where.stop)
        raise ValueError(f"row {row} is no observation: `{name}` does not go with the rest")
    stuck = tables.count_legal(first) == 0
    if stuck.any():
        raise ValueError(f"row {int(stuck.argmax())} is no observation: nothing could be done")


def _finish(state: State, rng: np.random.Generator) -> GameBatch:
    """Work out what follows from the cards, and seed the streams."""
    state.stream[:] = rng.integers(2**64, size=state.num_games, dtype=np.uint64)
    state.points[:] = 0
    if state.rules.jump_in:
        _ask_who_may_jump_in(state)
    batch = GameBatch.from_state(state)
    legality.refresh(state, None)
    return batch


def _ask_who_may_jump_in(state: State) -> None:
    """Where somebody else than seat 0 is asked, it is who holds the like of the top card."""
    rows = np.flatnonzero((state.phase == Phase.JUMP_IN) & (state.acting != 0))
    like = FACE_BITS[state.top[rows]][:, None]
    holds: NDArray[np.bool_] = np.any(state.hands[rows] & like, axis=2)
    holds[:, 0] = False
    holds[np.arange(len(rows)), state.seats_on_turn(rows)] = False
    some = holds.any(axis=1)
    state.acting[rows[some]] = holds[some].argmax(axis=1)


def sample_tables(
    observation: ArrayLike,
    k: int,
    rng: np.random.Generator,
    rules: Rules | None = None,
    *,
    trust: float = 1.0,
    no_wilds: bool = False,
) -> GameBatch:
    """Tables that fit all that a seat has seen: each gives seat 0 the observation it was made from.

    Unseen cards are shuffled into the other hands and the draw pile, all ways alike, but for this:

    - Cards that King Pigs were seen to deal are where they were seen. The observation tells how
      many of each colour an opponent has of them, and which they are all together; what that
      leaves open is shuffled.
    - Who drew on a colour is taken to have had no card of it then: only as many of its cards as it
      has got since can be of that colour. Where one may draw only without a match and has to play
      a drawn card that fits, that is proof and counts in all tables. Elsewhere it is evidence, for
      hardly any player draws with a match in hand, but one who kept the card drawn may hold one
      more: `trust` says in what share of the tables it counts. Where it leaves too few cards for a
      hand, it gives way. `no_wilds` says the same of wilds, which no rule makes anybody play: bots
      do not save them, people may.
    - If somebody else has just drawn a card that may be played, has said UNO or has nothing to draw
      from, a card that may be played is in that hand; so is an answer, or the like of the top card,
      where somebody else is asked for it.
    - With two players the shuffle is exactly uniform over what all this allows, but for hands that
      must hold a playable card. With more, the cards of which most is known are dealt first, which
      is nearly so.

    Args:
        observation: (F,) uint8 or (B, F), of a round in play; a seat that is not to act may be the
            observer too.
        k: tables for each observation, at least 1.
        rng: the source of chance, the games' streams included.
        rules: those of the game, where they should be exact (see the module); they must fit.
        trust: 0 to 1.
        no_wilds: whether who drew is taken to have had no wild either.

    Returns:
        B x k games, those of the first observation first; the observer has seat 0.

    Raises:
        ValueError: another shape, observations that cannot be or differ in their rules, a number
            out of range.
        TypeError: `k` is no whole number.
    """
    seen = decode(as_rows(observation, OBSERVATION_SIZE), rules)
    k = whole_number("k", k, 1)
    if not 0 <= trust <= 1:
        raise ValueError(f"trust={trust!r}: allowed is a number from 0 to 1")
    if _drawing_is_proof(seen.rules):
        trust = 1.0
    dealt = deal_hidden(seen.hidden(no_wilds=no_wilds), k, rng, trust)
    of_table = np.repeat(np.arange(len(seen.rows)), k)
    state = seen.state().take(of_table)
    every = np.arange(state.num_games)
    seats = seen.seats[of_table]
    state.hands[:, 0] = set_of(copies(seen.hand, np.zeros_like(seen.hand)))[of_table]
    state.hands[every[:, None], seats[:, 1:]] = dealt.hands
    state.known[every[:, None], seats[:, 1:]] = dealt.known
    size = seen.rules.deck_size
    state.pile[np.arange(size) >= state.pile_at[:, None]] = dealt.pile

    drawn = np.flatnonzero(state.phase == Phase.DRAWN)
    if drawn.size:
        own = seen["drawn"].argmax(axis=1)
        card = FIRST_CARD[FACE_KIND[own]][of_table]
        is_own = seen["to_act"][of_table, 0] != 0
        state.drawn[drawn] = np.where(is_own, card, dealt.playable)[drawn]
    before = state.colour_before
    laid = np.flatnonzero(before != NO_COLOUR)
    if laid.size:
        hands = state.hands[laid, state.seats_on_turn(laid)]
        faces = hands[:, 0] | hands[:, 1]
        state.guilty[laid] = (faces & legality.OF_COLOUR[before[laid]]) != 0
    tables = _finish(state, rng)
    _check_seen(tables, seen, k)
    return tables


def true_tables(
    full: ArrayLike,
    k: int,
    rng: np.random.Generator,
    rules: Rules | None = None,
    *,
    shuffle: bool = False,
) -> GameBatch:
    """The true table k times over, from everything there is: for critics and players that cheat.

    Args:
        full: (FULL_SIZE,) uint8 or (B, FULL_SIZE), as `GameBatch.observe_all` gives it.
        k: as for `sample_tables`.
        rng: shuffles, and the source of the games' streams.
        rules: as for `sample_tables`.
        shuffle: whether the draw pile is shuffled in each table, so that the hands alone are true.

    Returns:
        B x k games, those of the first row first; the observer has seat 0.

    Raises:
        ValueError: as for `sample_tables`.
        TypeError: as for `sample_tables`.
    """
    rows = as_rows(full, FULL_SIZE)
    seen = decode(rows[:, :OBSERVATION_SIZE], rules)
    k = whole_number("k", k, 1)
    number, players, size = len(rows), seen.rules.num_players, seen.rules.deck_size
    kinds = rows[:, OBSERVATION_SIZE : OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS]
    hands = kinds.reshape(number, MAX_PLAYERS, NUM_KINDS)[:, :players]
    in_pile = rows[:, OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS :][:, :NUM_CARDS]
    _check_full(rows, seen, hands, in_pile)
    before = hands.cumsum(axis=1, dtype=np.uint8) - hands

    state = seen.state()
    # The observer's cards come first and the discards next, as in `state`; the others follow.
    before[:, 1:] += seen.discard[:, None]
    for place in range(players):
        cards = set_of(copies(hands[:, place], before[:, place]))
        state.hands[np.arange(number), seen.seats[:, place]] = cards
    _write_piles(state, in_pile, hands.sum(axis=1, dtype=np.uint8) + seen.discard)
    _write_known(state, seen, hands, before)
    drawn = rows[:, -2]
    state.drawn[:] = np.where(drawn != 0, FIRST_CARD[drawn.astype(np.intp) - 1], NO_CARD)
    state.guilty[:] = rows[:, -1]

    state = state.take(np.repeat(np.arange(number), k))
    if shuffle:
        places = np.arange(size) >= state.pile_at[:, None]
        keys = np.where(places, rng.random(places.shape), -1.0)
        state.pile[:] = np.take_along_axis(state.pile, keys.argsort(axis=1), axis=1)
    tables = _finish(state, rng)
    _check_seen(tables, seen, k, but=("known", "known_colours"))
    return tables


def _check_full(
    rows: NDArray[np.uint8], seen: Seen, hands: NDArray[np.uint8], in_pile: NDArray[np.uint8]
) -> None:
    """Hands (B, P, 55) and draw piles (B, 112) are those that the observations speak of.

    Raises:
        ValueError: they are not, or what stands beside them is no card or flag.
    """
    here = in_pile != 0
    beyond = in_pile.max(axis=1) > NUM_KINDS
    counts = np.zeros((len(rows), NUM_KINDS + 1), np.uint8)
    np.add.at(counts, (here.nonzero()[0], np.minimum(in_pile[here], NUM_KINDS)), 1)
    hidden = hands[:, 1:].sum(axis=1, dtype=np.int16) + counts[:, 1:]
    wrong = (
        beyond
        | (hands[:, 0] != seen.hand).any(axis=1)
        | (hands.sum(axis=2, dtype=np.int16) != seen.sizes).any(axis=1)
        | (here != (np.arange(NUM_CARDS) < seen["pile"])).any(axis=1)
        | (hidden > seen.unseen).any(axis=1)
        | (rows[:, -2] > NUM_KINDS)
        | (rows[:, -1] > 1)
    )
    if wrong.any():
        raise ValueError(
            f"row {int(wrong.argmax())} is not all there is: hands and draw pile do not go with "
            "the observation"
        )


def _write_piles(state: State, in_pile: NDArray[np.uint8], before: NDArray[np.uint8]) -> None:
    """Draw piles in order, (B, 112) kinds plus one and zeros after their end."""
    here = in_pile != 0
    kinds = in_pile[here] - 1
    row = here.nonzero()[0]
    # The cards of a pile are the copies of each kind that come last; sorted, they are those in the
    # order of its kinds.
    counts = np.zeros((len(in_pile), NUM_KINDS), np.uint8)
    np.add.at(counts, (row, kinds), 1)
    order = np.lexsort((kinds, row))
    cards = np.empty(len(kinds), np.uint8)
    cards[order] = copies(counts, before).nonzero()[1]
    state.pile[np.arange(state.pile.shape[1]) >= state.pile_at[:, None]] = cards


def _write_known(
    state: State, seen: Seen, hands: NDArray[np.uint8], first: NDArray[np.uint8]
) -> None:
    """Cards that King Pigs were seen to deal, in the true hands (B, P, 55) by place.

    `first` (B, P, 55) says which copies of each kind a hand begins with.

    Where several opponents hold copies of such a card, those next in play are taken to have them
    as far as the colours that each was dealt allow, which may seldom leave one too few.
    """
    left = seen["known"] @ KIND_OF_FACE
    for place in range(1, seen.rules.num_players):
        limits = seen["known_colours"][:, _COLOURS_AND_WILDS * (place - 1) :]
        may = np.minimum(hands[:, place], left)
        supply = hands[:, place + 1 :].sum(axis=1, dtype=np.uint8)
        known = np.minimum(np.where(left > supply, left - supply, 0), may).astype(np.uint8)
        for colour, kinds in enumerate(_KINDS_OF_COLOUR):
            limit = limits[:, colour, None].astype(np.int16) - known[:, kinds].sum(axis=1)[:, None]
            more = (may - known)[:, kinds]
            before = more.cumsum(axis=1, dtype=np.int16) - more
            known[:, kinds] += np.clip(limit - before, 0, more).astype(np.uint8)
        left -= known
        cards = set_of(copies(known, first[:, place]))
        state.known[np.arange(len(known)), seen.seats[:, place]] = cards
