"""Tables of people and bots, the advice people get, and a game at the terminal."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_human import Terminal
from test_observation import other_worlds

from agents import make_agent
from agents.advice import advise
from agents.keen import KeenAgent
from agents.play import Session, main
from agents.policy import PolicyAgent
from agents.table import Table
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.policy import Policy, weight_shapes
from uno_env.records import Decision, Record, RoundEnd, replay


def table(rules: str = "angry_birds", players: int = 3, seat: int = 0, seed: int = 5) -> Table:
    seats = [make_agent("keen") for _ in range(players)]
    return Table(
        Rules.make(rules, num_players=players),
        [None if i == seat else agent for i, agent in enumerate(seats)],
        seed=seed,
    )


def play_round(a_table: Table) -> None:
    rng = np.random.default_rng(1)
    while not a_table.over:
        if a_table.bot is not None:
            a_table.ask_bot()
        else:
            batch = a_table.batch
            [action] = KeenAgent().act(batch.observe(), batch.legal, rng)
            a_table.play(int(action))


# ---------------------------------------------------------------------- tables


def test_a_round_is_played_by_a_person_and_bots_and_its_record_plays_again() -> None:
    played = table(seat=1)
    assert played.names == ("keen 1", "you", "keen 2")
    play_round(played)
    assert played.turn is None
    assert played.bot is None
    assert played.legal == []
    decisions = [entry for entry in played.record.entries if isinstance(entry, Decision)]
    assert len(decisions) == played.decisions
    assert played.last == (decisions[-1].seat, decisions[-1].action)
    *_, last = replay(played.record)
    assert last.position(0) == played.position


def test_a_game_is_as_many_rounds_as_it_takes() -> None:
    played = table("angry_birds target=200")
    play_round(played)
    rounds = 1
    while not played.game_over:
        played.next_round()
        play_round(played)
        rounds += 1
    ends = [entry for entry in played.record.entries if isinstance(entry, RoundEnd)]
    assert len(ends) == rounds > 1
    assert max(ends[-1].scores) >= 200 > max(ends[-2].scores)
    for _ in replay(played.record):
        pass
    with pytest.raises(ValueError, match="no further round: the game is over"):
        played.next_round()


def test_the_seed_says_how_bots_play() -> None:
    def decided(seed: int) -> list[tuple[int, int] | None]:
        played = Table(Rules.make("classic"), [make_agent("random")] * 2, seed=seed)
        moves = []
        for _ in range(20):
            played.ask_bot()
            moves.append(played.last)
        return moves

    assert decided(4) == decided(4) != decided(5)


def test_what_cannot_be_done_is_refused_and_changes_nothing() -> None:
    played = table(seat=0)
    while played.bot is not None:
        played.ask_bot()
    before = played.position, played.record
    illegal = next(i for i in range(len(ACTIONS)) if i not in played.legal)
    why = played.why_illegal(illegal)
    assert why is not None
    with pytest.raises(ValueError, match=ACTIONS[illegal].replace("+", r"\+")):
        played.play(illegal)
    for action, error in ((-1, ValueError), (len(ACTIONS), ValueError), (0.5, TypeError)):
        with pytest.raises(error, match="action"):
            played.play(action)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no bot is to decide"):
        played.ask_bot()
    with pytest.raises(ValueError, match="the round is not over"):
        played.next_round()
    assert (played.position, played.record) == before
    play_round(played)
    with pytest.raises(ValueError, match="the round is over"):
        played.play(0)


@pytest.mark.parametrize(
    ("seats", "message"),
    [
        (["keen"], "1 seats: allowed is one for each of 2 players"),
        (["keen", "human"], "'human' asks a person"),
    ],
)
def test_seats_that_no_table_can_have(seats: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(Rules.make("classic"), [make_agent(seat) for seat in seats], seed=0)


# ---------------------------------------------------------------------- advice


def test_advice_tells_of_each_legal_action() -> None:
    batch = GameBatch("angry_birds", 1, seed=3)
    advice = advise(batch.observe()[0], batch.legal[0], np.random.default_rng(0), rollouts=16)
    assert sorted(each.action for each in advice) == np.flatnonzero(batch.legal[0]).tolist()
    odds = [each.probability for each in advice]
    assert sum(odds) == pytest.approx(1)
    assert odds == sorted(odds, reverse=True)
    [likeliest] = make_agent("trained").act(batch.observe(), batch.legal, np.random.default_rng(0))
    assert advice[0].action == likeliest
    for each in advice:
        assert 0 <= each.value <= 1
        assert each.error == pytest.approx((each.value * (1 - each.value) / 16) ** 0.5)


def test_advice_knows_a_winning_card() -> None:
    position = Position.from_case(
        {
            "hands": ["R1", "Y1 Y2 Y3 G4 G5"],
            "said": True,
            "discard": "R7",
            "draw": "B1 B2 B3 G1 G2 G3",
        }
    )
    batch = GameBatch(position.rules)
    batch.load(0, position)
    advice = advise(batch.observe()[0], batch.legal[0], np.random.default_rng(0))
    by_action = {ACTIONS[each.action]: each for each in advice}
    assert by_action["R1"].value == 1
    assert by_action["R1"].error == 0
    assert by_action["draw"].value < 1


def test_advice_may_be_that_of_another_policy() -> None:
    weights = {name: np.zeros(shape, np.float32) for name, shape in weight_shapes(8).items()}
    policy = PolicyAgent(Policy(weights, Rules.preset("angry_birds"), {}))
    batch = GameBatch("angry_birds", 1, seed=3)
    rng = np.random.default_rng(0)
    advice = advise(batch.observe()[0], batch.legal[0], rng, policy=policy, rollouts=1)
    assert [each.probability for each in advice] == pytest.approx([1 / len(advice)] * len(advice))


def test_advice_needs_something_to_advise_on() -> None:
    batch = GameBatch("angry_birds")
    with pytest.raises(ValueError, match="no legal action"):
        advise(batch.observe()[0], np.zeros_like(batch.legal[0]), np.random.default_rng(0))


def test_advice_depends_on_nothing_that_is_hidden() -> None:
    played = table(players=3)
    rng = np.random.default_rng(2)
    for _ in range(12):
        batch = played.batch
        seat = int(batch.player[0])
        expected = advise(batch.observe()[0], batch.legal[0], np.random.default_rng(7), rollouts=4)
        for _, other in itertools.islice(other_worlds(played.position, seat, rng), 2):
            row, mask = other.observe()[0], other.legal[0]
            assert advise(row, mask, np.random.default_rng(7), rollouts=4) == expected
        played.play(expected[0].action)


# ---------------------------------------------------------------------- at the terminal


def session(
    *answers: str, record: Path | None = None, read: Callable[[str], str] | None = None
) -> tuple[Session, Terminal]:
    terminal = Terminal(*answers)
    a_table = table(players=2)
    write = terminal.shown.append
    made = Session(a_table, record, read=read or terminal.read, write=write, colour=False)
    return made, terminal


def test_a_round_at_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    played, terminal = session(*["1"] * 500, record=path)
    played.play(1)
    assert played.table.over
    for shown in ("hint", "quit", "keen", "your action> ", f"the record is in {path}"):
        assert shown in terminal.text
    assert Record.read(path) == played.table.record
    hands = played.table.record.begin().position(0).hands
    assert len(hands[1]) == 7
    first_screen = terminal.text.split("your action> ")[0]
    assert "keen" in first_screen


def test_hints_help_and_reasons_are_given_before_it_is_asked_again() -> None:
    played, terminal = session("hint", "HELP", "swap:1", "nonsense", "quit")
    with pytest.raises(KeyboardInterrupt, match="you quit"):
        played.play(None)
    assert "of rounds played out" in terminal.text
    assert terminal.text.count("hint: what `trained` would do") == 2
    assert "swap:1: " in terminal.text
    assert "or hint, or help, or quit" in terminal.text


@pytest.mark.parametrize("answers", [(), ("quit",), ("1", "1", "quit")])
def test_whoever_quits_has_the_record(answers: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    played, _ = session(*answers, record=path)
    with pytest.raises(KeyboardInterrupt):
        played.play(None)
    record = Record.read(path)
    assert len(record.entries) == played.table.decisions
    for _ in replay(record):
        pass


def test_ctrl_c_keeps_the_record(tmp_path: Path) -> None:
    def interrupt(_: str) -> str:
        raise KeyboardInterrupt

    path = tmp_path / "mine.jsonl"
    played, _ = session(record=path, read=interrupt)
    with pytest.raises(KeyboardInterrupt):
        played.play(1)
    assert Record.read(path).seats == ("you", "keen")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "nobody"], "unknown agent 'nobody'"),
        (["--against", *["keen"] * 10], "10 bots: allowed are 1 to 9"),
        (["--against", "human"], "'human' asks a person"),
        (["--seat", "2"], "--seat 2: allowed is 0 to 1"),
        (["--rounds", "0"], "--rounds 0: allowed is a whole number from 1"),
        (["--seed", "-1"], "seed"),
        (["--rules", "chess"], "chess"),
    ],
)
def test_wrong_command_lines(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--no-record"]) == 2
    assert message in capsys.readouterr().err


def test_no_record_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("mine")
    assert main(["--record", str(path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agents.play", "--against", "keen", "greedy", "--seed", "3"]
    root = Path(__file__).parents[1]
    path = tmp_path / "mine.jsonl"
    done = subprocess.run(
        [*command, "--seat", "2", "--name", "Ada", "--record", str(path)],
        input="1\n" * 500,
        capture_output=True,
        text=True,
        cwd=root,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert Record.read(path).seats == ("keen", "greedy", "Ada")
    assert isinstance(Record.read(path).entries[-1], RoundEnd)
    cut = subprocess.run(
        [*command, "--no-record"],
        input="1\n",
        capture_output=True,
        text=True,
        cwd=root,
        timeout=300,
    )
    assert cut.returncode == 130
    assert "ended" in cut.stderr


def test_where_one_action_alone_is_legal_nothing_is_asked() -> None:
    played, terminal = session(*["1"] * 500)
    played.play(1)
    asked = terminal.text.count("your action> ")
    choices = [
        batch.legal[0].sum() > 1
        for batch in replay(played.table.record)
        if not batch.done[0] and batch.player[0] == 0
    ]
    assert asked == sum(choices) < len(choices)
