"""Records: written, read and played again, and refused by line where they do not fit."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uno_env
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.game.actions import Action
from uno_env.game.rules import HOUSE_RULES
from uno_env.records import Decision, Record, RecordError, RoundEnd, replay
from uno_env.replay import main


def keen(env: uno_env.raw_env, rng: np.random.Generator) -> int:
    mask = env.infos[env.agent_selection]["action_mask"].astype(float)
    mask[[Action.DRAW, Action.KEEP]] *= 0.01
    mask[[Action.UNO, Action.CATCH]] *= 100
    return int((mask * rng.random(len(mask))).argmax())


def played(rules: Rules | str = "angry_birds", seed: int | None = 7, **options) -> tuple:
    """A record by the environment, and the positions after each of its lines."""
    env = uno_env.env(rules, **options)
    env.reset(seed=seed)
    rng = np.random.default_rng(1)
    tables = [env.position]
    while not any([*env.terminations.values(), *env.truncations.values()]):
        env.step(keen(env, rng))
        tables.append(env.position)
    return env.record, tables


EVERY = Rules.preset("official", num_players=4, **dict.fromkeys(HOUSE_RULES, True))


@pytest.mark.parametrize("rules", ["angry_birds", "classic", "official num_players=5", EVERY])
@pytest.mark.parametrize("seed", [7, None])
def test_a_record_is_played_again_state_for_state(
    rules: Rules | str, seed: int | None, tmp_path: Path
) -> None:
    record, tables = played(rules, seed)
    path = tmp_path / "round.jsonl"
    record.write(path)
    assert Record.read(path) == record
    again = [batch.position(0) for batch in replay(record)]
    assert again[:-1] == tables  # the last line says how the round ended, and changes nothing
    assert again[-1] == tables[-1]
    assert isinstance(record.entries[-1], RoundEnd)


def test_whole_games_have_several_rounds() -> None:
    record, _ = played("angry_birds target=400", episode="game")
    ends = [entry for entry in record.entries if isinstance(entry, RoundEnd)]
    assert len(ends) > 1
    *_, last = replay(record)
    assert last.game_over[0]
    assert ends[-1].scores == tuple(last.scores[0])


def test_games_that_go_on_without_a_seed_can_be_played_again() -> None:
    env = uno_env.env("classic")
    env.reset(seed=3)
    for _ in range(3):
        env.reset()
    rng = np.random.default_rng(2)
    for _ in range(10):
        env.step(keen(env, rng))
    *_, last = replay(env.record)
    assert last.position(0) == env.position


def test_from_a_position() -> None:
    env = uno_env.env("angry_birds")
    start = Position.from_case({"hands": ["R5 R6", "G1 G2"], "discard": "R7", "draw": "B1 B2"})
    env.reset(seed=1, options={"position": start})
    env.step(ACTIONS.index("uno"))
    env.step(ACTIONS.index("R5"))
    record = Record.parse(str(env.record))
    assert record.position == start
    *_, last = replay(record)
    assert last.position(0) == env.position


def test_before_a_reset_there_is_none() -> None:
    with pytest.raises(AttributeError, match="record cannot be accessed before reset"):
        uno_env.env().record  # noqa: B018


GOOD, _ = played("classic", 5)
LINES = str(GOOD).splitlines()


def changed(number: int, **values) -> str:
    """The record with other values in a line, counted from 1; None drops one."""
    line = {**json.loads(LINES[number - 1]), **values}
    line = {name: value for name, value in line.items() if value is not None}
    return "".join(
        (json.dumps(line) if i == number else text) + "\n" for i, text in enumerate(LINES, 1)
    )


LAST = len(LINES)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the record is empty"),
        ("{}\n", 1, "is not the head of a record"),
        ("hello\n", 1, "is no JSON: hello"),
        ("[1]\n", 1, "is no JSON object"),
        (changed(1, version=2), 1, "version 2: this package reads 1"),
        (changed(1, rules="chess"), 1, "rules: unknown preset"),
        (changed(1, seed=-1), 1, "seed -1: allowed is a whole number from 0"),
        (changed(1, seed=True), 1, "seed True: allowed is"),
        (changed(1, seats=["a"]), 1, "seats ['a']: allowed is a name for each of 2"),
        (changed(1, seats=["a", "\ud800"]), 1, "is no JSON: "),
        ("[" * 60_000 + "\n", 1, "is no JSON: "),
        (changed(1, seats=None), 1, "missing or unknown: seats"),
        (changed(1, colour="R"), 1, "missing or unknown: colour"),
        (changed(1, position="hands: R5"), 1, "position: "),
        (changed(2, seat=2), 2, "seat 2: allowed is a whole number from 0 to 1"),
        (changed(2, action="R11"), 2, "action R11: allowed is an action"),
        (changed(2, action=5), 2, "action 5: allowed is an action"),
        (changed(2, colour="R"), 2, "has seat, action, colour: allowed are seat and action"),
        (changed(LAST, points=[1]), LAST, "points [1]: allowed is a list of 2"),
        (changed(LAST, winner=9), LAST, "winner 9: allowed is"),
        ("\n".join(LINES), LAST, "is cut off"),
        (LINES[0] + "\n" + LINES[1][:9] + "\n", 2, "is no JSON"),
    ],
)
def test_what_is_no_record_is_said_by_line(text: str, line: int, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        Record.parse(text)
    assert str(caught.value).startswith(f"line {line}: ")
    assert message in str(caught.value)
    assert caught.value.line == line


def lines(*chosen: int) -> str:
    return "".join(LINES[number - 1] + "\n" for number in chosen)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (changed(2, action="swap:1"), 2, "swap:1 is illegal: swapping hands belongs to"),
        (changed(2, seat=1 - json.loads(LINES[1])["seat"]), 2, "decides, but it is seat"),
        (lines(1, LAST), 2, "the round ends here, but it is not over"),
        (changed(LAST, scores=[9, 9]), LAST, "the round ended otherwise"),
        (str(GOOD) + LINES[-1] + "\n", LAST + 1, "the round ends here, but it is not over"),
        (lines(*range(1, LAST), LAST - 1), LAST, "the round is over: what follows is"),
    ],
)
def test_the_first_line_that_does_not_fit_is_named(text: str, line: int, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        list(replay(Record.parse(text)))
    assert message in str(caught.value)
    assert caught.value.line == line


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(str(GOOD)) - 1), st.text(max_size=3), st.integers(0, 5))
def test_whatever_is_changed_nothing_but_a_record_error_comes(
    at: int, text: str, dropped: int
) -> None:
    whole = str(GOOD)
    with contextlib.suppress(RecordError):
        record = Record.parse(whole[:at] + text + whole[at + dropped :])
        for _ in replay(record):
            pass


def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(LINES[0].encode() + b"\n\xff\xfe\n")
    with pytest.raises(RecordError, match="line 2: is no text in UTF-8"):
        Record.read(path)
    assert main([str(path)]) == 1
    assert "line 2" in capsys.readouterr().err
    assert main([str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    GOOD.write(path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.jsonl"]
    assert main([str(path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == LAST
    assert shown[0].startswith("classic, seed 5: player_0, player_1")
    assert "wins the round; totals" in shown[-1]
    command = [sys.executable, "-W", "error", "-m", "uno_env.replay", str(path)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines() == shown


def test_decisions_are_readable() -> None:
    first = GOOD.entries[0]
    assert isinstance(first, Decision)
    assert LINES[1] == f'{{"seat": {first.seat}, "action": "{ACTIONS[first.action]}"}}'
    batch = GameBatch("classic", 1, 5)
    assert int(batch.player[0]) == first.seat
