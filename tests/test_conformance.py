"""The conformance cases on the core and on the reference engine, and the loader's own errors.

``pytest tests/test_conformance.py --cases PATH`` runs the cases of another folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from conformance_cases import Case, load_cases
from reference import ReferenceGame

from uno_env import ACTIONS, GameBatch, Position

FOLDER = Path(__file__).parent / "conformance"
SEEDS = range(3)
"""A case holds however the discards are reshuffled."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        config = metafunc.config
        given = config.getoption("--cases")
        folder = FOLDER if given is None else config.invocation_params.dir / given
        metafunc.parametrize("case", load_cases(folder), ids=lambda case: case.id)


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
    """A batch of one."""

    def __init__(self, case: Case, seed: int) -> None:
        position = Position.from_case(case.setup)
        self.batch = GameBatch(position.rules, 1, seed=seed)
        self.batch.load(0, position)

    def look(self) -> Seen:
        position = self.batch.position(0)
        assert position.turn == self.batch.player[0]
        return Seen(
            turn=position.turn,
            direction=position.direction,
            colour=position.colour,
            top=position.discard[-1],
            hands=position.hands,
            legal=frozenset(ACTIONS[action] for action in np.flatnonzero(self.batch.legal[0])),
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
        self.batch.step(self.batch.check(np.array([ACTIONS.index(action)])))

    def assert_refuses(self, action: str) -> None:
        number = ACTIONS.index(action)
        before = self.batch.position(0)
        assert not self.batch.legal[0, number]
        reason = self.batch.why_illegal(0, number)
        assert reason
        with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the text is compared below
            self.batch.check(np.array([number]))
        assert reason in str(refusal.value)
        assert self.batch.position(0) == before


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
        case "points" | "scores" | "game_winners":
            return tuple(wanted), getattr(seen, key)
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


def test_core(case: Case) -> None:
    for seed in SEEDS:
        run(case, CoreTable(case, seed))


def test_reference(case: Case) -> None:
    for seed in SEEDS:
        run(case, ReferenceTable(case, seed))


# --- The runner notices --------------------------------------------------------------------------

DRAW_TWO = {"hands": ["R+2 G1 G2", "G3 G4", "Y1 W"], "discard": "R7", "draw": "R1 R2 R3"}
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
    ],
)
def test_runner_tells_right_from_wrong(
    setup: Mapping[str, Any], do: str, key: str, right: Any, wrong: Any
) -> None:
    good, bad = (make_case(setup, (do,), {key: value}) for value in (right, wrong))
    for table in both_tables(good):
        run(good, table)
    for table in both_tables(bad):
        with pytest.raises(AssertionError, match=key):
            run(bad, table)


def test_runner_names_the_step_that_is_not_legal() -> None:
    case = make_case(DRAW_TWO, ("R+2", "uno", "keep"), {"turn": 2})
    for table in both_tables(case):
        with pytest.raises(AssertionError, match="step 3: keep is not legal for seat 2"):
            run(case, table)


# --- The loader refuses --------------------------------------------------------------------------

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


def test_loader_reads_a_good_case(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(GOOD)
    (tmp_path / "a.yaml").write_text(GOOD.replace("good", "first"))
    first, case = load_cases(tmp_path)
    assert (first.id, case.id) == ("first", "good")
    assert case.file == tmp_path / "b.yaml"
    assert case.do == ("uno", "R1")
    assert case.expect == {"turn": 1, "hands": {0: "R2"}, "legal_of": {0: []}}
    assert case.setup == {
        "rules": {"preset": "classic", "uno_penalty": 2},
        "hands": ["R1 R2", "W"],
        "discard": "B1 R7",
        "draw": "R3",
        "scores": [0, 10],
    }
    run(case, CoreTable(case, 0))


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("draw:", "deck:", "deck"),
        ("turn: 1", "player: 1", "expect.player"),
        ("id: good", "dealer: 0", "id"),
        ("id: good", "id: 7", "id"),
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
        ('discard: "B1 R7"', 'opening: "R7"\n  turn: 1', "turn"),
        ('discard: "B1 R7"', 'opening: "R7 R8"', "opening"),
        ('discard: "B1 R7"', 'discard: "B1 W"', "colour"),
        ('draw: "R3"', "colour: B", "colour"),
        ('draw: "R3"', "colour: red", "colour"),
        ('draw: "R3"', "turn: 2", "turn"),
        ('draw: "R3"', "direction: 0", "direction"),
        ('draw: "R3"', "dealer: -1", "dealer"),
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
        ("expect: {", "dealer: 0 #", "expect"),
        ("expect: {", "expect: [1]  # {", "expect"),
        ("turn: 1", "turn: 2", "expect.turn"),
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
        ("turn: 1", "draw: [R3]", "expect.draw"),
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
        ("{0: []}", "{0: [pass]}", "expect.legal_of"),
    ],
)
def test_loader_names_file_case_and_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    assert old in GOOD
    file = tmp_path / "bad.yaml"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"key '{key}'") as error:
        load_cases(tmp_path)
    assert f"{file}, case " in str(error.value)
    if "id: good" in file.read_text():
        assert "case 'good'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "at least one case"),
        ("[]", "at least one case"),
        ("id: good", "a list"),
        ("- just text", "key 'id'"),
        ("- {id: good", "bad.yaml"),
        (GOOD + "  dealer: 0\n  dealer: 1\n", "'dealer' is given twice"),
        (GOOD.replace('0: "R2"', '0: "R2", 0: "R1"'), "0 is given twice"),
        (GOOD + GOOD, "'good', key 'id': already used"),
    ],
)
def test_loader_refuses_a_file(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(ValueError, match=reason) as error:
        load_cases(tmp_path)
    assert str(tmp_path / "bad.yaml") in str(error.value)


def test_loader_refuses_an_id_used_in_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD)
    with pytest.raises(ValueError, match=r"b\.yaml, case 'good', key 'id': already used in .*a\."):
        load_cases(tmp_path)


def test_loader_refuses_a_folder_without_cases(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a folder"):
        load_cases(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"no \*\.yaml files"):
        load_cases(tmp_path)
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "stray.yml").write_text(GOOD)
    with pytest.raises(ValueError, match=r"stray\.yml"):
        load_cases(tmp_path)
