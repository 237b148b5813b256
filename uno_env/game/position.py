"""One game as a readable value: built from the keys of a conformance case, printed, compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from uno_env.game import scoring
from uno_env.game.cards import CARDS, KIND_OF_TEXT, Colour, parse_card
from uno_env.game.checks import one_of, whole_number
from uno_env.game.rules import Rules
from uno_env.game.setup import COLOUR_NAMES, PHASES
from uno_env.game.state import LACK_CAP, NO_SEAT
from uno_env.game.validity import colour_of, validate

Hand = tuple[str, ...]
"""Cards as text."""

MOST_STACKED: Final = 16
"""What eight Draw Twos, or four Wild Draw 4, make somebody draw."""
MOST_POINTS: Final = 2**30
"""The largest total or number of points that a position may have."""


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
    """The seat whose turn it is; another than `turn` only in phases `catch`, `challenge` and
    `jump_in`."""
    direction: int = 1
    """+1 clockwise, -1 the other way."""
    dealer: int = NO_SEAT
    """The dealer's seat; by default the last."""
    scores: tuple[int, ...] = ()
    """Totals of the game; before this round, or after it once it is over. Zeros by default."""
    phase: str = "turn"
    """`turn`, `drawn`, `catch`, `challenge`, `colour` or `over`; with house rules `swap`, `jump_in`
    and `stack`."""
    drawn: str | None = None
    """The card just drawn, in phase `drawn`."""
    said: bool = False
    """Whether UNO has been said this turn."""
    guilty: bool = False
    """Whether the Wild Draw 4 on top was laid while holding the active colour."""
    colour_before: str | None = None
    """The colour active before the Wild Draw 4 on top that may still be challenged; None where
    there is none, or where it is not said."""
    stack: int = 0
    """House rule `stacking`: cards stacked up by draw cards that took effect."""
    winner: int | None = None
    """Who went out."""
    points: tuple[int, ...] = ()
    """Points of this round; zeros until it is over."""
    known: tuple[Hand, ...] = ()
    """Cards of each seat that a King Pig was seen to deal to it."""
    lack: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Per seat and colour, cards received since it drew while that colour was active, up to 15."""

    def __post_init__(self) -> None:
        try:
            _normalise(self)
            validate(self)
        except TypeError as error:  # from a check: its message names field and value
            raise ValueError(str(error)) from None

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _default(self, name: str) -> Any:
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
            TypeError: not a mapping, or rules that are none.
        """
        if not isinstance(case, Mapping):
            raise TypeError(f"case {case!r}: allowed is a mapping from the fields of a position")
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
                keys[key] = _cards(key, keys[key])
        if "known" in keys:
            keys["known"] = [_cards("known", hand) for hand in _entries("known", keys["known"])]
        return cls(rules=rules, hands=tuple(_cards("hands", hand) for hand in hands), **keys)

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
            TypeError: not text.
        """
        if not isinstance(text, str):
            raise TypeError(f"position {text!r}: `parse` reads its text form")
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


def _cards(name: str, text: object) -> Hand:
    if not isinstance(text, str):
        raise ValueError(f"{name}: {text!r} is not cards written as text with spaces between")
    return tuple(_card(name, word) for word in text.split())


def _card(name: str, text: object) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{name}: {text!r} is not a card written as text")
    try:
        return CARDS[parse_card(text)]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _entries(name: str, values: object) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name}={values!r}: allowed is a tuple")
    return tuple(values)


def _hand(name: str, cards: object) -> Hand:
    return tuple(_card(name, card) for card in _entries(name, cards))


def _sorted(cards: Hand) -> Hand:
    return tuple(sorted(cards, key=KIND_OF_TEXT.__getitem__))


# ---------------------------------------------------------------------- each field by itself


def _normalise(position: Position) -> None:
    """Bring every field to its type and order, and put in what was left to its default."""
    put = position._put
    if not isinstance(position.rules, Rules):
        raise ValueError(f"rules={position.rules!r}: allowed is a Rules")
    seats = position.rules.num_players
    put("turn", whole_number("turn", position.turn, 0, seats - 1))
    for name in ("on_turn", "dealer"):
        seat = whole_number(name, getattr(position, name), NO_SEAT, seats - 1)
        put(name, position._default(name) if seat == NO_SEAT else seat)
    if position.winner is not None:
        put("winner", whole_number("winner", position.winner, 0, seats - 1))
    for name in ("hands", "known", "scores", "points", "lack"):
        entries = _entries(name, getattr(position, name)) or position._default(name)
        if len(entries) != seats:
            raise ValueError(
                f"{name} has {len(entries)} entries: allowed is one for each of the {seats} players"
            )
        put(name, tuple(_BY_SEAT[name](name, entry) for entry in entries))
    for name in ("discard", "draw"):
        put(name, _hand(name, getattr(position, name)))
    put("discard", _sorted(position.discard[:-1]) + position.discard[-1:])
    for name in ("opening", "drawn"):
        if getattr(position, name) is not None:
            put(name, _card(name, getattr(position, name)))
    for name in ("said", "guilty"):
        put(name, one_of(name, getattr(position, name), True, False))
    put("colour_before", one_of("colour_before", position.colour_before, None, *COLOUR_NAMES))
    put("stack", whole_number("stack", position.stack, 0, MOST_STACKED))
    put("direction", one_of("direction", position.direction, 1, -1))
    put("phase", one_of("phase", position.phase, *PHASES))
    if position.colour is None and position.discard and position.phase != "colour":
        put("colour", colour_of(position.discard[-1]))


def _number_of_points(name: str, value: object) -> int:
    return whole_number(name, value, 0, MOST_POINTS)


def _lacks(name: str, row: object) -> tuple[int, ...]:
    numbers = _entries(name, row)
    if len(numbers) != len(Colour):
        raise ValueError(f"{name}={row!r}: allowed are four whole numbers from 0 to {LACK_CAP}")
    return tuple(whole_number(name, number, 0, LACK_CAP) for number in numbers)


def _sorted_hand(name: str, cards: object) -> Hand:
    return _sorted(_hand(name, cards))


_BY_SEAT: Final[Mapping[str, Callable[[str, object], object]]] = {
    "hands": _sorted_hand,
    "known": _sorted_hand,
    "scores": _number_of_points,
    "points": _number_of_points,
    "lack": _lacks,
}
"""What makes an entry of the fields that have one for each seat."""


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
        return tuple(_cards(name, hand) for hand in text.split("|"))
    if name in ("discard", "draw"):
        return _cards(name, text)
    if name in ("scores", "points"):
        return tuple(map(int, text.split()))
    if name == "lack":
        return tuple(tuple(map(int, row.split())) for row in text.split("|"))
    if name in ("said", "guilty"):
        return {"True": True, "False": False}.get(text, text)
    if name in ("turn", "on_turn", "direction", "dealer", "winner", "stack"):
        return int(text)
    return text
