"""The benchmark: what it counts, compares and writes. Nothing here depends on how fast it is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv
from test_train import make_env

import uno_env
from eval import benchmark, peers, timing, workloads
from eval.benchmark import PARTS, main, write_json
from eval.timing import (
    Block,
    Comparison,
    Play,
    Spread,
    Workload,
    in_pairs,
    measure,
    one_core,
    prepare,
    ratios,
    run_block,
)
from eval.workloads import CorePlay, aec_play, bytes_per_game, choose, core, warm_batch
from train import speed
from train.ppo import Arguments
from train.speed import RecordedTables, learner_play
from uno_env import GameBatch, Rules
from uno_env.game.actions import Action

# --- Timing --------------------------------------------------------------------------------------


class Hands:
    """A clock that moves when it is told to, by what is done."""

    def __init__(self, choosing: float, advancing: float) -> None:
        self.time = 0.0
        self.choosing, self.advancing = choosing, advancing

    def choose(self) -> str:
        self.time += self.choosing
        return "chosen"

    def advance(self, chosen: str) -> int:
        assert chosen == "chosen"
        self.time += self.advancing
        return 10

    def run(self, seconds: float) -> Block:
        return run_block(Play(self.advance, self.choose), seconds, lambda: self.time)


def test_a_block_times_what_is_done_and_not_what_is_chosen() -> None:
    block = Hands(choosing=5, advancing=2).run(seconds=5)
    assert block == Block(count=30, seconds=6)
    assert block.rate == 5


def test_a_block_has_at_least_one_step() -> None:
    assert Hands(choosing=0, advancing=2).run(seconds=0) == Block(10, 2)


def test_reading_the_clock_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    hands = Hands(choosing=5, advancing=2)
    monkeypatch.setattr(timing, "step_clock", lambda: (lambda: hands.time, 0.5))
    block = run_block(Play(hands.advance, hands.choose), 5)
    assert block == Block(count=30, seconds=4.5)


def test_median_and_quartiles() -> None:
    spread = Spread.of([50, 10, 20, 40, 30])
    assert spread == Spread(median=30, low=20, high=40)
    assert spread.share == pytest.approx(1 / 3)
    assert Spread.of([7]) == Spread(7, 7, 7)


def test_ratios_are_taken_within_rounds() -> None:
    # The machine is half as fast in the last two rounds, but the one is always 3 times as fast.
    blocks = {
        "one": [Block(count, 2.0) for count in (600, 600, 300, 300)],
        "other": [Block(count, 1.0) for count in (100, 100, 50, 50)],
    }
    assert ratios(blocks, Comparison("one", "other")) == [3, 3, 3, 3]
    assert ratios(blocks, Comparison("other", "one")) == pytest.approx([1 / 3] * 4)
    assert ratios(blocks, Comparison("one", "absent")) is None
    assert ratios(blocks, Comparison("absent", "one")) is None


def test_workloads_take_turns_forwards_and_backwards() -> None:
    course: list[str] = []

    def play(name: str) -> Play:
        def advance(_: None) -> int:
            course.append(name)
            return 1

        return Play(advance)

    plays = {name: play(name) for name in "abc"}
    told: list[tuple[int, int]] = []
    blocks = measure(plays, "abc", 3, 1e-9, lambda over, total: told.append((over, total)))
    assert "".join(course) == "abc" + "abc" + "cba" + "abc"  # the first time does not count
    assert {name: len(some) for name, some in blocks.items()} == {"a": 3, "b": 3, "c": 3}
    assert told == [(number, 9) for number in range(1, 10)]


def test_what_is_compared_stands_together() -> None:
    comparisons = [Comparison("d", "b"), Comparison("d", "absent"), Comparison("e", "b")]
    assert in_pairs("abcde", comparisons) == ["d", "b", "e", "a", "c"]


def test_a_missing_library_is_told_of_and_the_rest_is_measured() -> None:
    def fail() -> Play:
        raise ImportError("No module\nnamed 'solitaire'")

    there = Workload("t", "there", lambda: Play(lambda _: 1))
    plays, missing = prepare([Workload("t", "gone", fail, install="pip install it"), there])
    assert list(plays) == ["there"]
    assert missing == ["gone: not measured: No module named 'solitaire'; install: pip install it"]


def test_the_process_is_tied_to_one_core_and_set_free(monkeypatch: pytest.MonkeyPatch) -> None:
    tied: list[set[int]] = [{0, 3, 5}]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: tied[-1], raising=False)
    monkeypatch.setattr(
        os, "sched_setaffinity", lambda _, cores: tied.append(set(cores)), raising=False
    )
    with one_core() as core:
        assert core == "core 5"
        assert tied[-1] == {5}
    assert tied == [{0, 3, 5}, {5}, {0, 3, 5}]


# --- The core ------------------------------------------------------------------------------------


def course(play: str, players: int, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Masks and what is chosen from them."""
    batch = GameBatch(Rules.preset("angry_birds", num_players=players), 40, seed=1)
    core = CorePlay(batch, play, observe=False)
    for _ in range(steps):
        actions = core.choose()
        yield core.mask[core.live], actions[core.live]
        core.advance(actions)


