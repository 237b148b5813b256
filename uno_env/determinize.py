"""Whole tables from what one seat sees, sampled (`sample_tables`), or from all (`true_tables`).

*Determinization*: what is hidden is filled in at random, so that it fits everything the seat has
seen. A sampled table gives the seat the very observation it was made from, bit for bit, which also
shows that the observation tells all a seat needs of the round.

What the observation does not tell, since no play that it leads to depends on it:

- Which seat the observer has. It sits in seat 0 of the tables, the others follow clockwise.
- The dealer, who matters from the next round on: seat 0. `Rules.dealer_draw` likewise.
- Points of cards within fives, a target or totals of 8,192 or more within the last 32: they come
  out rounded down, unless `rules` are given.
- What the others remember of the observer: which of its cards a King Pig was seen to deal, and
  which colours it drew on. In the tables they remember nothing of it.
- Where somebody else is asked whether to catch, who: the first it may be, clockwise.
- Whether a Wild Draw 4 that is still open to a challenge was a bluff: its player's sampled cards
  say so. (Who was caught without the call and drew the penalty may hold the colour from there
  alone; that is passed over.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game import legality
from uno_env.game.cards import (
    CARD_BITS,
    CARD_COLOUR,
    CARD_KIND,
    COPIES,
    FACE_KIND,
    NO_CARD,
    NO_COLOUR,
    NUM_CARDS,
    NUM_KINDS,
    NUM_SYMBOLS,
    Words,
)
from uno_env.game.checks import whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import (
    DIGIT,
    FULL_SIZE,
    LAYOUT,
    OBSERVATION_SIZE,
    POINTS_UNIT,
    SWITCH_PLACES,
    constant_part,
)
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, interned
from uno_env.game.state import LACK_CAP, NO_SEAT, Phase, State
from uno_env.hidden import Hidden, deal_hidden

_KIND_OF_FACE = np.eye(NUM_KINDS, dtype=np.uint8)[FACE_KIND]
"""(64, 55) which kind each face is of."""
_FIRST_CARD = np.searchsorted(CARD_KIND, np.arange(NUM_KINDS)).astype(np.uint8)
"""The first copy of each kind: (55,)."""
_COPY = np.arange(NUM_CARDS) - _FIRST_CARD[CARD_KIND[:NUM_CARDS]]
"""Which of its kind's copies each card is: (112,)."""
_RULES = slice(LAYOUT["num_players"].start, LAYOUT["partners"].stop)
"""The features that the rules alone decide stand side by side."""


# ---------------------------------------------------------------------- rules


def rules_of(observation: NDArray[np.uint8]) -> Rules:
    """The rules that an observation (F,) was made under, as far as it tells them (see above).

    Raises:
        ValueError: no rules look like this.
    """
    return _rules_of(np.asarray(observation)[_RULES].tobytes())


@lru_cache(maxsize=1024)
def _rules_of(features: bytes) -> Rules:
    row = np.zeros(OBSERVATION_SIZE, np.uint8)
    row[_RULES] = np.frombuffer(features, np.uint8)

    def says(switch: str) -> int:
        return int(row[SWITCH_PLACES[switch]])

    draw_fours = [name for name in _DRAW_FOURS if says(name)]
    high, low = row[LAYOUT["target"]].tolist()
    try:
        rules = Rules(
            num_players=int(row[LAYOUT["num_players"]].argmax()) + MIN_PLAYERS,
            deck="angry_birds" if says("king_pigs") else "classic",
            voluntary_draw="always" if says("voluntary_draw_always") else "without_match",
            drawn_card="forced" if says("drawn_card_forced") else "optional",
            wild_draw_four=draw_fours[0] if draw_fours else "none",
            uno_call="explicit" if says("uno_call_explicit") else "automatic",
            uno_enforcement="automatic" if says("uno_enforcement_automatic") else "caught",
            uno_penalty=says("uno_penalty"),
            king_pig_recipients="all" if says("king_pig_to_all") else "opponents",
            last_card_draws=bool(says("last_card_draws")),
            action_points=POINTS_UNIT * says("action_points_in_fives"),
            wild_points=POINTS_UNIT * says("wild_points_in_fives"),
            scoring="lowest" if says("scoring_lowest") else "winner",
            target=DIGIT * high + low,
        )
    except ValueError as error:
        raise ValueError(f"the observation tells of no rules: {error}") from None
    if constant_part(rules)[_RULES].tobytes() != features:
        raise ValueError(f"the observation tells of no rules: [{rules}] look different")
    return interned(rules)


