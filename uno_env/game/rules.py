"""`Rules`: every switch of the rulebook as one immutable value, and the three presets."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from uno_env.game.cards import DECK_SIZES
from uno_env.game.checks import one_of, whole_number

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 10
NUM_PARTNERS: Final = 4
"""Players of the house rule `partners`."""
HOUSE_RULES: Final = ("stacking", "seven_zero", "jump_in", "draw_to_match", "partners")
"""The switches that are house rules."""
HAND_SIZE: Final = 7
"""Cards dealt to each player (rulebook, "Setting up")."""
MAX_CYCLES: Final = 2_000
"""The default cap on the decisions of a round. Play that means to win stays far below it: the
median is 30 to 120 decisions, and of rounds at ten hands one in a thousand takes 1,600. Uniformly
random play, which draws most of the time, may go on for many thousands."""


def _one_of(*allowed: str) -> Any:
    return {"check": lambda name, value: one_of(name, value, *allowed)}


def _whole_number(low: int, high: int) -> Any:
    return {"check": lambda name, value: whole_number(name, value, low, high)}


def _flag() -> Any:
    return {"check": lambda name, value: one_of(name, value, True, False)}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a game. Defaults are the preset `angry_birds`; see the rulebook's table.

    Raises:
        ValueError: a field has a value that is not allowed; the message names the field, the value
            and what is allowed.
    """

    num_players: int = field(default=2, metadata=_whole_number(MIN_PLAYERS, MAX_PLAYERS))
    """Seats at the table."""
    deck: str = field(default="angry_birds", metadata=_one_of(*DECK_SIZES))
    """`angry_birds`: 112 cards with 4 King Pigs; `classic`: 108."""
    dealer_draw: str = field(
        default="symbols_zero", metadata=_one_of("symbols_zero", "numbers_only")
    )
    """When drawing for the dealer, whether a symbol counts zero or is drawn again."""
    voluntary_draw: str = field(default="always", metadata=_one_of("always", "without_match"))
    """Whether one may draw while holding a matching card."""
    drawn_card: str = field(default="optional", metadata=_one_of("optional", "forced"))
    """Whether a drawn card that can be played may be kept."""
    wild_draw_four: str = field(
        default="no_matching_colour",
        metadata=_one_of("no_matching_colour", "no_matching_card", "bluff"),
    )
    """When a Wild Draw 4 may be played; `bluff`: always, but it may be challenged."""
    uno_call: str = field(default="explicit", metadata=_one_of("explicit", "automatic"))
    """Whether saying UNO is an action, or always said."""
    uno_enforcement: str = field(default="caught", metadata=_one_of("caught", "automatic"))
    """Whether a missing call must be caught, or is always punished."""
    uno_penalty: int = field(default=2, metadata=_whole_number(1, 10))
    """Cards drawn for a missing call."""
    king_pig_recipients: str = field(default="all", metadata=_one_of("all", "opponents"))
    """To whom a King Pig deals."""
    last_card_draws: bool = field(default=True, metadata=_flag())
    """Whether the draws of a last card are dealt before points are counted."""
    action_points: int = field(default=50, metadata=_whole_number(0, 500))
    """Points of a Skip, Reverse or Draw Two."""
    wild_points: int = field(default=50, metadata=_whole_number(0, 500))
    """Points of a Wild, Wild Draw 4 or King Pig."""
    scoring: str = field(default="winner", metadata=_one_of("winner", "lowest"))
    """`winner` takes the opponents' points; `lowest`: own cards count, lowest total wins."""
    target: int = field(default=500, metadata=_whole_number(1, 100_000))
    """The total that ends a game."""
    stacking: bool = field(default=False, metadata=_flag())
    """House rule: answer a draw card with one of the same kind."""
    seven_zero: bool = field(default=False, metadata=_flag())
    """House rule: a 7 swaps hands, a 0 passes them on."""
    jump_in: bool = field(default=False, metadata=_flag())
    """House rule: an identical card may be played out of turn."""
    draw_to_match: bool = field(default=False, metadata=_flag())
    """House rule: draw until a card can be played."""
    partners: bool = field(default=False, metadata=_flag())
    """House rule: four players, two pairs of opposite seats."""

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            check: Callable[[str, object], object] = spec.metadata["check"]
            try:
                # Numbers and texts of numpy become plain ones, so that equal rules hash alike.
                object.__setattr__(self, spec.name, check(spec.name, getattr(self, spec.name)))
            except TypeError as error:
                raise ValueError(str(error)) from None

        if self.partners and self.num_players != NUM_PARTNERS:
            raise ValueError(
                f"partners=True with num_players={self.num_players}: allowed are {NUM_PARTNERS}, "
                "two pairs of opposite seats"
            )

        # Tables are cached by rules and looked up at every step, so the fields are hashed once; not
        # with `hash`, which differs from process to process while this goes along in a pickle.
        text = repr(dataclasses.astuple(self))
        object.__setattr__(self, "_hash", zlib.crc32(text.encode()))
        object.__setattr__(self, "_house_rules", tuple(n for n in HOUSE_RULES if getattr(self, n)))

    def __hash__(self) -> int:
        return int(self.__dict__["_hash"])

    @classmethod
    def preset(cls, name: str, /, **switches: Any) -> Rules:
        """The preset `name` with some switches set otherwise.

        Args:
            name: `angry_birds`, `classic` or `official`.
            **switches: fields of `Rules`.

        Raises:
            ValueError: unknown preset, unknown switch, or a value that is not allowed.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}: known are {', '.join(PRESETS)}")
        _refuse_unknown(switches)
        return cls(**{**PRESETS[name], **switches})

    @classmethod
    def make(cls, rules: Rules | str | Mapping[str, Any], /, **switches: Any) -> Rules:
        """Rules from any of the forms that callers may use.

        Args:
            rules: a `Rules`; a preset's name; its text form as `str` gives it; or a mapping with an
                optional key `preset` and the switches that differ.
            **switches: fields that differ again.

        Raises:
            ValueError: as for `preset`.
            TypeError: `rules` is none of these.
        """
        if isinstance(rules, Rules):
            known = dataclasses.asdict(rules)
            return cls.preset("angry_birds", **{**known, **switches}) if switches else rules
        if isinstance(rules, str):
            return cls.parse(rules, **switches)
        if isinstance(rules, Mapping):
            named = dict(rules)
            name = named.pop("preset", "angry_birds")
            _refuse_unknown(named)
            return cls.preset(name, **{**named, **switches})
        raise TypeError(
            f"rules must be a Rules, the name of a preset or a mapping, not {type(rules).__name__}"
        )

    @classmethod
    def parse(cls, text: str, /, **switches: Any) -> Rules:
        """Rules from text such as ``classic num_players=4 uno_penalty=2``, as `str` writes them.

        Raises:
            ValueError: the text does not have this form, a switch stands in it twice, or as for
                `preset`.
            TypeError: not text.
        """
        if not isinstance(text, str):
            raise TypeError(f"rules {text!r}: `parse` reads their text form")
        name, *words = text.split() or [""]
        named: dict[str, Any] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise ValueError(f"{word!r} in rules {text!r}: written is switch=value")
            if key in named:
                raise ValueError(f"{word!r} in rules {text!r}: allowed is each switch once")
            named[key] = _parse_value(value)
        return cls.preset(name, **{**named, **switches})

    def __str__(self) -> str:
        """The preset that is nearest, and the switches that differ from it."""
        differing = [
            (name, {k: v for k, v in dataclasses.asdict(self).items() if v != preset[k]})
            for name, preset in ((name, _whole_preset(name)) for name in PRESETS)
        ]
        name, switches = min(differing, key=lambda entry: len(entry[1]))
        return " ".join([name, *(f"{key}={value}" for key, value in switches.items())])

    @property
    def house_rules(self) -> tuple[str, ...]:
        """The house rules that are on, by name."""
        on: tuple[str, ...] = self.__dict__["_house_rules"]
        return on

    @property
    def deck_size(self) -> int:
        """Cards in the deck."""
        return DECK_SIZES[self.deck]


RULES_KEPT: Final = 256
cached_by_rules = lru_cache(maxsize=RULES_KEPT)
"""For functions of `Rules`. What they gave is kept for the rules that were asked for last: rules
come from files and browsers too, and a process may meet ever new ones."""


@cached_by_rules
def interned(rules: Rules) -> Rules:
    """The same object for equal rules: caches by rules find it without comparing all fields."""
    return rules


def _refuse_unknown(switches: Iterable[object]) -> None:
    known = [spec.name for spec in dataclasses.fields(Rules)]
    for switch in switches:
        if switch not in known:
            raise ValueError(
                f"unknown switch {switch!r} of Rules: known are {', '.join(sorted(known))}"
            )


def _parse_value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    return int(text) if text.isdecimal() else text


def _whole_preset(name: str) -> dict[str, Any]:
    return dataclasses.asdict(Rules.preset(name))


PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "angry_birds": {},
    "classic": {
        "deck": "classic",
        "dealer_draw": "numbers_only",
        "voluntary_draw": "without_match",
        "drawn_card": "forced",
        "wild_draw_four": "no_matching_card",
        "uno_enforcement": "automatic",
        "uno_penalty": 4,
        "action_points": 20,
    },
    "official": {
        "deck": "classic",
        "wild_draw_four": "bluff",
        "king_pig_recipients": "opponents",
        "action_points": 20,
    },
}
"""How each preset differs from the defaults of `Rules`."""