@pytest.mark.parametrize("play", ["uniform", "keen"])
def test_what_is_chosen_is_legal(play: str) -> None:
    for mask, actions in course(play, 3, 200):
        assert mask[np.arange(len(mask)), actions].all()


def test_keen_plays_whatever_it_can_says_uno_and_catches() -> None:
    seen = {"play": 0, "idle": 0, "uno": 0}
    for mask, actions in course("keen", 3, 300):
        can_play, idle = (
            mask[:, : Action.DRAW].any(axis=1),
            np.isin(actions, [Action.DRAW, Action.KEEP]),
        )
        assert not (can_play & idle).any()
        assert (actions[mask[:, Action.UNO]] == Action.UNO).all()
        assert (actions[mask[:, Action.CATCH]] == Action.CATCH).all()
        seen["play"] += int(can_play.sum())
        seen["idle"] += int(idle.sum())
        seen["uno"] += int(mask[:, Action.UNO].sum())
    assert all(seen.values()), seen


def test_keen_always_catches() -> None:
    mask = np.zeros((2, 84), np.bool_)
    mask[:, [Action.CATCH, Action.LET_GO]] = True
    for seed in range(20):
        chosen = choose("keen", mask, np.random.default_rng(seed))
        assert (chosen == Action.CATCH).all()