_DRAW_FOURS = ("no_matching_colour", "no_matching_card", "bluff")


# ---------------------------------------------------------------------- what the seat sees


@dataclass(frozen=True, slots=True)
class _Seen:
    """B observations under the same rules, decoded."""

    rules: Rules
    rows: NDArray[np.uint8]
    """(B, F) the observations."""
    hand: NDArray[np.uint8]
    """(B, 55) the observers' cards by kind."""
    discard: NDArray[np.uint8]
    """(B, 55) the discards."""
    unseen: NDArray[np.uint8]
    """(B, 55) all other cards of the deck."""
    seats: NDArray[np.intp]
    """(B, P) the seat at each place, the observer in seat 0."""

    @classmethod
    def of(cls, rows: NDArray[np.uint8], rules: Rules) -> _Seen:
        """Decode observations (B, F).

        Raises:
            ValueError: a round that is over, or cards that do not add up.
        """
        hand, unseen = (rows[:, LAYOUT[name]] @ _KIND_OF_FACE for name in ("hand", "unseen"))
        deck = np.where(
            np.arange(NUM_KINDS) < NUM_KINDS - (rules.deck == "classic"), COPIES, 0
        ).astype(np.int16)
        discard = deck - hand - unseen
        places = np.arange(rules.num_players)
        clockwise = rows[:, LAYOUT["clockwise"].start, None] != 0
        seen = cls(
            rules=rules,
            rows=rows,
            hand=hand,
            discard=discard.astype(np.uint8),
            unseen=unseen,
            seats=np.where(clockwise, places, -places % rules.num_players),
        )
        over = rows[:, LAYOUT["phase"]][:, Phase.OVER] != 0
        if over.any():
            raise ValueError(
                f"row {int(over.argmax())} is of a round that is over: allowed are those in play"
            )
        hidden = seen.sizes[:, 1:].sum(axis=1) + rows[:, LAYOUT["pile"].start]
        wrong = (
            (discard < 0).any(axis=1)
            | (hand.sum(axis=1) != seen.sizes[:, 0])
            | (unseen.sum(axis=1) < hidden)
        )
        if wrong.any():
            raise ValueError(
                f"row {int(wrong.argmax())} is no observation: hands, piles and unseen cards do "
                "not add up"
            )
        return seen

    def __getitem__(self, name: str) -> NDArray[np.uint8]:
        """A feature (B, size) by name."""
        return self.rows[:, LAYOUT[name]]

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """(B, P) cards in hand by place."""
        return self["hand_sizes"][:, : self.rules.num_players]

    @property
    def phase(self) -> NDArray[np.intp]:
        """(B,) `Phase`."""
        return self["phase"].argmax(axis=1)

    @property
    def top(self) -> NDArray[np.intp]:
        """(B,) the top face, under the first colour while it is still to be named."""
        return NUM_SYMBOLS * self["colour"].argmax(axis=1) + self["top"].argmax(axis=1)

    @property
    def on_turn(self) -> NDArray[np.intp]:
        """(B,) the place of the player."""
        return self["on_turn"].argmax(axis=1)

    def by_seat(self, values: NDArray[np.integer]) -> NDArray[np.integer]:
        """Values (B, P) or (B, P, ...) by place, by seat instead.

        The seats at the places are their own inverse: place k has seat k or -k.
        """
        at = self.seats.reshape(self.seats.shape + (1,) * (values.ndim - 2))
        return np.take_along_axis(values, at, axis=1)

    def acting(self) -> NDArray[np.intp]:
        """(B,) the place of the seat to act."""
        players, on_turn = self.rules.num_players, self.on_turn
        phase, clockwise = self.phase, self["clockwise"][:, 0] != 0
        left = np.where(clockwise, on_turn + 1, on_turn - 1) % players
        # The observer at the player's left is known not to be asked.
        beyond = np.where(clockwise, left + 1, left - 1) % players
        asked = np.where(left == 0, beyond, left)
        other = np.where(phase == Phase.CATCH, asked, on_turn)
        other = np.where(phase == Phase.CHALLENGE, (on_turn + 1) % players, other)
        return np.where(self["to_act"][:, 0] != 0, 0, other)

    def state(self) -> State:
        """B games with all that is public; hands, draw piles and chance are still to come."""
        rules, number = self.rules, len(self.rows)
        players = rules.num_players
        state = State.empty(rules, number)
        every = np.arange(number)
        state.discard[:] = set_of(copies(self.discard, self.hand))
        state.pile_at[:] = rules.deck_size - self["pile"][:, 0]
        state.top[:] = self.top
        backwards = self["clockwise"][:, 0] == 0
        state.turn[:] = self.seats[every, self.on_turn] + players * backwards
        state.acting[:] = self.seats[every, self.acting()]
        state.phase[:] = self.phase
        state.said[:] = self["said"][:, 0]
        before = self["colour_before"]
        state.colour_before[:] = np.where(before.any(axis=1), before.argmax(axis=1), NO_COLOUR)
        state.dealer[:] = 0
        state.winner[:] = NO_SEAT
        high, low = (self[f"scores_{digit}"][:, :players].astype(np.int32) for digit in _DIGITS)
        state.scores[:] = self.by_seat(DIGIT * high + low)
        lack = LACK_CAP - self["lack"].reshape(number, -1, len(_COLOURS))[:, : players - 1]
        own = np.full((number, 1, len(_COLOURS)), LACK_CAP, np.uint8)
        state.lack[:] = self.by_seat(np.concatenate([own, lack], axis=1))
        return state

    def hidden(self, *, no_wilds: bool) -> Hidden:
        """What is to be filled in."""
        players = self.rules.num_players
        known = self["known"] @ _KIND_OF_FACE
        by_colour = self["known_colours"].reshape(len(self.rows), MAX_PLAYERS - 1, -1)
        others_act = self["to_act"][:, 0] == 0
        nothing_to_draw = self["pile"][:, 0] + self["discards"][:, 0] <= 1
        playable = others_act & (
            (self.phase == Phase.DRAWN) | ((self.phase == Phase.TURN) & nothing_to_draw)
        )
        return Hidden(
            known=copies(known, self.hand + self.discard),
            loose=copies(self.unseen - known, self.hand + self.discard + known),
            sizes=self.sizes[:, 1:].astype(np.intp),
            pile=self["pile"][:, 0].astype(np.intp),
            known_colours=by_colour[:, : players - 1].astype(np.intp),
            lack=self["lack"].reshape(len(self.rows), MAX_PLAYERS - 1, -1)[:, : players - 1],
            playable=np.where(playable, self.on_turn, 0),
            top=self.top,
            bluff=self.rules.wild_draw_four == "bluff",
            no_wilds=no_wilds,
        )


