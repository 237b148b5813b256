"""The conformance cases on the core and on the reference engine, and what the loader takes.

``pytest tests/test_conformance.py --cases PATH`` runs the cases of another folder, or of one file.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from conformance_cases import SEEDS, Case, Misfit, load_cases
from numpy.typing import NDArray
from reference import ReferenceGame

from uno_env import ACTIONS, GameBatch, Position
from uno_env.game.engine import FEW_TO_STEP

FOLDER = Path(__file__).parent / "conformance"
cases_in = functools.cache(load_cases)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    given = metafunc.config.getoption("--cases")
    folder = FOLDER if given is None else metafunc.config.invocation_params.dir / given
    if "entry" in metafunc.fixturenames:
        metafunc.parametrize("entry", cases_in(folder), ids=lambda entry: entry.id)
    if "case" in metafunc.fixturenames:
        cases = [entry for entry in cases_in(folder) if isinstance(entry, Case)]
        metafunc.parametrize("case", cases, ids=lambda case: case.id)


# --- Tables: the two engines seen alike ----------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What lies open to a case's expectations."""

    turn: int
    direction: int
    colour: str | None
    top: str
    hands: tuple[tuple[str, ...], ...]
    legal: frozenset[str]
    draw: tuple[str, ...]
    discard_count: int
    over: bool
    winner: int | None
    points: tuple[int, ...]
    scores: tuple[int, ...]
    game_over: bool
    game_winners: tuple[int, ...]


class Table(Protocol):
    def look(self) -> Seen: ...
    def play(self, action: str) -> None: ...
    def assert_refuses(self, action: str) -> None: ...


class CoreTable:
    """The last game of a batch of such tables."""

    def __init__(self, case: Case, seed: int, *, games: int = 1) -> None:
        position = Position.from_case(case.setup)
        self.batch = GameBatch(position.rules, games, seed=seed)
        self.game = games - 1
        for game in range(games):
            self.batch.load(game, position)

    def look(self) -> Seen:
        position = self.batch.position(self.game)
        assert position.turn == self.batch.player[self.game]
        return Seen(
            turn=position.turn,
            direction=position.direction,
            colour=position.colour,
            top=position.discard[-1],
            hands=position.hands,
            legal=frozenset(
                ACTIONS[action] for action in np.flatnonzero(self.batch.legal[self.game])
            ),
            draw=position.draw,
            discard_count=len(position.discard),
            over=position.over,
            winner=position.winner,
            points=position.points,
            scores=position.scores,
            game_over=position.game_over,
            game_winners=position.game_winners,
        )

    def play(self, action: str) -> None:
        self.batch.step(self.batch.check(self._by_all(ACTIONS.index(action))))

    def _by_all(self, action: int) -> NDArray[np.intp]:
        return np.full(self.batch.num_games, action)

    def assert_refuses(self, action: str) -> None:
        number = ACTIONS.index(action)
        before = self.batch.position(self.game)
        assert not self.batch.legal[self.game, number]
        reason = self.batch.why_illegal(self.game, number)
        assert reason
        with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the text is compared below
            self.batch.check(self._by_all(number))
        assert reason in str(refusal.value) or self.batch.done[self.game]
        assert self.batch.position(self.game) == before


class ReferenceTable:
    """A game of the reference engine."""

    def __init__(self, case: Case, seed: int) -> None:
        self.game = ReferenceGame.from_case(case.setup, seed=seed)

    def look(self) -> Seen:
        table = self.game.snapshot()
        shared = Seen.__dataclass_fields__.keys() & table.keys()
        return Seen(
            **{key: table[key] for key in shared},
            legal=frozenset(self.game.legal),
            top=table["discard"][-1],
            discard_count=len(table["discard"]),
        )

    def play(self, action: str) -> None:
        self.game.step(action)

    def assert_refuses(self, action: str) -> None:
        before = self.game.snapshot()
        with pytest.raises(ValueError, match="not legal"):
            self.game.step(action)
        assert self.game.snapshot() == before


# --- Running a case ------------------------------------------------------------------------------


