"""Loading the conformance cases: each by itself, so that one misfit neither stops nor hides others.

The format is described in ``tests/conformance/README.md``. Whatever it allows is brought into one
form. What does not fit it, such as an unknown key or a table that contradicts itself, becomes a
`Misfit` that names the file, the case and the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from reference import ReferenceGame

from uno_env.game.actions import parse_action
from uno_env.game.cards import CARD_KIND, CARDS, Colour, parse_card, parse_cards
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS, Rules

COLOURS = tuple(colour.name for colour in Colour)
SETUP_KEYS = (
    *("rules", "hands", "discard", "opening", "draw", "colour"),
    *("turn", "direction", "dealer", "scores"),
)
CASE_KEYS = ("id", *SETUP_KEYS, "do", "expect")
FROM_OPENING = ("turn", "direction", "colour")
"""Keys that follow from an opening card."""
SEEDS = range(3)
"""A case holds however the discards are reshuffled."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case: a table, the actions played on it, and what must hold after them."""

    id: str
    file: Path
    setup: Mapping[str, Any]
    do: tuple[str, ...]
    expect: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """A file or case that does not fit the format."""

    id: str
    """The case's own name, or ``file:number``."""
    reason: str


def load_cases(path: Path) -> list[Case | Misfit]:
    """All cases of a file, or of the YAML files of a folder in the order of their names."""
    files = [path] if path.is_file() else _yaml_files(path)
    if not files:
        what = "no *.yaml files of conformance cases" if path.is_dir() else "no such file or folder"
        return [Misfit(id=path.name, reason=f"{path}: {what}")]
    loaded: dict[str, Case | Misfit] = {}
    homes: dict[str, Path] = {}
    for file in files:
        for number, entry in enumerate(load_file(file), start=1):
            name, unnamed = entry.id, f"{file.name}:{number}"
            if name in loaded:
                name = next(_free_names(unnamed, loaded))
                if isinstance(entry, Case):
                    reason = _reason(file, entry.id, "id", f"already used in {homes[entry.id]}")
                    entry = Misfit(id=name, reason=reason)
            loaded[name] = entry
            homes[name] = file
    return list(loaded.values())


def load_file(file: Path) -> list[Case | Misfit]:
    """The cases of one file."""
    try:
        root = yaml.compose(file.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OSError) as error:
        return [Misfit(id=file.name, reason=f"{file}: {error}")]
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        reason = f"{file}: a file of cases is a list with at least one case"
        return [Misfit(id=file.name, reason=reason)]
    # Looked for first: making values of nodes merges the mappings that `<<` refers to into others.
    twice = [_key_given_twice(node, set()) for node in root.value]
    return [
        _read_case(file, number, node, again)
        for number, (node, again) in enumerate(zip(root.value, twice, strict=True), start=1)
    ]


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(file for end in ("yaml", "yml") for file in folder.rglob(f"*.{end}"))


def _free_names(name: str, taken: Mapping[str, object]) -> Iterator[str]:
    while name in taken:
        name += "'"
    yield name


def _reason(file: Path, name: str, key: str, reason: object) -> str:
    return f"{file}, case {name!r}, key {key!r}: {reason}"


def _key_given_twice(node: yaml.Node, walked: set[int]) -> str | None:
    """A key that some mapping in the node gives twice; of those PyYAML would take the last."""
    if id(node) in walked or isinstance(node, yaml.ScalarNode):
        return None
    walked.add(id(node))
    inner: list[yaml.Node] = node.value
    if isinstance(node, yaml.MappingNode):
        keys = Counter((key.tag, str(key.value)) for key, _ in node.value)
        for (_, key), number in keys.items():
            if number > 1:
                return key
        inner = [value for _, value in node.value]
    return next(filter(None, (_key_given_twice(value, walked) for value in inner)), None)


class _MisfitError(ValueError):
    """What is wrong with the value of one key."""

    def __init__(self, key: str, reason: object) -> None:
        super().__init__(reason)
        self.key = key
        self.reason = reason