@pytest.mark.parametrize("observe", [False, True])
def test_only_decisions_of_games_in_play_are_counted(
    observe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = GameBatch(Rules.preset("angry_birds", num_players=2), 30, seed=1)
    live = dealt = observed = 0
    step, see, reset = batch.step, batch.observe, batch.reset

    def counted_step(actions: np.ndarray) -> Any:
        nonlocal live
        live += int((~batch.done).sum())
        return step(actions)

    def counted_reset(done: np.ndarray) -> None:
        nonlocal dealt
        dealt += int(done.sum())
        reset(done)

    def counted_observe() -> Any:
        nonlocal observed
        observed += 1
        return see()

    monkeypatch.setattr(batch, "step", counted_step)
    monkeypatch.setattr(batch, "reset", counted_reset)
    monkeypatch.setattr(batch, "observe", counted_observe)
    core = CorePlay(batch, "keen", observe)
    counted = 0
    for _ in range(200):
        counted += core.advance(core.choose())
        assert (core.live == ~batch.done).all()
        assert batch.done.sum() * workloads.DEAL_AT < len(batch.done)
    assert 200 * 28 < counted == live < 200 * 30
    assert dealt > 50
    assert observed == (200 if observe else 0)


def test_games_are_measured_in_the_midst_of_their_rounds() -> None:
    batch = warm_batch("keen", 2, 200)
    cards = np.bitwise_count(batch.state.hands).sum(axis=(1, 2))
    assert len(np.unique(cards)) > 8
    assert np.bincount(cards).max() < 60, "the rounds are in phase"


def test_each_size_and_number_of_players_is_measured() -> None:
    some = core([2, 3], [1, 5])
    assert len({each.name for each in some}) == len(some) == 16
    assert workloads.core_name("keen", 3, True, 5) in {each.name for each in some}
    for each in some:
        play = each.make()
        count = 1 if each.column == "1 game" else 5
        assert play.advance(play.choose()) == count


def test_memory_is_that_of_all_arrays_of_the_state() -> None:
    batch = GameBatch(Rules.preset("angry_birds", num_players=4), 1_000)
    total = sum(array.nbytes for array in batch.state.arrays().values())
    assert bytes_per_game(4) == total / 1_000
    assert bytes_per_game(10) > bytes_per_game(4) > 112, "the draw pile alone has a byte a card"


def test_the_loop_over_an_aec_environment_counts_its_steps() -> None:
    env = uno_env.env(num_players=3, max_cycles=7)
    steps = resets = 0
    step, reset = env.step, env.reset

    def counted_step(action: Any) -> None:
        nonlocal steps
        steps += 1
        step(action)

    def counted_reset() -> None:
        nonlocal resets
        resets += 1
        reset()

    env.step, env.reset = counted_step, counted_reset
    play = aec_play(lambda: env)
    assert sum(play.advance(None) for _ in range(20)) == steps == 60
    assert resets == 1 + 60 // 7


# --- Training ------------------------------------------------------------------------------------


def test_recorded_tables_are_like_the_tables_and_learn_nothing() -> None:
    tables = make_env(num_envs=12)
    recorded = RecordedTables(tables, 40)
    assert isinstance(recorded, VecEnv)
    assert recorded.num_envs == 12
    assert recorded.observation_space == tables.observation_space
    assert recorded.action_space == tables.action_space
    assert is_masking_supported(recorded)

    def course(action: int) -> list[tuple[Any, ...]]:
        first = recorded.reset()
        steps: list[tuple[Any, ...]] = [(first,)]
        for _ in range(40):
            (masks,) = get_action_masks(recorded)  # one block
            steps.append((masks, *recorded.step(np.full(12, action))))
        return steps

    one, other = course(0), course(70)
    ended = 0
    for here, there in zip(one, other, strict=True):
        for mine, others in zip(here, there, strict=True):
            assert np.array_equal(mine, others)
    for masks, observation, rewards, dones, infos in one[1:]:
        assert masks.shape == (12, 84)
        assert masks.any(axis=1).all()
        assert recorded.observation_space.contains(observation[0])
        assert (rewards[~dones] == 0).all()
        assert [bool(info) for info in infos] == dones.tolist()
        ended += int(dones.sum())
    assert ended > 5


def test_recorded_tables_give_arrays_that_may_be_written_on() -> None:
    recorded = RecordedTables(make_env(num_envs=4), 1)
    kept = [array.copy() for array in recorded.step(np.zeros(4, int))[:3]]
    for array in recorded.step(np.zeros(4, int))[:3]:
        array[:] = 1
    for before, after in zip(kept, recorded.step(np.zeros(4, int))[:3], strict=True):
        assert (before == after).all()


SMALL = Arguments(
    num_players=2, num_envs=8, num_steps=4, batch_size=32, num_epochs=1, hidden=8, torch_threads=1
)


@pytest.mark.parametrize("ceiling", [False, True])
def test_a_learner_counts_the_frames_of_an_iteration(
    ceiling: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    models: list[Any] = []
    make: Callable[..., Any] = speed.make_learner

    def kept(env: VecEnv, arguments: Arguments) -> Any:
        models.append(make(env, arguments))
        return models[-1]

    monkeypatch.setattr(speed, "make_learner", kept)
    play = learner_play(SMALL, ceiling)
    model = models[-1]
    assert isinstance(model.get_env(), RecordedTables) == ceiling
    assert model.num_timesteps == 32
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    assert play.advance(play.choose()) == 32
    assert model.num_timesteps == 64
    after = list(model.policy.parameters())
    assert any((old != new).any() for old, new in zip(before, after, strict=True))


# --- Peers ---------------------------------------------------------------------------------------


def test_rlcard_is_stepped_and_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    course: list[str] = []

    class Env:
        left = 0

        def reset(self) -> tuple[dict[str, Any], int]:
            course.append("reset")
            self.left = 3
            return {"legal_actions": {5: None}}, 0

        def step(self, action: int) -> tuple[dict[str, Any], int]:
            course.append(f"step {action}")
            self.left -= 1
            return {"legal_actions": {8: None}}, 0

        def is_over(self) -> bool:
            return self.left == 0

    made = SimpleNamespace(make=lambda name, config: Env())
    monkeypatch.setitem(sys.modules, "rlcard", made)
    play = peers.core_peers([2])[0].make()
    assert sum(play.advance(play.choose()) for _ in range(4)) == 4
    assert course == ["reset", "step 5", "step 8", "step 8", "reset", "step 5"]


def test_rlcard_plays_its_rounds_between_rule_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    seated: list[Any] = []
    env = SimpleNamespace(
        set_agents=seated.extend, run=lambda is_training: seated.append(is_training)
    )
    made = SimpleNamespace(make=lambda name, config: env)
    models = SimpleNamespace(load=lambda name: SimpleNamespace(agents=[name, name]))
    monkeypatch.setitem(sys.modules, "rlcard", made)
    monkeypatch.setitem(sys.modules, "rlcard.models", models)
    play = peers.tournament_peers()[0].make()
    assert play.advance(play.choose()) == peers.ROUNDS
    assert seated == ["uno-rule-v1"] * 2 + [False] * peers.ROUNDS


class Eights:
    """A game in which a card is drawn by chance before each of three decisions."""

    def __init__(self) -> None:
        self.drawn, self.decided = 0, 0

    def is_terminal(self) -> bool:
        return self.decided == 3

    def is_chance_node(self) -> bool:
        return self.drawn == self.decided

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(1, 0.5), (2, 0.5)]

    def legal_actions(self) -> list[int]:
        assert not self.is_chance_node()
        return [7, 9]

    def apply_action(self, action: int) -> None:
        assert action in ((1, 2) if self.is_chance_node() else (7, 9))
        if self.is_chance_node():
            self.drawn += 1
        else:
            self.decided += 1


def test_open_spiel_counts_decisions_and_not_chance() -> None:
    game = SimpleNamespace(new_initial_state=Eights)
    table = peers.EightsTable(SimpleNamespace(load_game=lambda name: game))
    assert sum(table.advance(table.choose()) for _ in range(7)) == 7
    assert table.games == 2
    assert table.state.decided == 1
    assert table.play_out() == 2
    assert table.play_out() == 3


def test_whatever_has_a_target_is_measured_by_default() -> None:
    names = {
        *(each.name for each in core(benchmark.PLAYERS, benchmark.GAMES)),
        *(each.name for each in peers.core_peers(benchmark.PLAYERS)),
        *(each.name for each in workloads.aec(benchmark.PLAYERS)),
        *(each.name for each in peers.aec_peers()),
        *(each.name for each in speed.workloads()),
        *(each.name for each in [*workloads.tournament(), *peers.tournament_peers()]),
    }
    comparisons = [
        *(*peers.core_comparisons(), *peers.aec_comparisons(), *speed.comparisons()),
        *peers.tournament_comparisons(),
    ]
    assert {name for each in comparisons for name in (each.of, each.to)} <= names


# --- The command ---------------------------------------------------------------------------------

TINY = ["--players", "2", "--games", "1", "3", "--repeats", "2", "--seconds", "0.001"]


@pytest.fixture
def few_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "DEALS", 20)


