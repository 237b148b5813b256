"""A person at the terminal: shown what its seat sees, asked until it names what it may do."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from agents.human import HumanAgent
from eval.match import play
from uno_env import ACTIONS, GameBatch, Position

TABLE = {"hands": ["R1 R2 W B4 G6", "Y1 Y2 Y3"], "discard": "R7", "draw": "G1 G2 G3"}


class Terminal:
    """Answers in turn; what was shown is kept."""

    def __init__(self, *answers: str) -> None:
        self.answers = iter(answers)
        self.shown: list[str] = []

    def read(self, prompt: str) -> str:
        self.shown.append(prompt)
        try:
            return next(self.answers)
        except StopIteration:
            raise EOFError from None

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def decide(*answers: str, **case: object) -> tuple[str, Terminal]:
    position = Position.from_case({**TABLE, **case})
    batch = GameBatch(position.rules)
    batch.load(0, position)
    terminal = Terminal(*answers)
    agent = HumanAgent(terminal.read, terminal.shown.append)
    [action] = agent.act(batch.observe(), batch.legal, np.random.default_rng(0))
    return ACTIONS[action], terminal


@pytest.mark.parametrize("answer", ["R2", "r2", " R2 ", "2"])
def test_an_action_is_chosen_by_number_or_text(answer: str) -> None:
    assert decide(answer)[0] == "R2"


def test_the_table_is_shown_without_what_is_hidden() -> None:
    _, terminal = decide("draw")
    for shown in ("you", "1 to your left", "R1", "B4", "G6", "R7", " 1 R1", "W:B", "draw"):
        assert shown in terminal.text
    for hidden in ("Y1", "Y2", "Y3", "G1", "dealer"):
        assert hidden not in terminal.text


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("B4", "B4: .*R7"),
        ("G9", "G9: .*hand"),
        ("0", "0: allowed is a number from 1 to 7"),
        ("8", "8: allowed is a number from 1 to 7"),
        ("R12", "'R12': allowed is a number of the list, or an action such as R5"),
        ("", "'': allowed is a number of the list"),
        ("9" * 5000, "9: allowed is a number from 1 to 7"),
        ("\u00b2", "'\u00b2': allowed is a number of the list"),
        ("-1", "'-1': allowed is a number of the list"),
        ("\x1b[A", r"'\\x1b\[A': allowed is a number of the list"),
        ("swap:1", "swap:1: "),
        ("keep", "keep: "),
    ],
)
def test_what_cannot_be_done_is_asked_again(answer: str, message: str) -> None:
    action, terminal = decide(answer, "R1")
    assert action == "R1"
    assert re.search(message, terminal.text), terminal.text


def test_nothing_is_asked_where_there_is_one_action() -> None:
    action, terminal = decide(hands=["B4 G6", "Y1 Y2"])
    assert action == "draw"
    assert terminal.text == ""


def test_the_end_of_the_input_ends_the_match() -> None:
    with pytest.raises(KeyboardInterrupt, match="the input has ended"):
        decide()


def test_what_is_no_text_is_asked_again() -> None:
    answers = iter([b"\xff\xfe", b"R2"])
    terminal = Terminal()
    agent = HumanAgent(lambda prompt: next(answers).decode(), terminal.shown.append)
    position = Position.from_case(TABLE)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    [action] = agent.act(batch.observe(), batch.legal, np.random.default_rng(0))
    assert ACTIONS[action] == "R2"
    assert "allowed is a number of the list" in terminal.text


def test_rows_without_an_action_are_refused() -> None:
    batch, rng = GameBatch(num_games=2), np.random.default_rng(0)
    agent = HumanAgent(Terminal().read, print)
    with pytest.raises(ValueError, match="row 0 of the mask has no legal action"):
        agent.act(batch.observe(), batch.legal & False, rng)
    assert agent.act(batch.observe()[:0], batch.legal[:0], rng).shape == (0,)


def numbers() -> Iterator[str]:
    while True:
        yield "1"


@pytest.mark.parametrize("players", [2, 4])
def test_a_person_plays_a_match(players: int) -> None:
    terminal = Terminal()
    terminal.answers = numbers()
    result = play(
        [HumanAgent(terminal.read, terminal.shown.append), *["keen"] * (players - 1)],
        deals=2,
        jobs=2,
        max_decisions=300,
    )
    assert result.rounds == 2 * players
    assert terminal.text.count("your action>") > 20


def test_a_match_from_the_command_line() -> None:
    command = [sys.executable, "-m", "eval.match", "human", "keen", "--rounds", "2"]
    done = subprocess.run(command, input="1\n" * 30, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "the input has ended" in done.stderr
    assert "your action>" in done.stdout