_DIGITS = ("high", "low")
_COLOURS = range(NO_COLOUR)
_COLOURS_AND_WILDS = NO_COLOUR + 1
_KINDS_OF_COLOUR = [CARD_COLOUR[_FIRST_CARD] == colour for colour in range(_COLOURS_AND_WILDS)]


def copies(wanted: NDArray[np.integer], before: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which cards are the `wanted` copies (B, 55) that come after so many others: (B, 112) bool."""
    first = before[:, CARD_KIND[:NUM_CARDS]]
    stop = first + wanted[:, CARD_KIND[:NUM_CARDS]]
    return (first <= _COPY) & (stop > _COPY)


def set_of(present: NDArray[np.bool_]) -> Words:
    """Cards (..., 112) as sets (..., 2)."""
    cards = np.where(present[..., None], CARD_BITS[:NUM_CARDS], np.uint64(0))
    return np.bitwise_or.reduce(cards, axis=-2)


def _rows(observation: ArrayLike, width: int) -> NDArray[np.uint8]:
    rows = np.atleast_2d(np.asarray(observation))
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype != np.uint8:
        raise ValueError(
            f"observation is {rows.dtype} of the shape {np.shape(observation)}: allowed is uint8 "
            f"of the shape ({width},) or (B, {width})"
        )
    if not len(rows):
        raise ValueError("no observation: allowed is at least one")
    return rows


def _decode(rows: NDArray[np.uint8], rules: Rules | None) -> _Seen:
    """Observations under one set of rules.

    Raises:
        ValueError: they are not.
    """
    shared = rules_of(rows[0]) if rules is None else interned(rules)
    other = (rows[:, _RULES] != constant_part(shared)[_RULES]).any(axis=1)
    if other.any():
        row = int(other.argmax())
        raise ValueError(
            f"row {row} was observed under [{rules_of(rows[row])}], not under [{shared}]: allowed "
            "is one set of rules"
        )
    return _Seen.of(rows, shared)


def _finish(state: State, rng: np.random.Generator) -> GameBatch:
    """Work out what follows from the cards, and seed the streams."""
    state.stream[:] = rng.integers(2**64, size=state.num_games, dtype=np.uint64)
    state.points[:] = 0
    batch = GameBatch.from_state(state)
    legality.refresh(state, None)
    return batch


# ---------------------------------------------------------------------- tables


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
      has got since can be of that colour. That is proof where one may draw only without a match,
      and evidence elsewhere, for hardly any player draws with a match in hand; but one who kept
      the card drawn may hold one more. `trust` says in what share of the tables it counts. Where
      it leaves too few cards for a hand, it gives way. `no_wilds` says the same of wilds, which no
      rule makes anybody play: bots do not save them, people may.
    - With two players the shuffle is exactly uniform over what all this allows. With more, the
      cards of which most is known are dealt first, which is nearly so.
    - If somebody else holds a card just drawn, one that may be played is in that hand.

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
    seen = _decode(_rows(observation, OBSERVATION_SIZE), rules)
    k = whole_number("k", k, 1)
    if not 0 <= trust <= 1:
        raise ValueError(f"trust={trust!r}: allowed is a number from 0 to 1")
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
        card = _FIRST_CARD[FACE_KIND[own]][of_table]
        is_own = seen["to_act"][of_table, 0] != 0
        state.drawn[drawn] = np.where(is_own, card, dealt.playable)[drawn]
    before = state.colour_before
    laid = np.flatnonzero(before != NO_COLOUR)
    if laid.size:
        hands = state.hands[laid, state.seats_on_turn(laid)]
        faces = hands[:, 0] | hands[:, 1]
        state.guilty[laid] = (faces & legality.OF_COLOUR[before[laid]]) != 0
    return _finish(state, rng)


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
    rows = _rows(full, FULL_SIZE)
    seen = _decode(rows[:, :OBSERVATION_SIZE], rules)
    k = whole_number("k", k, 1)
    number, players, size = len(rows), seen.rules.num_players, seen.rules.deck_size
    kinds = rows[:, OBSERVATION_SIZE : OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS]
    hands = kinds.reshape(number, MAX_PLAYERS, NUM_KINDS)[:, :players]
    before = hands.cumsum(axis=1, dtype=np.uint8) - hands

    state = seen.state()
    # The observer's cards come first and the discards next, as in `state`; the others follow.
    before[:, 1:] += seen.discard[:, None]
    for place in range(players):
        cards = set_of(copies(hands[:, place], before[:, place]))
        state.hands[np.arange(number), seen.seats[:, place]] = cards
    in_pile = rows[:, OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS :][:, :NUM_CARDS]
    _write_piles(state, in_pile, hands.sum(axis=1, dtype=np.uint8) + seen.discard)
    _write_known(state, seen, hands, before)
    drawn = rows[:, -2]
    state.drawn[:] = np.where(drawn != 0, _FIRST_CARD[drawn.astype(np.intp) - 1], NO_CARD)
    state.guilty[:] = rows[:, -1]

    state = state.take(np.repeat(np.arange(number), k))
    if shuffle:
        places = np.arange(size) >= state.pile_at[:, None]
        keys = np.where(places, rng.random(places.shape), -1.0)
        state.pile[:] = np.take_along_axis(state.pile, keys.argsort(axis=1), axis=1)
    return _finish(state, rng)


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
    state: State, seen: _Seen, hands: NDArray[np.uint8], first: NDArray[np.uint8]
) -> None:
    """Cards that King Pigs were seen to deal, in the true hands (B, P, 55) by place.

    `first` (B, P, 55) says which copies of each kind a hand begins with.

    Where several opponents hold copies of such a card, those next in play are taken to have them
    as far as the colours that each was dealt allow, which may seldom leave one too few.
    """
    left = seen["known"] @ _KIND_OF_FACE
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