@pytest.mark.usefixtures("few_deals")
def test_a_tiny_run_prints_tables_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "speed.json"
    parts = ["core", "aec", "gymnasium", "tournament"]
    assert main([*TINY, "--only", *parts, "--json", str(path)]) == 0
    out, err = capsys.readouterr()
    assert not err
    for text in ("keen, 2 players, mask and observation", "3 games", "uno_env.env(), 2 players"):
        assert text in out
    result = json.loads(path.read_text())
    assert [file.name for file in tmp_path.iterdir()] == ["speed.json"]
    assert result["settings"]["only"] == parts
    assert result["machine"]["packages"]["numpy"] == np.__version__
    assert result["bytes_per_game"] == {"2": bytes_per_game(2)}
    assert {each["table"] for each in result["workloads"]} == {
        workloads.CORE,
        workloads.AEC,
        workloads.GYMNASIUM,
        workloads.TOURNAMENT,
    }
    for each in result["workloads"]:
        rates = [block["count"] / block["seconds"] for block in each["blocks"]]
        assert len(rates) == 2
        assert each["rate"]["median"] == pytest.approx(np.median(rates))


def test_training_is_compared_with_its_ceiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed, "NUM_ENVS", (8,))
    monkeypatch.setattr(speed, "_arguments", lambda num_envs: SMALL)
    path = tmp_path / "speed.json"
    assert main([*TINY, "--only", "training", "--json", str(path)]) == 0
    assert "PPO at the tables" in capsys.readouterr().out
    *decisions, ratio = json.loads(path.read_text())["ratios"]
    assert [each["of"] for each in decisions] == [
        "portable, in numpy, 1 at once",
        "portable, in numpy, 4,096 at once",
    ]
    assert ratio["target"] == 0.85
    assert len(ratio["rounds"]) == 2
    assert ratio["met"] == (np.median(ratio["rounds"]) >= 0.85)


