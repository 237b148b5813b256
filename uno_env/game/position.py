"""One game as a readable value: built from the keys of a conformance case, printed, compared."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from uno_env.game import scoring
from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    CARDS,
    COPIES,
    KIND_OF_TEXT,
    NO_CARD,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_SYMBOLS,
    WILD_KINDS,
    Colour,
    Words,
    kind_of_face,
    parse_cards,
)
from uno_env.game.rules import Rules
from uno_env.game.state import LACK_CAP, NO_SEAT, Phase, State

Hand = tuple[str, ...]
"""Cards as text."""

_PHASES = {
    phase.name.lower().replace("_", "-"): phase
    for phase in (
        Phase.TURN,
        Phase.DRAWN,
        Phase.CATCH,
        Phase.CHALLENGE,
        Phase.COLOUR,
        Phase.OVER,
    )
}
_PHASE_NAMES = {phase: name for name, phase in _PHASES.items()}
_COLOUR_NAMES = [colour.name for colour in Colour]


@dataclass(frozen=True, kw_only=True)
class Position:
    """Everything about one game but its random stream. Cards are text in the rulebook's notation.

    Hands are kept sorted, and so are the discards below the top one: their order has no meaning.

    Raises:
        ValueError: the fields do not make a position; the message names the field and the value.
    """

    rules: Rules
    hands: tuple[Hand, ...]
    """The cards of each seat."""
    discard: Hand = ()
    """The discard pile, the top card last."""
    opening: str | None = None
    """Instead of `discard`: the card just turned up, whose effect is still to come."""
    draw: Hand = ()
    """The draw pile, next card first."""
    colour: str | None = None
    """The active colour; by default the top card's. None in phase `colour`."""
    turn: int = 0
    """The seat to act."""
    on_turn: int = NO_SEAT
    """The seat whose turn it is; another than `turn` only in phases `catch` and `challenge`."""
    direction: int = 1
    """+1 clockwise, -1 the other way."""
    dealer: int = NO_SEAT
    """The dealer's seat; by default the last."""
    scores: tuple[int, ...] = ()
    """Totals of the game; before this round, or after it once it is over. Zeros by default."""
    phase: str = "turn"
    """`turn`, `drawn`, `catch`, `challenge`, `colour` or `over`."""
    drawn: str | None = None
    """The card just drawn, in phase `drawn`."""
    said: bool = False
    """Whether UNO has been said this turn."""
    guilty: bool = False
    """Whether the Wild Draw 4 on top was laid while holding the active colour."""
    winner: int | None = None
    """Who went out."""
    points: tuple[int, ...] = ()
    """Points of this round; zeros until it is over."""
    known: tuple[Hand, ...] = ()
    """Cards of each seat that a King Pig was seen to deal to it."""
    lack: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Per seat and colour, cards received since it drew while that colour was active, up to 15."""

    def __post_init__(self) -> None:
        self._put("hands", tuple(map(_sorted, self.hands)))
        self._put("discard", _sorted(self.discard[:-1]) + tuple(self.discard[-1:]))
        self._put("draw", tuple(self.draw))
        for name in ("scores", "points", "lack", "known"):
            self._put(name, tuple(getattr(self, name)) or self._default(name))
        self._put("known", tuple(map(_sorted, self.known)))
        self._put("lack", tuple(map(tuple, self.lack)))
        for name in ("on_turn", "dealer"):
            if getattr(self, name) == NO_SEAT:
                self._put(name, self._default(name))
        if self.colour is None and self.discard and self.phase != "colour":
            self._put("colour", _colour_of(self.discard[-1]))
        _validate(self)

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _default(self, name: str) -> object:
        """What a field is when nothing is said of it."""
        players = self.rules.num_players
        by_seat: dict[str, object] = {
            "scores": (0,) * players,
            "points": (0,) * players,
            "known": ((),) * players,
            "lack": ((LACK_CAP,) * len(Colour),) * players,
            "on_turn": self.turn,
            "dealer": players - 1,
        }
        return by_seat.get(name, type(self).__dataclass_fields__[name].default)

    @property
    def top(self) -> str:
        """The top card of the discard pile."""
        return self.discard[-1]

    @property
    def over(self) -> bool:
        """Whether the round is over."""
        return self.phase == "over"

    @property
    def game_over(self) -> bool:
        """Whether the round is over and a total has reached the target."""
        return self.over and bool(scoring.game_over(self.rules, np.array([self.scores]))[0])

    @property
    def game_winners(self) -> tuple[int, ...]:
        """The seats that have won the game; none before its end."""
        if not self.game_over:
            return ()
        scores = np.array([self.scores], dtype=np.int32)
        return tuple(int(seat) for seat in scoring.game_winners(self.rules, scores)[0].nonzero()[0])

    @classmethod
    def from_case(cls, case: Mapping[str, Any]) -> Position:
        """A position from the keys of a conformance case.

        Args:
            case: `hands`, and optionally `rules`, `discard` or `opening`, `draw`, `colour`, `turn`,
                `direction`, `dealer`, `scores`; cards as text with spaces between. Any other field
                of `Position` may be given too. The number of players is that of the hands.

        Raises:
            ValueError: an unknown key or card, or a table that cannot be.
        """
        keys = dict(case)
        known = {spec.name for spec in dataclasses.fields(cls)}
        for key in keys:
            if key not in known:
                raise ValueError(f"unknown key {key!r} of a position: known are {', '.join(known)}")
        hands = keys.pop("hands", None)
        if not isinstance(hands, Sequence) or isinstance(hands, str):
            raise ValueError(
                f"hands={hands!r}: allowed is a list with one string of cards per seat"
            )
        rules = Rules.make(keys.pop("rules", "angry_birds"), num_players=len(hands))
        for key in ("discard", "draw"):
            if key in keys:
                keys[key] = _cards(keys[key])
        if "known" in keys:
            keys["known"] = tuple(map(_cards, keys["known"]))
        return cls(rules=rules, hands=tuple(map(_cards, hands)), **keys)

    def __str__(self) -> str:
        """A line for each field that is not at its default; `parse` reads it back."""
        lines = [f"rules: {self.rules}", f"hands: {_join_hands(self.hands)}"]
        for spec in dataclasses.fields(self):
            name, value = spec.name, getattr(self, spec.name)
            if name in ("rules", "hands") or value in (None, ()):
                continue
            if name in ("discard", "draw", "colour", "turn") or value != self._default(name):
                lines.append(f"{name}: {_format_field(name, value)}")
        return "\n".join(lines)

    @classmethod
    def parse(cls, text: str) -> Position:
        """A position from its text form.

        Raises:
            ValueError: a line that is not ``field: value``, an unknown field, or a value that does
                not fit it; the message quotes the line.
        """
        fields: dict[str, Any] = {}
        known = {spec.name for spec in dataclasses.fields(cls)}
        for line in filter(None, map(str.strip, text.splitlines())):
            name, colon, value = line.partition(":")
            if not colon or name not in known or name in fields:
                raise ValueError(
                    f"line {line!r} of a position: written is `field: value`, each field once, "
                    f"with a field of {', '.join(sorted(known))}"
                )
            try:
                fields[name] = _parse_field(name, value.strip())
            except ValueError as error:
                raise ValueError(f"line {line!r} of a position: {error}") from None
        for name in ("rules", "hands"):
            if name not in fields:
                raise ValueError(f"the text of a position needs a line `{name}: ...`")
        return cls(**fields)


def _cards(text: object) -> Hand:
    if not isinstance(text, str):
        raise ValueError(f"{text!r}: cards are written as text with spaces between")
    return tuple(CARDS[kind] for kind in parse_cards(text))


def _sorted(cards: Iterable[str]) -> Hand:
    texts = tuple(cards)
    parse_cards(" ".join(texts))
    return tuple(sorted(texts, key=KIND_OF_TEXT.__getitem__))


def _colour_of(card: str) -> str | None:
    return card[0] if KIND_OF_TEXT[card] < WILD_KINDS.start else None


# ---------------------------------------------------------------------- what makes a position


def _validate(position: Position) -> None:
    _validate_cards(position)
    _validate_seats(position)
    _validate_phase(position)


def _validate_cards(position: Position) -> None:
    deck = CARD_KIND[: position.rules.deck_size]
    allowed = Counter(CARDS[kind] for kind in deck)
    used = Counter(
        card for cards in (*position.hands, position.discard, position.draw) for card in cards
    )
    if position.opening is not None:
        parse_cards(position.opening)
        used[position.opening] += 1
    parse_cards(" ".join(used))
    for card, number in used.items():
        if number > allowed[card]:
            raise ValueError(
                f"{card} stands {number} times on the table: the deck {position.rules.deck} has "
                f"{allowed[card]}"
            )
    for seat, (known, hand) in enumerate(zip(position.known, position.hands, strict=False)):
        if Counter(known) - Counter(hand):
            raise ValueError(
                f"known={' '.join(known)} of seat {seat}: not all of it is in the hand"
            )


def _validate_seats(position: Position) -> None:
    players = position.rules.num_players
    for name in ("hands", "scores", "points", "known", "lack"):
        if len(getattr(position, name)) != players:
            raise ValueError(
                f"{name} has {len(getattr(position, name))} entries: allowed is one for each of "
                f"the {players} players"
            )
    for name in ("turn", "on_turn", "dealer", "winner"):
        seat = getattr(position, name)
        if not (name == "winner" and seat is None) and not _is_int(seat, 0, players - 1):
            raise ValueError(f"{name}={seat!r}: allowed is a seat from 0 to {players - 1}")
    if position.direction not in (1, -1) or isinstance(position.direction, bool):
        raise ValueError(f"direction={position.direction!r}: allowed is 1 or -1")
    for name in ("scores", "points"):
        if not all(_is_int(value, 0, 2**30) for value in getattr(position, name)):
            raise ValueError(
                f"{name}={getattr(position, name)!r}: allowed are whole numbers from 0"
            )
    for lacks in position.lack:
        if len(lacks) != len(Colour) or not all(_is_int(n, 0, LACK_CAP) for n in lacks):
            raise ValueError(f"lack={lacks!r}: allowed are four whole numbers from 0 to {LACK_CAP}")
    for name in ("said", "guilty"):
        if not isinstance(getattr(position, name), bool):
            raise ValueError(f"{name}={getattr(position, name)!r}: allowed is True or False")


def _validate_phase(position: Position) -> None:
    phase, colour = position.phase, position.colour
    if phase not in _PHASES:
        raise ValueError(f"phase={phase!r}: allowed is one of {', '.join(_PHASES)}")
    if (position.opening is None) != bool(position.discard):
        raise ValueError("a position has either a discard pile or an opening card")
    if position.opening is not None:
        if position.opening == "W+4" and set(position.draw) <= {"W+4"}:
            raise ValueError("opening=W+4: it goes back, and the pile holds no other card to turn")
        if colour is not None or phase != "turn":
            raise ValueError("with an opening card the colour and the phase are still to come")
        return
    top_colour = _colour_of(position.top)
    if phase == "colour":
        if colour is not None or position.top not in ("W", "KP"):
            raise ValueError("phase=colour: the top card is a W or KP and no colour is named yet")
    elif colour not in _COLOUR_NAMES:
        raise ValueError(
            f"colour={colour!r} with {position.top} on top: allowed is one of R, Y, G, B"
        )
    elif top_colour is not None and colour != top_colour:
        raise ValueError(f"colour={colour}: the active colour of {position.top} is {top_colour}")
    if (phase == "drawn") != (position.drawn is not None):
        raise ValueError(f"drawn={position.drawn!r} in phase {phase}: it belongs to phase drawn")
    if position.drawn is not None and position.drawn not in position.hands[position.turn]:
        raise ValueError(f"drawn={position.drawn}: not in the hand of seat {position.turn}")
    asked = phase in ("catch", "challenge")
    if asked == (position.turn == position.on_turn) and phase != "over":
        raise ValueError(
            f"turn={position.turn}, on_turn={position.on_turn} in phase {phase}: they differ in "
            "phases catch and challenge alone"
        )
    if not position.over and not all(position.hands):
        raise ValueError("a hand is empty: then the round is over")


def _is_int(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


# ---------------------------------------------------------------------- text


def _join_hands(hands: Iterable[Hand]) -> str:
    return " | ".join(" ".join(hand) for hand in hands)


def _format_field(name: str, value: Any) -> str:
    if name == "known":
        return _join_hands(value)
    if name == "lack":
        return " | ".join(" ".join(map(str, row)) for row in value)
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _parse_field(name: str, text: str) -> Any:
    if name == "rules":
        return Rules.parse(text)
    if name in ("hands", "known"):
        return tuple(_cards(hand) for hand in text.split("|"))
    if name in ("discard", "draw"):
        return _cards(text)
    if name in ("scores", "points"):
        return tuple(map(int, text.split()))
    if name == "lack":
        return tuple(tuple(map(int, row.split())) for row in text.split("|"))
    if name in ("said", "guilty"):
        return {"True": True, "False": False}.get(text, text)
    if name in ("turn", "on_turn", "direction", "dealer", "winner"):
        return int(text)
    return text


# ---------------------------------------------------------------------- to and from arrays


def read(state: State, game: int) -> Position:
    """Game `game` of the batch as a value."""
    players = state.rules.num_players
    phase = Phase(state.phase[game])
    turn = int(state.turn[game])
    top = int(state.top[game])
    top_card = CARDS[kind_of_face(top)]
    buried = list(_cards_of_set(state.discard[game]))
    buried.remove(top_card)
    drawn = int(state.drawn[game])
    winner = int(state.winner[game])
    pile = state.pile[game, state.pile_at[game] :]
    return Position(
        rules=state.rules,
        hands=tuple(_cards_of_set(hand) for hand in state.hands[game]),
        discard=(*buried, top_card),
        draw=tuple(CARDS[kind] for kind in CARD_KIND[pile]),
        colour=None if phase == Phase.COLOUR else Colour(top // NUM_SYMBOLS).name,
        turn=int(state.acting[game]),
        on_turn=turn % players,
        direction=1 if turn < players else -1,
        dealer=int(state.dealer[game]),
        scores=tuple(map(int, state.scores[game])),
        phase=_PHASE_NAMES[phase],
        drawn=CARDS[CARD_KIND[drawn]] if phase == Phase.DRAWN else None,
        said=bool(state.said[game]),
        guilty=bool(state.guilty[game]),
        winner=None if winner == NO_SEAT else winner,
        points=tuple(map(int, state.points[game])),
        known=tuple(_cards_of_set(hand) for hand in state.known[game]),
        lack=tuple(tuple(map(int, row)) for row in state.lack[game]),
    )


def _cards_of_set(held: Words) -> Hand:
    in_set = (CARD_BITS[:NUM_CARDS] & held).any(axis=1)
    return tuple(CARDS[kind] for kind in CARD_KIND[:NUM_CARDS][in_set])


def write(state: State, game: int, position: Position) -> None:
    """Put a position in the place of game `game`; an opening card lies on the draw pile."""
    supply = _Supply()
    size = state.rules.deck_size
    hands = [supply.take(hand) for hand in position.hands]
    for seat, cards in enumerate(hands):
        state.hands[game, seat] = _set_of(cards)
        known = Counter(position.known[seat])
        of_kind = [card for card in cards if _spend(known, CARDS[CARD_KIND[card]])]
        state.known[game, seat] = _set_of(of_kind)
    state.lack[game] = position.lack
    state.discard[game] = _set_of(supply.take(position.discard))
    opening = () if position.opening is None else (position.opening,)
    pile = supply.take((*opening, *position.draw))
    state.pile[game] = NO_CARD
    state.pile_at[game] = size - len(pile)
    state.pile[game, size - len(pile) :] = pile
    colour = 0 if position.colour is None else _COLOUR_NAMES.index(position.colour)
    if position.discard:
        state.top[game] = _face_on_table(position.top, colour)
    backwards = position.direction == -1
    state.turn[game] = position.on_turn + state.rules.num_players * backwards
    state.acting[game] = position.turn
    state.phase[game] = _PHASES[position.phase]
    state.drawn[game] = NO_CARD
    if position.drawn is not None:
        kind = KIND_OF_TEXT[position.drawn]
        state.drawn[game] = np.flatnonzero(kind == CARD_KIND)[0]
    state.said[game] = position.said
    state.guilty[game] = position.guilty
    state.dealer[game] = position.dealer
    state.winner[game] = NO_SEAT if position.winner is None else position.winner
    state.points[game] = position.points
    state.scores[game] = position.scores


class _Supply:
    """Hands out the cards of a deck, copy by copy."""

    def __init__(self) -> None:
        self._next_copy: Counter[int] = Counter()
        self._first = np.concatenate([[0], np.cumsum(COPIES)])

    def take(self, cards: Iterable[str]) -> list[int]:
        taken = []
        for text in cards:
            kind = KIND_OF_TEXT[text]
            taken.append(int(self._first[kind]) + self._next_copy[kind])
            self._next_copy[kind] += 1
        return taken


def _set_of(cards: list[int]) -> Words:
    return np.bitwise_or.reduce(CARD_BITS[cards], axis=0, initial=0)


def _spend(supply: Counter[str], text: str) -> bool:
    if supply[text] == 0:
        return False
    supply[text] -= 1
    return True


def _face_on_table(card: str, colour: int) -> int:
    kind = KIND_OF_TEXT[card]
    if kind in WILD_KINDS:
        return NUM_SYMBOLS * colour + NUM_COLOURED_SYMBOLS + kind - WILD_KINDS.start
    return NUM_SYMBOLS * colour + kind % NUM_COLOURED_SYMBOLS