def compared(key: str, wanted: Any, seen: Seen) -> tuple[Any, Any]:
    """One expectation and what is seen of it, in a form in which equal means fulfilled."""
    match key:
        case "hands":
            held = {seat: sorted(seen.hands[seat]) for seat in wanted}
            return {seat: sorted(cards.split()) for seat, cards in wanted.items()}, held
        case "legal":
            return set(wanted), set(seen.legal)
        case "legal_has":
            return set(wanted), set(wanted) & seen.legal
        case "legal_lacks" | "illegal":
            return set(), set(wanted) & seen.legal
        case "legal_of":
            may = {seat: set(seen.legal) if seat == seen.turn else set() for seat in wanted}
            return {seat: set(actions) for seat, actions in wanted.items()}, may
        case "draw":
            return wanted.split(), list(seen.draw)
        case "draw_count":
            return wanted, len(seen.draw)
        case "points" | "scores":
            return tuple(wanted), getattr(seen, key)
        case "game_winners":
            return set(wanted), set(seen.game_winners)
        case _:
            return wanted, getattr(seen, key)


def differences(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    for key, wanted in expect.items():
        want, have = compared(key, wanted, seen)
        if want != have:
            yield f"{key}: expected {want}, seen {have}"


def run(case: Case, table: Table) -> None:
    for step, action in enumerate(case.do, start=1):
        seen = table.look()
        assert action in seen.legal, (
            f"{case.id}, step {step}: {action} is not legal for seat {seen.turn}, who may "
            f"{', '.join(sorted(seen.legal)) or 'do nothing'}"
        )
        table.play(action)
    wrong = list(differences(case.expect, table.look()))
    assert not wrong, "\n".join([case.id, *wrong])
    for action in case.expect.get("illegal", ()):
        table.assert_refuses(action)


def test_core(entry: Case | Misfit) -> None:
    if isinstance(entry, Misfit):
        pytest.fail(entry.reason, pytrace=False)
    for seed in SEEDS:
        run(entry, CoreTable(entry, seed))


def test_core_among_many(case: Case) -> None:
    """Too many games to be stepped one by one: the core steps them as arrays."""
    run(case, CoreTable(case, 0, games=FEW_TO_STEP + 1))


def test_reference(case: Case) -> None:
    for seed in SEEDS:
        run(case, ReferenceTable(case, seed))


# --- The runner notices --------------------------------------------------------------------------

DRAW_TWO = {"hands": ["R+2 G1 G2", "G3 G4", "Y1 W"], "discard": "R7", "draw": "R1 R2 R3"}
BLOCKED = {"hands": ["G1 G2", "B3 B4"], "discard": "R7"}
OPENING = {"hands": ["G1 G2", "B3 B4"], "opening": "W", "draw": "R1"}
TIE = {
    "rules": {"scoring": "lowest"},
    "hands": ["R5", "G9", "G3"],
    "discard": "R7",
    "scores": [120, 495, 117],
}
LAST_CARD = {"hands": ["R5", "W"], "discard": "R7", "draw": "B1", "scores": [450, 0]}


def make_case(setup: Mapping[str, Any], do: tuple[str, ...], expect: Mapping[str, Any]) -> Case:
    return Case(id="example", file=Path("example.yaml"), setup=setup, do=do, expect=expect)


def both_tables(case: Case) -> list[Table]:
    return [CoreTable(case, 0), ReferenceTable(case, 0)]


@pytest.mark.parametrize(
    ("setup", "do", "key", "right", "wrong"),
    [
        (DRAW_TWO, "R+2", "turn", 2, 1),
        (DRAW_TWO, "R+2", "direction", 1, -1),
        (DRAW_TWO, "R+2", "colour", "R", "G"),
        (DRAW_TWO, "R+2", "top", "R+2", "R7"),
        (DRAW_TWO, "R+2", "hands", {1: "R2 G4 G3 R1"}, {1: "G3 G4 R1"}),
        (DRAW_TWO, "R+2", "hands", {0: "G1 G2"}, {0: "G1 G2 G2"}),
        (DRAW_TWO, "R+2", "legal", ["uno", "draw", "W:R", "W:Y", "W:G", "W:B"], ["uno", "draw"]),
        (DRAW_TWO, "R+2", "legal_has", ["uno"], ["uno", "keep"]),
        (DRAW_TWO, "R+2", "legal_lacks", ["keep"], ["keep", "uno"]),
        (DRAW_TWO, "R+2", "legal_of", {1: []}, {1: ["draw"]}),
        (DRAW_TWO, "R+2", "legal_of", {0: [], 1: []}, {0: [], 2: []}),
        (DRAW_TWO, "R+2", "illegal", ["Y1"], ["Y1", "W:R"]),
        (DRAW_TWO, "R+2", "draw", "R3", "R2"),
        (DRAW_TWO, "R+2", "draw_count", 1, 3),
        (DRAW_TWO, "R+2", "discard_count", 2, 1),
        (DRAW_TWO, "R+2", "over", False, True),
        (LAST_CARD, "R5", "over", True, False),
        (LAST_CARD, "R5", "winner", 0, None),
        (LAST_CARD, "R5", "points", [50, 0], [0, 50]),
        (LAST_CARD, "R5", "scores", [500, 0], [450, 0]),
        (LAST_CARD, "R5", "game_over", True, False),
        (LAST_CARD, "R5", "game_winners", [0], [0, 1]),
        (LAST_CARD, "R5", "legal", [], ["uno"]),
        (LAST_CARD, "R5", "illegal", ["uno", "W:R", "draw", "swap:1"], None),
        (BLOCKED, "", "winner", None, 0),
        (BLOCKED, "", "illegal", ["G1", "draw", "keep"], None),
        (OPENING, "", "colour", None, "R"),
        (OPENING, "colour:B", "colour", "B", None),
        (TIE, "R5", "game_winners", [2, 0], [0]),
    ],
)
def test_runner_tells_right_from_wrong(
    setup: Mapping[str, Any], do: str, key: str, right: Any, wrong: Any
) -> None:
    actions = tuple(do.split())
    good, bad = (make_case(setup, actions, {key: value}) for value in (right, wrong))
    for table in both_tables(good):
        run(good, table)
    if key == "illegal" and wrong is None:  # with the round over there is nothing legal
        return
    for table in both_tables(bad):
        with pytest.raises(AssertionError, match=key):
            run(bad, table)


def test_runner_names_the_step_that_is_not_legal() -> None:
    case = make_case(DRAW_TWO, ("R+2", "uno", "keep"), {"turn": 2})
    for table in both_tables(case):
        with pytest.raises(AssertionError, match="step 3: keep is not legal for seat 2"):
            run(case, table)


# --- What the loader takes -----------------------------------------------------------------------

GOOD = """
- id: good
  rules: {preset: classic, uno_penalty: 2}
  hands: ["R1 R2", "W"]
  discard: "B1 R7"
  draw: "R3"
  scores: [0, 10]
  do: [uno, R1]
  expect: {turn: 1, hands: {0: "R2"}, legal_of: {0: []}}
"""
SETUP = {
    "rules": {"preset": "classic", "uno_penalty": 2},
    "hands": ["R1 R2", "W"],
    "discard": "B1 R7",
    "draw": "R3",
    "scores": [0, 10],
}
EXPECT = {"turn": 1, "hands": {0: "R2"}, "legal_of": {0: ()}}


def load_text(folder: Path, text: str, name: str = "some.yaml") -> list[Case | Misfit]:
    (folder / name).write_text(text)
    return load_cases(folder)


def load_one(folder: Path, text: str) -> Case:
    (case,) = load_text(folder, text)
    assert isinstance(case, Case), case.reason
    for table in both_tables(case):
        run(case, table)
    return case


def replaced(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_loader_reads_a_good_case(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(GOOD)
    (tmp_path / "a.yml").write_text(GOOD.replace("good", "first"))
    first, case = load_cases(tmp_path)
    assert (first.id, case.id) == ("first", "good")
    assert isinstance(case, Case)
    assert case.file == tmp_path / "b.yaml"
    assert case.do == ("uno", "R1")
    assert (case.setup, case.expect) == (SETUP, EXPECT)
    assert load_cases(tmp_path / "b.yaml") == [case]


@pytest.mark.parametrize(
    ("old", "new", "setup", "expect"),
    [
        ("id: good", "id: good\n  turn: null\n  direction:\n  dealer: ~", {}, {}),
        ("id: good", "id: good\n  colour: null\n  opening: null", {}, {}),
        ("uno_penalty: 2", "uno_penalty: 2, target: null", {}, {}),
        ('draw: "R3"', "draw: [R3, R4 G1]", {"draw": "R3 R4 G1"}, {}),
        ('discard: "B1 R7"', "discard: [B1, R7]", {}, {}),
        ('"R1 R2"', "[R1, R2]", {}, {}),
        ('{0: "R2"}', "{0: [R2]}", {}, {}),
        ('{0: "R2"}', '{"0": "R2"}', {}, {}),
        ("{0: []}", '{"0": []}', {}, {}),
        ('{0: "R2"}', "{}", {}, {"hands": {}}),
        ("{0: []}", "{}", {}, {"legal_of": {}}),
        ("turn: 1", "draw: [R3]", {}, {"draw": "R3", "turn": None}),
    ],
)
def test_loader_brings_a_case_into_one_form(
    tmp_path: Path, old: str, new: str, setup: dict[str, Any], expect: dict[str, Any]
) -> None:
    case = load_one(tmp_path, replaced(old, new))
    wanted = {key: value for key, value in {**EXPECT, **expect}.items() if value is not None}
    assert (case.setup, case.expect) == ({**SETUP, **setup}, wanted)


@pytest.mark.parametrize(
    ("given", "follows"),
    [
        ("opening: R7", "turn: 0, direction: 1, colour: R"),
        ("opening: RS", "turn: 1, direction: 1, colour: R"),
        ("opening: R+2", "turn: 1, direction: 1, colour: R"),
        ("opening: GR, dealer: 0", "turn: 0, direction: -1, colour: G"),
        ("opening: W, discard: null", "turn: 0, direction: 1, colour: null"),
        ('opening: KP, discard: ""', "turn: 0, direction: 1"),
        ("opening: W+4", "turn: 0, colour: B"),
        ("opening: R7, rules: {stacking: true}", "turn: 0, colour: R"),
    ],
)
def test_what_follows_from_an_opening_card_may_be_said(
    tmp_path: Path, given: str, follows: str
) -> None:
    text = f"- {{id: some, hands: [G1 G2, Y3 B4], draw: B7, {given}, {follows}}}".replace(
        "draw: B7", "draw: B7" if "W+4" in given else "draw: B7 B8 B9"
    )
    (case,) = load_text(tmp_path, text)
    assert isinstance(case, Case), case.reason
    assert not {"turn", "direction", "colour", "discard"} & case.setup.keys()
    for table in both_tables(case):
        run(case, table)


@pytest.mark.parametrize("expect", ["", "  expect: {}\n", "  expect: null\n"])
def test_a_case_without_expectations_is_played(tmp_path: Path, expect: str) -> None:
    start = GOOD[: GOOD.index("  expect")]
    assert load_one(tmp_path, start + expect).expect == {}
    (wrong,) = load_text(tmp_path, start.replace("[uno, R1]", "[R1, keep]") + expect)
    assert isinstance(wrong, Case)
    for table in both_tables(wrong):
        with pytest.raises(AssertionError, match="step 2: keep is not legal"):
            run(wrong, table)


@pytest.mark.parametrize(("written", "name"), [("7", "7"), ("1.5", "1.5"), ("true", "True")])
def test_any_scalar_is_a_name(tmp_path: Path, written: str, name: str) -> None:
    assert load_one(tmp_path, replaced("id: good", f"id: {written}")).id == name


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    text = GOOD.replace("- id", "- &base\n  id").replace("expect: {", "expect: &held {")
    text += """
- <<: *base
  id: other
  expect:
    <<: *held
    draw_count: 1
- {<<: *base, id: third, expect: *held}
"""
    cases = load_text(tmp_path, text)
    assert [case.id for case in cases] == ["good", "other", "third"]
    for case, more in zip(cases, ({}, {"draw_count": 1}, {}), strict=True):
        assert isinstance(case, Case), case.reason
        assert (case.setup, case.expect) == (SETUP, {**EXPECT, **more})


# --- What the loader refuses ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("draw:", "deck:", "deck"),
        ("turn: 1", "player: 1", "expect.player"),
        ("id: good", "dealer: 0", "id"),
        ("W", "W+2", "hands"),
        ("R3", "R10", "draw"),
        ("B1 R7", "B1, R7", "discard"),
        ('"R3"', "3", "draw"),
        ('["R1 R2", "W"]', '["R1 R2"]', "hands"),
        ('["R1 R2", "W"]', '["R1 R2", ""]', "hands"),
        ('["R1 R2", "W"]', '"R1 R2"', "hands"),
        ("hands: [", "opening: [", "hands"),
        ('discard: "B1 R7"', "dealer: 0", "discard"),
        ('discard: "B1 R7"', 'discard: ""', "discard"),
        ('draw: "R3"', 'opening: "R3"', "discard"),
        ('discard: "B1 R7"', 'opening: "R7 R8"', "opening"),
        ('discard: "B1 R7"', 'discard: "B1 W"', "colour"),
        ('draw: "R3"', "colour: B", "colour"),
        ('draw: "R3"', "colour: red", "colour"),
        ('draw: "R3"', "turn: 2", "turn"),
        ('draw: "R3"', "direction: 0", "direction"),
        ('draw: "R3"', "dealer: -1", "dealer"),
        ('discard: "B1 R7"', 'opening: "R7"\n  turn: 1', "turn"),
        ('discard: "B1 R7"', 'opening: "R7"\n  direction: -1', "direction"),
        ('discard: "B1 R7"', 'opening: "R7"\n  colour: G', "colour"),
        ('discard: "B1 R7"', 'opening: "W"\n  colour: G', "colour"),
        ('discard: "B1 R7"', 'opening: "RR"\n  direction: 1', "direction"),
        ('discard: "B1 R7"', 'opening: "R+2"\n  turn: 0', "turn"),
        ('draw: "R3"', "draw: [R3, 4]", "draw"),
        ("id: good", "id: null", "id"),
        ("id: good", "id: [good]", "id"),
        ("[0, 10]", "[0]", "scores"),
        ("[0, 10]", "[0, -1]", "scores"),
        ("do: [uno, R1]", "do: [uno, R11]", "do"),
        ("do: [uno, R1]", "do: [uno, W]", "do"),
        ("do: [uno, R1]", "do: uno", "do"),
        ("preset: classic", "preset: mattel", "rules"),
        ("uno_penalty: 2", "uno_penalty: 11", "rules"),
        ("uno_penalty: 2", "penalty: 2", "rules"),
        ("uno_penalty: 2", "num_players: 3", "rules"),
        ("{preset: classic, uno_penalty: 2}", "mattel", "rules"),
        ("{preset: classic, uno_penalty: 2}", "[classic]", "rules"),
        ('draw: "R3"', 'draw: "R1 R1"', "draw"),
        ('draw: "R3"', 'draw: "B0 B0"', "draw"),
        ('draw: "R3"', 'draw: "KP"', "draw"),
        ('"W"', '"W W W W W"', "hands"),
        ("expect: {", "expect: [1]  # {", "expect"),
        ("turn: 1", "turn: 2", "expect.turn"),
        ("turn: 1", "turn: null", "expect.turn"),
        ("uno_penalty: 2", "stacking: 1", "rules"),
        ("uno_penalty: 2", "stack: true", "rules"),
        ("turn: 1", "turn: one", "expect.turn"),
        ("turn: 1", "turn: true", "expect.turn"),
        ("turn: 1", "direction: left", "expect.direction"),
        ("turn: 1", "colour: K", "expect.colour"),
        ("turn: 1", "top: W:R", "expect.top"),
        ("turn: 1", "legal: [W]", "expect.legal"),
        ("turn: 1", "legal: draw", "expect.legal"),
        ("turn: 1", "legal_has: [pass]", "expect.legal_has"),
        ("turn: 1", "legal_lacks: [pass]", "expect.legal_lacks"),
        ("turn: 1", "illegal: [W]", "expect.illegal"),
        ("turn: 1", "draw_count: -1", "expect.draw_count"),
        ("turn: 1", "discard_count: all", "expect.discard_count"),
        ("turn: 1", "over: 1", "expect.over"),
        ("turn: 1", "winner: 2", "expect.winner"),
        ("turn: 1", "points: [1]", "expect.points"),
        ("turn: 1", "scores: 10", "expect.scores"),
        ("turn: 1", "game_over: never", "expect.game_over"),
        ("turn: 1", "game_winners: 0", "expect.game_winners"),
        ('{0: "R2"}', '{2: "R2"}', "expect.hands"),
        ('{0: "R2"}', '{0: "R22"}', "expect.hands"),
        ('{0: "R2"}', '["R2"]', "expect.hands"),
        ('{0: "R2"}', '{0: "R2", "0": "R2"}', "expect.hands"),
        ('{0: "R2"}', '{zero: "R2"}', "expect.hands"),
        ("{0: []}", "{0: [pass]}", "expect.legal_of"),
    ],
)
def test_loader_names_file_case_and_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    text = replaced(old, new)
    (misfit,) = load_text(tmp_path, text)
    assert isinstance(misfit, Misfit)
    named = "good" if "id: good" in text else "some.yaml:1"
    assert misfit.id == named
    assert f"{tmp_path / 'some.yaml'}, case {named!r}, key {key!r}" in misfit.reason
    with pytest.raises(pytest.fail.Exception, match="key"):
        test_core(misfit)


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("", "some.yaml", "at least one case"),
        ("# nothing yet\n", "some.yaml", "at least one case"),
        ("[]", "some.yaml", "at least one case"),
        ("id: good", "some.yaml", "a list"),
        ("- {id: good", "some.yaml", "some.yaml"),
        ("- just text", "some.yaml:1", "key 'id'"),
        ("- {? [a] : b}", "some.yaml:1", "unhashable"),
        ("- {id: 2000-99-99}", "some.yaml:1", "month"),
        (GOOD + "  dealer: 0\n  dealer: 1\n", "good", "'dealer': given twice"),
        (GOOD.replace('0: "R2"', '0: "R2", 0: "R1"'), "good", "'0': given twice"),
    ],
)
def test_loader_refuses_a_file(tmp_path: Path, text: str, name: str, reason: str) -> None:
    (misfit,) = load_text(tmp_path, text)
    assert isinstance(misfit, Misfit)
    assert misfit.id == name
    assert reason in misfit.reason
    assert str(tmp_path / "some.yaml") in misfit.reason