@pytest.mark.parametrize(("target", "verdict"), [(2.0, "not met"), (1.5, "met")])
def test_a_target_is_met_or_not(
    target: float, verdict: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def add(suite: benchmark.Suite, options: Any) -> None:
        suite.workloads += [Workload("t", name, lambda: Play(lambda _: 1)) for name in "ab"]
        suite.comparisons.append(Comparison("a", "b", target))

    def measured(*_: Any) -> dict[str, list[Block]]:
        return {"a": [Block(3, 1.0)], "b": [Block(2, 1.0)]}

    monkeypatch.setitem(PARTS, "core", add)
    monkeypatch.setattr(benchmark, "measure", measured)
    assert main(["--only", "core"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "a / b" in line]
    assert [line.split() for line in lines] == [
        ["a", "/", "b", "1.50x", "±0%", "target", f"{target:g}x:", *verdict.split()]
    ]


def test_peers_that_are_missing_are_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rlcard", "pyspiel"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main([*TINY, "--only", "core", "--peers"]) == 0
    out = capsys.readouterr().out
    assert f"{peers.rlcard_name(2)}: not measured: " in out
    assert f"{peers.EIGHTS_ROLLOUTS}: not measured: " in out
    assert peers.RLCARD in out
    assert peers.OPEN_SPIEL in out


@pytest.mark.usefixtures("few_deals")
def test_training_that_is_not_installed_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "train.speed", None)
    assert main([*TINY, "--only", "tournament", "training"]) == 0
    assert "training: not measured: " in capsys.readouterr().out
    with pytest.raises(SystemExit) as caught:
        main([*TINY, "--only", "training"])
    assert caught.value.code == 2
    assert benchmark.TRAIN_EXTRA in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "chess"], "invalid choice: 'chess' (choose from"),
        (["--only"], "expected at least one argument"),
        (["--repeats", "0"], "'0': allowed is a whole number from 1"),
        (["--repeats", "many"], "'many': allowed is a whole number from 1"),
        (["--seconds", "0"], "'0': allowed is a finite number above 0"),
        (["--seconds", "nan"], "'nan': allowed is a finite number above 0"),
        (["--players", "11"], "'11': allowed is a whole number from 2 to 10"),
        (["--games", "0"], "'0': allowed is a whole number from 1 to 1,048,576"),
        (["--json", "."], "'.' is a folder: allowed is the path of a file"),
        (["--json", "/dev/null/speed.json"], "'/dev/null/speed.json' cannot be written"),
        (["--json", "x" * 300], "cannot be written (File name too long)"),
        (["--json", "speed.json/"], "'speed.json/' is a folder: allowed is the path of a file"),
        (["--json", "/no/such/folder/speed.json"], "cannot be written (No such file or"),
        (["--speed", "9"], "unrecognized arguments: --speed 9"),
    ],
)
def test_bad_input_is_refused_in_a_line_before_anything_is_measured(
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(benchmark, "run", lambda *_: pytest.fail("it was measured"))
    with pytest.raises(SystemExit) as caught:
        main(options)
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("python -m eval.benchmark: ")
    assert message in err
    assert err.count("\n") == 1


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    write_json(path, {"rates": [1.5]})
    assert json.loads(path.read_text()) == {"rates": [1.5]}
    with pytest.raises(TypeError):
        write_json(path, {"rates": object()})
    assert json.loads(path.read_text()) == {"rates": [1.5]}
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="speed"):
        write_json(path, {})
    assert [file.name for file in tmp_path.iterdir()] == ["speed.json"]