def _read_case(file: Path, number: int, node: yaml.Node, given_twice: str | None) -> Case | Misfit:
    name = f"{file.name}:{number}"
    try:
        entry = yaml.SafeLoader("").construct_document(node)
        if not isinstance(entry, dict):
            raise _MisfitError("id", f"a case is a mapping, not {entry!r}")
        name = _name(entry)
        if given_twice is not None:
            raise _MisfitError(given_twice, "given twice in one mapping")
        return _make_case(file, name, entry)
    except _MisfitError as misfit:
        return Misfit(id=name, reason=_reason(file, name, misfit.key, misfit.reason))
    except (yaml.YAMLError, ValueError) as error:
        return Misfit(id=name, reason=f"{file}, case {name!r}: {error}")


def _name(entry: Mapping[Any, Any]) -> str:
    name = entry.get("id")
    if name in (None, "") or isinstance(name, (list, dict)):
        raise _MisfitError("id", "every case has a name of its own")
    return str(name)


def _make_case(file: Path, name: str, entry: Mapping[Any, Any]) -> Case:
    for key in entry:
        if key not in CASE_KEYS:
            raise _MisfitError(str(key), f"unknown; a case may have {', '.join(CASE_KEYS)}")
    given = {key: value for key, value in entry.items() if value is not None}
    setup = {key: given[key] for key in SETUP_KEYS if key in given}
    players = _read_hands(setup)
    _read_rules(setup, players)
    _read_setup(setup, players)
    do = _read("do", given.get("do", []), _actions)
    expect = _read_expect(given.get("expect", {}), players)
    if "opening" in setup:
        _compare_with_opening(setup)
    return Case(id=name, file=file, setup=setup, do=do, expect=expect)


# --- What a value must be: functions that give it in one form, or a ValueError with the reason ----

Read = Callable[[Any], Any]


def _read(key: str, value: object, read: Read) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise _MisfitError(key, error) from None


def _whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a whole number from 0")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is not true or false")
    return value