def test_a_misfit_stops_no_other_case(tmp_path: Path) -> None:
    bad = GOOD.replace("good", "bad").replace("R3", "R33")
    twice = GOOD.replace("good", "twice") + "  do: []\n"
    (tmp_path / "a.yaml").write_text("# nothing")
    (tmp_path / "b.yaml").write_text("- {")
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe\xff")
    entries = load_text(tmp_path, bad + GOOD + twice + GOOD, "d.yaml")
    assert [entry.id for entry in entries] == [
        *("a.yaml", "b.yaml", "c.yaml", "bad", "good", "twice", "d.yaml:4")
    ]
    assert [entry.id for entry in entries if isinstance(entry, Case)] == ["good"]


def test_loader_refuses_an_id_used_in_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    first, second = load_text(tmp_path, GOOD, "b.yaml")
    assert isinstance(first, Case)
    assert isinstance(second, Misfit)
    assert second.id == "b.yaml:1"
    assert f"b.yaml, case 'good', key 'id': already used in {tmp_path / 'a.yaml'}" in second.reason


def test_a_folder_without_cases_is_a_misfit(tmp_path: Path) -> None:
    for folder, reason in ((tmp_path, "no *.yaml files"), (tmp_path / "nowhere", "no such file")):
        (misfit,) = load_cases(folder)
        assert isinstance(misfit, Misfit)
        assert reason in misfit.reason
