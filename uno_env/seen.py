"""What one seat sees, read off its observation: the rules, and the table as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    COPIES,
    FACE_KIND,
    NO_COLOUR,
    NUM_CARDS,
    NUM_KINDS,
    NUM_SYMBOLS,
    Words,
)
from uno_env.game.observation import (
    DIGIT,
    LAYOUT,
    OBSERVATION_SIZE,
    POINTS_UNIT,
    SWITCH_PLACES,
    constant_part,
)
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, interned
from uno_env.game.state import LACK_CAP, NO_SEAT, Phase, State
from uno_env.hidden import Hidden, Need

KIND_OF_FACE = np.eye(NUM_KINDS, dtype=np.uint8)[FACE_KIND]
"""(64, 55) which kind each face is of."""
FIRST_CARD = np.searchsorted(CARD_KIND, np.arange(NUM_KINDS)).astype(np.uint8)
"""The first copy of each kind: (55,)."""
_COPY = np.arange(NUM_CARDS) - FIRST_CARD[CARD_KIND[:NUM_CARDS]]
"""Which of its kind's copies each card is: (112,)."""
RULES = slice(LAYOUT["num_players"].start, LAYOUT["partners"].stop)
"""The features that the rules alone decide stand side by side."""


# ---------------------------------------------------------------------- rules


def rules_of(observation: NDArray[np.uint8]) -> Rules:
    """The rules that an observation (F,) was made under, as far as it tells them
    (`uno_env.determinize` says what it does not).

    Raises:
        ValueError: no rules look like this.
    """
    return _rules_of(np.asarray(observation)[RULES].tobytes())


@lru_cache(maxsize=1024)
def _rules_of(features: bytes) -> Rules:
    row = np.zeros(OBSERVATION_SIZE, np.uint8)
    row[RULES] = np.frombuffer(features, np.uint8)

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
            stacking=bool(says("stacking")),
            seven_zero=bool(says("seven_zero")),
            jump_in=bool(says("jump_in")),
            draw_to_match=bool(says("draw_to_match")),
            partners=bool(row[LAYOUT["partners"].start]),
        )
    except ValueError as error:
        raise ValueError(f"the observation tells of no rules: {error}") from None
    if constant_part(rules)[RULES].tobytes() != features:
        raise ValueError(f"the observation tells of no rules: [{rules}] look different")
    return interned(rules)


_DRAW_FOURS = ("no_matching_colour", "no_matching_card", "bluff")


_PHASES_OF_HOUSE_RULES = {
    Phase.SWAP: "seven_zero",
    Phase.JUMP_IN: "jump_in",
    Phase.STACK: "stacking",
}


# ---------------------------------------------------------------------- what the seat sees