def _direction(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in (1, -1):
        raise ValueError(f"{value!r} is not 1 or -1")
    return value


def _colour(value: object) -> str:
    if not isinstance(value, str) or value not in COLOURS:
        raise ValueError(f"{value!r} is not one of {', '.join(COLOURS)}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


def _card(value: object) -> str:
    text = _text(value).strip()
    parse_card(text)
    return text


def _cards(value: object) -> str:
    """Cards with spaces between, also from a list."""
    text = " ".join(map(_text, value)) if isinstance(value, list) else _text(value)
    parse_cards(text)
    return " ".join(text.split())


def _actions(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list of actions")
    for action in value:
        parse_action(_text(action))
    return tuple(value)


def _seat(players: int) -> Read:
    def read(value: object) -> int:
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < players:
            raise ValueError(f"{value!r} is not a seat from 0 to {players - 1}")
        return value

    return read


def _list_of(each: Read, length: int | None = None) -> Read:
    def read(value: object) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is not a list")
        if length is not None and len(value) != length:
            raise ValueError(f"{value!r} has {len(value)} entries for {length} seats")
        return [each(entry) for entry in value]

    return read


def _by_seat(each: Read, players: int) -> Read:
    def read(value: object) -> dict[int, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"{value!r} is not a mapping from seats")
        by_seat = {_seat(players)(seat): each(entry) for seat, entry in value.items()}
        if len(by_seat) < len(value):
            raise ValueError(f"{value!r} has a seat twice")
        return by_seat

    return read


def _or_none(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


# --- The table -----------------------------------------------------------------------------------


def _read_hands(setup: dict[str, Any]) -> int:
    """Reads `hands` and returns how many players there are."""
    hands = setup.get("hands")
    if not isinstance(hands, list) or not MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
        raise _MisfitError(
            "hands", f"needed is a list of {MIN_PLAYERS} to {MAX_PLAYERS} strings, one per seat"
        )
    setup["hands"] = [_read("hands", hand, _cards) for hand in hands]
    if not all(setup["hands"]):
        raise _MisfitError("hands", "a hand is empty, so the round would be over")
    return len(hands)


def _read_setup(setup: dict[str, Any], players: int) -> None:
    reads: dict[str, Read] = {
        "discard": _cards,
        "opening": _card,
        "draw": _cards,
        "colour": _colour,
        "turn": _seat(players),
        "direction": _direction,
        "dealer": _seat(players),
        "scores": _list_of(_whole_number, players),
    }
    for key, read in reads.items():
        if key in setup:
            setup[key] = _read(key, setup[key], read)
    if not setup.get("discard"):
        setup.pop("discard", None)
    if ("discard" in setup) == ("opening" in setup):
        raise _MisfitError("discard", "needed is either a discard pile or an opening card")
    if "discard" in setup:
        _check_active_colour(setup["discard"].split()[-1], setup.get("colour"))
    _check_copies(setup, players)


def _check_active_colour(top: str, named: str | None) -> None:
    printed = top[0] if top[0] in COLOURS else None
    if printed is None and named is None:
        raise _MisfitError("colour", f"needed with a {top} on top")
    if printed is not None and named not in (None, printed):
        raise _MisfitError("colour", f"{named} is not the colour of the {top} on top")


def _read_rules(setup: dict[str, Any], players: int) -> None:
    rules = setup.get("rules", "angry_birds")
    if isinstance(rules, str):
        if rules not in PRESETS:
            raise _MisfitError("rules", f"unknown preset {rules!r}: known are {', '.join(PRESETS)}")
        return
    if not isinstance(rules, dict):
        raise _MisfitError(
            "rules", f"{rules!r} is neither a preset's name nor a mapping of switches"
        )
    switches = {key: value for key, value in rules.items() if value is not None}
    if switches.get("num_players", players) != players:
        raise _MisfitError(
            "rules", f"num_players={switches['num_players']}, but there are {players} hands"
        )
    setup["rules"] = switches
    try:
        Rules.make(switches, num_players=players)
    except (ValueError, TypeError) as error:
        raise _MisfitError("rules", error) from None


def _check_copies(setup: Mapping[str, Any], players: int) -> None:
    rules = setup.get("rules", "angry_birds")
    named = {"preset": rules} if isinstance(rules, str) else rules
    deck_switches = {key: named[key] for key in ("preset", "deck") if key in named}
    table = Rules.make(deck_switches, num_players=players)
    deck = Counter(CARDS[kind] for kind in CARD_KIND[: table.deck_size])
    used: Counter[str] = Counter()
    piles = [(key, setup[key]) for key in ("discard", "opening", "draw") if key in setup]
    for key, cards in [*(("hands", hand) for hand in setup["hands"]), *piles]:
        used.update(cards.split())
        for card in cards.split():
            if used[card] > deck[card]:
                raise _MisfitError(
                    key, f"one {card} too many: the deck {table.deck} has {deck[card]} of it"
                )


def _compare_with_opening(setup: dict[str, Any]) -> None:
    """Takes away what follows from the opening card, if it is what follows from it."""
    said = {key: setup.pop(key) for key in FROM_OPENING if key in setup}
    if not said:
        return
    for seed in SEEDS:
        table = _read("opening", seed, lambda seed: _begin(setup, seed))
        for key, value in said.items():
            if table[key] != value:
                raise _MisfitError(
                    key, f"{value}, but the opening card {setup['opening']} makes it {table[key]}"
                )


def _begin(case: Mapping[str, Any], seed: int) -> dict[str, Any]:
    return ReferenceGame.from_case(case, seed=seed).snapshot()


# --- What is expected ----------------------------------------------------------------------------


def _read_expect(expect: object, players: int) -> dict[str, Any]:
    reads: dict[str, Read] = {
        "turn": _seat(players),
        "direction": _direction,
        "colour": _or_none(_colour),
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
    if not isinstance(expect, dict):
        raise _MisfitError("expect", f"{expect!r} is not a mapping of what must hold")
    for key in expect:
        if key not in reads:
            raise _MisfitError(f"expect.{key}", f"unknown; expected may be {', '.join(reads)}")
    return {key: _read(f"expect.{key}", value, reads[key]) for key, value in expect.items()}
