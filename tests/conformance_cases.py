"""Loading the conformance cases: strictly, so that no case is ever misread or passed over.

The format is described in ``tests/conformance/README.md``. Whatever does not fit it is an error
that names the file, the case and the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from uno_env.game.actions import parse_action
from uno_env.game.cards import CARD_KIND, CARDS, Colour, parse_card, parse_cards
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS, Rules

COLOURS = tuple(colour.name for colour in Colour)
SETUP_KEYS = (
    *("rules", "hands", "discard", "opening", "draw", "colour"),
    *("turn", "direction", "dealer", "scores"),
)
CASE_KEYS = ("id", *SETUP_KEYS, "do", "expect")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One checked case: a table, the actions played on it, and what must hold after them."""

    id: str
    file: Path
    setup: Mapping[str, Any]
    do: tuple[str, ...]
    expect: Mapping[str, Any]


def load_cases(folder: Path) -> list[Case]:
    """All cases of the ``*.yaml`` files of a folder, file by file in the order of their names.

    Raises:
        ValueError: no such folder, no such files, or a file or case that does not fit the format.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder}: not a folder of conformance cases")
    if misnamed := sorted(folder.glob("*.yml")):
        raise ValueError(f"{misnamed[0]}: the name of a file of cases ends in .yaml")
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise ValueError(f"{folder}: no *.yaml files of conformance cases")
    cases: dict[str, Case] = {}
    for file in files:
        for case in load_file(file):
            if case.id in cases:
                raise ValueError(
                    f"{file}, case {case.id!r}, key 'id': already used in {cases[case.id].file}"
                )
            cases[case.id] = case
    return list(cases.values())


def load_file(file: Path) -> list[Case]:
    """The cases of one file.

    Raises:
        ValueError: as for `load_cases`.
    """
    try:
        entries = yaml.load(file.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"{file}: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{file}: a file of cases is a list with at least one case")
    return [_read_case(file, number, entry) for number, entry in enumerate(entries, start=1)]


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML in which a mapping may not give a key twice; PyYAML itself keeps the last one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


class _MisfitError(ValueError):
    """What is wrong with the value of one key."""

    def __init__(self, key: str, reason: object) -> None:
        super().__init__(f"key {key!r}: {reason}")


def _read_case(file: Path, number: int, entry: object) -> Case:
    name = entry.get("id", f"number {number}") if isinstance(entry, dict) else f"number {number}"
    try:
        return _check_case(file, entry)
    except _MisfitError as misfit:
        raise ValueError(f"{file}, case {name!r}, {misfit}") from None


def _check_case(file: Path, entry: object) -> Case:
    if not isinstance(entry, dict):
        raise _MisfitError("id", f"a case is a mapping, not {entry!r}")
    for key in entry:
        if key not in CASE_KEYS:
            raise _MisfitError(str(key), f"unknown; a case may have {', '.join(CASE_KEYS)}")
    if not isinstance(entry.get("id"), str) or not entry["id"]:
        raise _MisfitError("id", "every case has a name of its own")
    setup = {key: entry[key] for key in SETUP_KEYS if key in entry}
    players = _check_hands(setup)
    _check_setup(setup, players)
    do = entry.get("do", [])
    _check("do", do, _actions)
    expect = entry.get("expect")
    if not isinstance(expect, dict) or not expect:
        raise _MisfitError("expect", "a case expects something: a mapping with at least one key")
    _check_expect(expect, players)
    return Case(id=entry["id"], file=file, setup=setup, do=tuple(do), expect=expect)


# --- What a value must be: functions that raise ValueError with the reason -----------------------

Check = Callable[[Any], object]


def _check(key: str, value: object, check: Check) -> None:
    try:
        check(value)
    except ValueError as error:
        raise _MisfitError(key, error) from None


def _whole_number(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a whole number from 0")


def _flag(value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is not true or false")


def _direction(value: object) -> None:
    if isinstance(value, bool) or value not in (1, -1):
        raise ValueError(f"{value!r} is not 1 or -1")


def _colour(value: object) -> None:
    if value not in COLOURS:
        raise ValueError(f"{value!r} is not one of {', '.join(COLOURS)}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


def _card(value: object) -> None:
    parse_card(_text(value))


def _cards(value: object) -> None:
    parse_cards(_text(value))


def _actions(value: object) -> None:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list of actions")
    for action in value:
        parse_action(_text(action))


def _seat(players: int) -> Check:
    def check(value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < players:
            raise ValueError(f"{value!r} is not a seat from 0 to {players - 1}")

    return check


def _list_of(each: Check, length: int | None = None) -> Check:
    def check(value: object) -> None:
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is not a list")
        if length is not None and len(value) != length:
            raise ValueError(f"{value!r} has {len(value)} entries for {length} seats")
        for entry in value:
            each(entry)

    return check


def _by_seat(each: Check, players: int) -> Check:
    def check(value: object) -> None:
        if not isinstance(value, dict) or not value:
            raise ValueError(f"{value!r} is not a mapping from seats")
        for seat, entry in value.items():
            _seat(players)(seat)
            each(entry)

    return check


def _or_none(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


# --- The table -----------------------------------------------------------------------------------


def _check_hands(setup: Mapping[str, Any]) -> int:
    """Checks `hands` and returns how many players there are."""
    hands = setup.get("hands")
    if not isinstance(hands, list) or not MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
        raise _MisfitError(
            "hands", f"needed is a list of {MIN_PLAYERS} to {MAX_PLAYERS} strings, one per seat"
        )
    for hand in hands:
        _check("hands", hand, _cards)
        if not hand.split():
            raise _MisfitError("hands", "a hand is empty, so the round would be over")
    return len(hands)


def _check_setup(setup: Mapping[str, Any], players: int) -> None:
    checks: dict[str, Check] = {
        "discard": _cards,
        "opening": _card,
        "draw": _cards,
        "colour": _colour,
        "turn": _seat(players),
        "direction": _direction,
        "dealer": _seat(players),
        "scores": _list_of(_whole_number, players),
    }
    for key, check in checks.items():
        if key in setup:
            _check(key, setup[key], check)
    if "opening" in setup:
        for key in ("discard", "colour", "turn", "direction"):
            if key in setup:
                raise _MisfitError(key, "follows from the opening card and is not given with it")
    elif not setup.get("discard", "").split():
        raise _MisfitError("discard", "needed is a discard pile or an opening card")
    else:
        _check_active_colour(setup["discard"].split()[-1], setup.get("colour"))
    _check_copies(setup, _rules(setup, players))


def _check_active_colour(top: str, named: str | None) -> None:
    printed = top[0] if top[0] in COLOURS else None
    if printed is None and named is None:
        raise _MisfitError("colour", f"needed with a {top} on top")
    if printed is not None and named not in (None, printed):
        raise _MisfitError("colour", f"{named} is not the colour of the {top} on top")


def _rules(setup: Mapping[str, Any], players: int) -> Rules:
    rules = setup.get("rules", "angry_birds")
    if isinstance(rules, str):
        if rules not in PRESETS:
            raise _MisfitError("rules", f"unknown preset {rules!r}: known are {', '.join(PRESETS)}")
    elif not isinstance(rules, dict):
        raise _MisfitError(
            "rules", f"{rules!r} is neither a preset's name nor a mapping of switches"
        )
    elif rules.get("num_players", players) != players:
        raise _MisfitError(
            "rules", f"num_players={rules['num_players']}, but there are {players} hands"
        )
    try:
        return Rules.make(rules, num_players=players)
    except (ValueError, TypeError) as error:
        raise _MisfitError("rules", error) from None


def _check_copies(setup: Mapping[str, Any], rules: Rules) -> None:
    deck = Counter(CARDS[kind] for kind in CARD_KIND[: rules.deck_size])
    used: Counter[str] = Counter()
    piles = [(key, setup[key]) for key in ("discard", "opening", "draw") if key in setup]
    for key, cards in [*(("hands", hand) for hand in setup["hands"]), *piles]:
        used.update(cards.split())
        for card in cards.split():
            if used[card] > deck[card]:
                raise _MisfitError(
                    key, f"one {card} too many: the deck {rules.deck} has {deck[card]} of it"
                )


# --- What is expected ----------------------------------------------------------------------------


def _check_expect(expect: Mapping[Any, Any], players: int) -> None:
    checks: dict[str, Check] = {
        "turn": _seat(players),
        "direction": _direction,
        "colour": _colour,
        "top": _card,
        "hands": _by_seat(_cards, players),
        "legal": _actions,
        "legal_has": _actions,
        "legal_lacks": _actions,
        "legal_of": _by_seat(_actions, players),
        "illegal": _actions,
        "draw": _cards,
        "draw_count": _whole_number,
        "discard_count": _whole_number,
        "over": _flag,
        "winner": _or_none(_seat(players)),
        "points": _list_of(_whole_number, players),
        "scores": _list_of(_whole_number, players),
        "game_over": _flag,
        "game_winners": _list_of(_seat(players)),
    }
    for key, value in expect.items():
        if key not in checks:
            raise _MisfitError(f"expect.{key}", f"unknown; expected may be {', '.join(checks)}")
        _check(f"expect.{key}", value, checks[key])