@dataclass(frozen=True, slots=True)
class Seen:
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
    def of(cls, rows: NDArray[np.uint8], rules: Rules) -> Seen:
        """Decode observations (B, F).

        Raises:
            ValueError: a round that is over, a player beyond the table, or cards that do not add
                up.
        """
        hand, unseen = (rows[:, LAYOUT[name]] @ KIND_OF_FACE for name in ("hand", "unseen"))
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
        strange = np.zeros(len(rows), np.bool_)
        for phase, house_rule in _PHASES_OF_HOUSE_RULES.items():
            if not getattr(rules, house_rule):
                strange |= rows[:, LAYOUT["phase"]][:, phase] != 0
        if strange.any():
            raise ValueError(
                f"row {int(strange.argmax())} is no observation: its phase belongs to a house rule "
                "that is off"
            )
        beyond = seen.on_turn >= rules.num_players
        if beyond.any():
            raise ValueError(
                f"row {int(beyond.argmax())} is no observation: the player on turn does not sit at "
                "the table"
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
        # The observer at the player's left is known not to be asked; nor is a partner.
        step = 2 if self.rules.partners else 1
        beyond = np.where(clockwise, left + step, left - step) % players
        asked = np.where(left == 0, beyond, left)
        other = np.where(phase == Phase.CATCH, asked, on_turn)
        other = np.where(phase == Phase.CHALLENGE, (on_turn + 1) % players, other)
        jumps = (phase == Phase.JUMP_IN) & (self["to_act"][:, 0] == 0)
        if jumps.any():
            other = np.where(jumps, self._may_jump_in(), other)
        return np.where(self["to_act"][:, 0] != 0, 0, other)

    def _may_jump_in(self) -> NDArray[np.intp]:
        """(B,) the first place but the observer's and the player's with a card not known."""
        by_place = self["known_colours"].reshape(len(self.rows), MAX_PLAYERS - 1, -1)
        known = by_place.sum(axis=2)[:, : self.rules.num_players - 1]
        others = self.sizes[:, 1:] > known
        others[np.arange(len(others)), np.maximum(self.on_turn, 1) - 1] &= self.on_turn == 0
        return others.argmax(axis=1) + 1

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
        state.stack[:] = self["stack"][:, 0]
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

    def _needs(self) -> NDArray[np.intp]:
        """(B,) which card who is to act holds for sure, as `Need`, where house rules ask somebody.

        Of a Wild Draw 4 that may be challenged: where UNO was said before an answer to it.
        """
        phase = self.phase
        stack = phase == Phase.STACK
        stack |= (phase == Phase.CHALLENGE) & (self["said"][:, 0] != 0) & self.rules.stacking
        needs = np.where(stack, int(Need.ANSWER), int(Need.PLAY))
        return np.where(phase == Phase.JUMP_IN, int(Need.LIKE), needs)

    def hidden(self, *, no_wilds: bool) -> Hidden:
        """What is to be filled in."""
        players = self.rules.num_players
        known = self["known"] @ KIND_OF_FACE
        by_colour = self["known_colours"].reshape(len(self.rows), MAX_PLAYERS - 1, -1)
        others_act = self["to_act"][:, 0] == 0
        has_drawn = self.phase == Phase.DRAWN
        # Nothing to draw, or UNO said: then one of the cards may be played.
        nothing_to_draw = self["pile"][:, 0] + self["discards"][:, 0] <= 1
        can_play = (self.phase == Phase.TURN) & (nothing_to_draw | (self["said"][:, 0] != 0))
        playable = others_act & (has_drawn | can_play)
        needs = np.zeros(len(self.rows), np.intp)
        if self.rules.house_rules:
            needs = self._needs()
            playable |= others_act & (needs != Need.PLAY)
        return Hidden(
            known=copies(known, self.hand + self.discard),
            loose=copies(self.unseen - known, self.hand + self.discard + known),
            sizes=self.sizes[:, 1:].astype(np.intp),
            pile=self["pile"][:, 0].astype(np.intp),
            known_colours=by_colour[:, : players - 1].astype(np.intp),
            lack=self["lack"].reshape(len(self.rows), MAX_PLAYERS - 1, -1)[:, : players - 1],
            playable=np.where(playable, self.acting(), 0),
            needs=needs,
            has_drawn=has_drawn,
            top=self.top,
            bluff=self.rules.wild_draw_four == "bluff",
            no_wilds=no_wilds,
        )


_DIGITS = ("high", "low")
_COLOURS = range(NO_COLOUR)


def copies(wanted: NDArray[np.integer], before: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which cards are the `wanted` copies (B, 55) that come after so many others: (B, 112) bool."""
    first = before[:, CARD_KIND[:NUM_CARDS]]
    stop = first + wanted[:, CARD_KIND[:NUM_CARDS]]
    return (first <= _COPY) & (stop > _COPY)


def set_of(present: NDArray[np.bool_]) -> Words:
    """Cards (..., 112) as sets (..., 2)."""
    cards = np.where(present[..., None], CARD_BITS[:NUM_CARDS], np.uint64(0))
    return np.bitwise_or.reduce(cards, axis=-2)


def as_rows(observation: ArrayLike, width: int) -> NDArray[np.uint8]:
    """One observation or several as (B, width) uint8.

    Raises:
        ValueError: another shape or type, or none at all.
    """
    rows = np.atleast_2d(np.asarray(observation))
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype != np.uint8:
        raise ValueError(
            f"observation is {rows.dtype} of the shape {np.shape(observation)}: allowed is uint8 "
            f"of the shape ({width},) or (B, {width})"
        )
    if not len(rows):
        raise ValueError("no observation: allowed is at least one")
    return rows


def decode(rows: NDArray[np.uint8], rules: Rules | None) -> Seen:
    """Observations under one set of rules.

    Raises:
        ValueError: they are not.
    """
    shared = rules_of(rows[0]) if rules is None else interned(rules)
    other = (rows[:, RULES] != constant_part(shared)[RULES]).any(axis=1)
    if other.any():
        row = int(other.argmax())
        raise ValueError(
            f"row {row} was observed under [{rules_of(rows[row])}], not under [{shared}]: allowed "
            "is one set of rules"
        )
    return Seen.of(rows, shared)
