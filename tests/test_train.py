"""Training: the tables as SB3 sees them, the network, the export, and a whole small run."""

from __future__ import annotations

import copy as copy_module
import json
import math
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor, VecNormalize

from agents import Agent, make_agent
from agents.policy import PolicyAgent
from eval.answers import AgentError
from train import ppo
from train.network import ActionScoringPolicy, export_policy
from train.objective import Objective
from train.opponents import OpponentPool
from train.ppo import Arguments, train
from train.vec_env import TableVecEnv
from uno_env import GameBatch, Rules
from uno_env.policy import Policy


def make_env(num_envs: int = 16, players: int = 2, **options: int) -> TableVecEnv:
    pool = OpponentPool([make_agent("keen"), make_agent("greedy")], past_share=0.5, max_past=2)
    rules = Rules.preset("angry_birds", num_players=players)
    return TableVecEnv(rules, num_envs, pool, **options)


def first_legal(env: TableVecEnv) -> np.ndarray:
    return env.env_method("action_masks")[0].argmax(axis=1)


@pytest.mark.parametrize("players", [2, 4])
def test_the_learner_is_always_to_choose(players: int) -> None:
    env = make_env(players=players)
    env.reset()
    ended = 0
    for _ in range(150):
        masks = env.env_method("action_masks")[0]
        assert (env.batch.player == env.learner).all()
        assert (masks.sum(axis=1) > 1).all(), "a forced action was asked for"
        observation, rewards, dones, infos = env.step(masks.argmax(axis=1))
        assert observation.dtype == np.uint8
        assert (observation == env.batch.observe()).all()
        win = np.sqrt(players - 1)  # so that its deviation is 1 where all are alike
        allowed = np.array([win, -win / (players - 1), 0], np.float32)
        assert np.isclose(rewards[dones, None], allowed).any(axis=1).all()
        assert (rewards[~dones] == 0).all()
        for i, info in enumerate(infos):
            assert isinstance(info, dict)
            assert bool(info) == dones[i]
            if info:
                assert info["terminal_observation"].shape == observation[i].shape
                assert info["episode"]["r"] == pytest.approx(rewards[i])
                assert info["episode"]["l"] > 0
        ended += int(dones.sum())
    assert ended > 20


def test_a_round_may_end_before_the_learner_chooses() -> None:
    """Such a round is dealt anew and never seen, at the first reset too."""
    env = make_env(num_envs=4_000)
    rounds_before = env.batch.state.stream.copy()
    env.reset()
    assert (env.batch.state.stream != rounds_before).all()
    assert env.opponents.rounds.sum() == 0, "a round without a choice was recorded"
    assert (env.batch.player == env.learner).all()
    assert (env.batch.count_legal(np.arange(4_000)) > 1).all()


class Deaf(Agent):
    """Answers with one action, whatever is legal."""

    name = "deaf"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> object:
        return self.answer if self.answer is None else np.full(len(mask), self.answer)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (75, r"answered swap:1 \(75\), which is illegal: .*"),
        (84, "answered 84: allowed is a whole number from 0 to 83"),
        (3.0, "answered with float64 of the shape .*"),
        (None, "answered with object of the shape .*"),
    ],
)
def test_an_opponent_that_answers_wrongly_is_named(answer: object, message: str) -> None:
    pool = OpponentPool([Deaf(answer)], past_share=0.5, max_past=1)
    env = TableVecEnv(Rules(), 16, pool)
    where = r"table \d+, decision 1\nrules: angry_birds"
    with pytest.raises(AgentError, match=f"^agent 'deaf' {message}\n{where}"):
        env.reset()


class Fails(Agent):
    """Plays like another, but errs in a call of the tests' choosing."""

    name = "fails"

    def __init__(self) -> None:
        self.calls_left, self.raises = math.inf, True

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> object:
        self.calls_left -= 1
        actions = make_agent("keen").act(observation, mask, rng)
        if self.calls_left < 0:
            if self.raises:
                raise KeyError("lost")
            actions[-1] = mask[-1].argmin()
        return actions


def state_of(env: TableVecEnv) -> list[object]:
    return [
        *(env.batch.position(table) for table in range(env.num_envs)),
        *(env.learner.tolist(), env.opponent.tolist(), env.decisions.tolist()),
        *(env.opponents.rounds.tolist(), env.opponents.wins.tolist(), env.rng.bit_generator.state),
    ]


def test_a_step_or_reset_in_which_an_opponent_errs_changes_nothing() -> None:
    agent = Fails()
    rules = Rules.preset("angry_birds", num_players=3)
    env, twin = (
        TableVecEnv(rules, 12, OpponentPool([one, "greedy"], past_share=0.5, max_past=1))
        for one in (agent, Fails())
    )
    agent.calls_left = 0
    with pytest.raises(AgentError, match="raised KeyError: 'lost'\ntable"):
        env.reset()
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(12, np.intp))
    agent.calls_left = math.inf
    assert (env.reset() == twin.reset()).all()
    failed = 0
    for _ in range(30):
        before = state_of(env)
        actions = first_legal(env)
        for calls in range(100):
            agent.calls_left, agent.raises = calls, bool(calls % 2)
            try:
                ours = env.step(actions)
            except AgentError:
                assert state_of(env) == before
                failed += 1
            else:
                break
        for one, other in zip(ours[:3], twin.step(actions)[:3], strict=True):
            assert (one == other).all()
    assert failed > 30
    before = state_of(env)
    agent.calls_left = 0
    with pytest.raises(AgentError):
        env.reset()
    assert state_of(env) == before


def test_wrong_actions_are_refused_and_change_nothing() -> None:
    env = make_env(num_envs=5)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(5, np.intp))
    env.reset()
    before, actions = state_of(env), first_legal(env)
    illegal = actions.copy()
    illegal[3] = env.batch.legal[3].argmin()
    for wrong, error, message in (
        (illegal, ValueError, rf"\({illegal[3]}\) of game 3: ."),
        (np.full(5, 84), ValueError, "action 84 of game 0: .* from 0 to 83"),
        (-actions - 1, ValueError, "action -.* of game 0"),
        (actions[:4], ValueError, r"shape \(4,\): allowed is \(5,\)"),
        (actions[:, None], ValueError, r"shape \(5, 1\)"),
        (actions + 0.5, TypeError, "must be integers, not float64"),
        (None, TypeError, "must be integers, not object"),
    ):
        with pytest.raises(error, match=message):
            env.step(wrong)
        with pytest.raises(ResetNeeded, match="step_async"):
            env.step_wait()
        assert state_of(env) == before
    env.step(actions)


def test_arguments_of_tables_are_checked() -> None:
    pool = OpponentPool(["keen"], past_share=0.5, max_past=1)
    for wrong, error, message in (
        ({"num_envs": 0}, ValueError, "num_envs=0: allowed is a whole number from 1"),
        ({"num_envs": 2.0}, TypeError, "num_envs=2.0"),
        ({"max_decisions": 0}, ValueError, "max_decisions=0: allowed is a whole number from 1"),
        ({"seed": -1}, ValueError, "seed=-1"),
        ({"opponents": ["keen"]}, TypeError, "opponents=\\['keen'\\]: allowed is an OpponentPool"),
    ):
        with pytest.raises(error, match=message):
            TableVecEnv(**{"rules": Rules(), "num_envs": 4, "opponents": pool, **wrong})


def test_tables_with_nothing_to_say_share_an_info_that_cannot_be_written_on() -> None:
    env = make_env()
    env.reset()
    quiet = []
    for _ in range(30):
        _, _, dones, infos = env.step(first_legal(env))
        quiet += [info for info, done in zip(infos, dones, strict=True) if not done]
        ended = [info for info, done in zip(infos, dones, strict=True) if done]
        assert len({id(info) for info in ended}) == len(ended)
    info = quiet[0]
    assert all(other is info for other in quiet)
    for write in (
        lambda: info.__setitem__("episode", {}),
        lambda: info.update(episode={}),
        lambda: info.update({"episode": {}}),
        lambda: info.setdefault("episode", {}),
        lambda: info.__ior__({"episode": {}}),
    ):
        with pytest.raises(TypeError, match="write on a copy"):
            write()
    assert info == {}
    assert info.get("episode") is None
    for copy in (info.copy(), dict(info), {**info}, info | {}):
        copy["episode"] = {}
        assert type(copy) is dict
    assert (
        copy_module.deepcopy([info, info]) == pickle.loads(pickle.dumps([info, info])) == [{}, {}]
    )
    assert info == {}


def test_sb3_and_its_wrappers_run_on_shared_infos() -> None:
    env = VecNormalize(VecCheckNan(VecMonitor(make_env(max_decisions=12))), norm_reward=False)
    infos = []

    class Reads(BaseCallback):
        def _on_step(self) -> bool:
            infos.extend(self.locals["infos"])
            return True

    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, device="cpu")
    model.learn(512, callback=Reads())
    told = [info for info in infos if info]
    assert len(told) > 20
    assert {frozenset(info) for info in told} == {
        frozenset({"terminal_observation", "TimeLimit.truncated", "episode"})
    }
    assert {type(info["terminal_observation"][0]) for info in told} == {np.float32}
    assert len(model.ep_info_buffer) == min(len(told), 100)
    assert {"r", "l", "t"} == set(model.ep_info_buffer[0])


def test_arrays_of_a_step_are_not_written_again() -> None:
    env = make_env()
    env.reset()
    first = env.step(first_legal(env))
    kept = [array.copy() for array in first[:3]]
    for _ in range(5):
        env.step(first_legal(env))
    for array, copy in zip(first[:3], kept, strict=True):
        assert (array == copy).all()


def test_rewards_tell_who_won() -> None:
    """Against the rewards of the core itself: a table of one game replayed by hand."""
    env = make_env(num_envs=1, seed=5)
    env.reset()
    for _ in range(300):
        seat = env.learner.copy()
        before = env.opponents.wins.sum(), env.opponents.rounds.sum()
        _, rewards, dones, _ = env.step(first_legal(env))
        won = env.opponents.wins.sum() - before[0]
        if dones[0]:
            assert env.opponents.rounds.sum() == before[1] + 1
            assert (rewards[0] > 0) == (won == 1)
            assert env.learner[0] == (seat[0] + 1) % 2, "the learner moves on by a seat"


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_a_share_of_points_is_paid_in_hundreds(share: float) -> None:
    """The same play pays (1 - share) of winning and the share of what was gained on the others."""
    plain, env = make_env(players=3), make_env(players=3, objective=Objective(share))
    plain.reset(), env.reset()
    seen = 0
    for _ in range(150):
        actions = first_legal(env)
        _, wins, dones, _ = plain.step(actions)
        _, rewards, also, infos = env.step(actions)
        assert (dones == also).all()
        for row in np.flatnonzero(dones & (wins != 0)):
            points = (rewards[row] - (1 - share) * wins[row]) / np.sqrt(2) * 100 / share
            # Three halves of what is above the mean: whole or half points, of the winner's sign.
            assert np.isclose(points * 2, np.round(points * 2), atol=0.01)
            assert points * wins[row] > 0
            assert infos[row]["episode"]["r"] == pytest.approx(rewards[row])
            seen += 1
    assert seen > 20


def test_who_gains_points_without_winning_has_not_won() -> None:
    """Wins are counted by who went out, whatever the rewards are of."""
    plain, env = make_env(), make_env(objective=Objective(1.0))
    plain.reset(), env.reset()
    for _ in range(200):
        actions = first_legal(env)
        plain.step(actions), env.step(actions)
    assert plain.opponents.rounds.sum() > 20
    assert (plain.opponents.wins == env.opponents.wins).all()


def test_long_rounds_are_truncated() -> None:
    env = make_env(max_decisions=8)
    env.reset()
    cut = 0
    for _ in range(40):
        _, rewards, dones, infos = env.step(first_legal(env))
        for i in np.flatnonzero(dones):
            if infos[i]["TimeLimit.truncated"]:
                cut += 1
                assert rewards[i] == 0
    assert cut > 20


def test_masks_reach_sb3_as_one_block() -> None:
    env = make_env()
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (1, 16, 84)
    assert (masks[0] == env.batch.legal).all()
    with pytest.raises(AttributeError, match="no method 'render_all'"):
        env.env_method("render_all")


def test_tables_are_reproducible_from_the_seed() -> None:
    runs = []
    for _ in range(2):
        env = make_env(seed=11)
        total = [env.reset()]
        for _ in range(60):
            total.append(env.step(first_legal(env))[0])
        runs.append(np.stack(total))
    assert (runs[0] == runs[1]).all()


def test_exported_and_trained_policies_prefer_the_same_actions() -> None:
    torch.manual_seed(0)
    env = make_env()
    policy = ActionScoringPolicy(
        env.observation_space, env.action_space, lambda _: 1e-3, net_arch=[16]
    )
    for parameter in policy.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    exported = export_policy(policy, env.batch.rules)
    batch = GameBatch(Rules.preset("angry_birds", num_players=5), 500, seed=4)
    rng = np.random.default_rng(0)
    keen = make_agent("keen")
    for _ in range(25):
        batch.step(keen.act(batch.observe(), batch.legal, rng))
    seen, mask = batch.observe()[~batch.done], batch.legal[~batch.done]
    with torch.no_grad():
        chances = policy.get_distribution(torch.as_tensor(seen), mask).distribution.logits.numpy()
    logits = exported.logits(seen, mask)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(logits[mask], chances[mask], rtol=1e-3, atol=1e-3)
    chosen, _ = policy.predict(seen, deterministic=True, action_masks=mask)
    assert (exported.act(seen, mask) == chosen).mean() > 0.99


def test_the_pool_takes_past_selves_and_makes_room() -> None:
    rng = np.random.default_rng(0)
    pool = OpponentPool([make_agent("keen")], past_share=1.0, max_past=2)
    assert (pool.choose(50, rng) == 0).all()
    for _ in range(5):
        pool.add_past(make_agent("greedy"), rng)
    assert len(pool.agents) == 3
    chosen = pool.choose(200, rng)
    assert set(chosen) == {1, 2}
    pool.record(np.array([1, 1, 2]), np.array([True, False, True]))
    assert pool.rounds.tolist() == [0, 2, 1]
    assert pool.wins.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="agents is empty"):
        OpponentPool([], past_share=0.5, max_past=2)


def test_few_past_selves_play_at_a_time_and_take_turns() -> None:
    rng = np.random.default_rng(0)
    pool = OpponentPool([make_agent("keen")], past_share=1.0, max_past=5, present_past=2)
    seen: set[int] = set()
    for taken_in in range(1, 40):
        pool.add_past(make_agent("greedy"), rng)
        present = set(pool.choose(200, rng).tolist())
        assert len(present) == min(taken_in, 2)
        seen |= present
    assert seen == {1, 2, 3, 4, 5}


SMALL = {
    "total_timesteps": 512,
    "num_envs": 32,
    "num_steps": 4,
    "batch_size": 64,
    "num_epochs": 2,
    "hidden": 8,
    "past_every": 1,
    "checkpoint_every": 2,
    "eval_deals": 4,
    "eval_every": 2,
    "eval_opponents": ("keen", "greedy"),
}


TINY = {**SMALL, "total_timesteps": 32, "num_envs": 8, "batch_size": 32, "num_epochs": 1}


def test_a_small_run_writes_its_folder_and_plays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    path = train(Arguments(out=run, rules="classic", num_players=3, **SMALL))
    assert path == run / "policy.safetensors"
    arguments = json.loads((run / "arguments.json").read_text())
    assert arguments["rules"] == ["classic"]
    assert arguments["total_timesteps"] == 512
    policy = Policy.load(path)
    assert policy.rules == Rules.preset("classic", num_players=3)
    assert policy.training["timesteps"] in (256, 384, 512)
    assert (run / "checkpoints" / f"{512:012d}").is_dir()
    assert any((run / "tensorboard").iterdir())
    batch = GameBatch(policy.rules, 20)
    actions = PolicyAgent(policy).act(batch.observe(), batch.legal, np.random.default_rng(0))
    batch.check(actions)

    with pytest.raises(FileExistsError, match="exists: name another with --out"):
        train(Arguments(out=run, **SMALL))
    assert json.loads((run / "arguments.json").read_text()) == arguments


def test_small_runs_are_reproducible(tmp_path: Path) -> None:
    policies = [
        Policy.load(train(Arguments(out=tmp_path / str(i), seed=seed, torch_threads=1, **SMALL)))
        for i, seed in enumerate((3, 3, 4))
    ]
    weights = [policy.weights["second.weight"] for policy in policies]
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()


def test_tables_mix_rules_and_numbers_of_players_by_shares() -> None:
    arguments = Arguments(
        rules=("angry_birds", "classic"), num_players=(2, 5), shares=(4, 2, 1, 1), num_envs=19
    )
    pool = ppo.make_pool(arguments)
    tables = ppo.make_tables(arguments, pool)
    found = [(block.batch.rules, block.num_envs) for block in tables.blocks]
    assert found == [
        (Rules.preset("angry_birds", num_players=2), 10),
        (Rules.preset("angry_birds", num_players=5), 5),
        (Rules.preset("classic", num_players=2), 2),
        (Rules.preset("classic", num_players=5), 2),
    ]
    streams = np.concatenate([block.batch.state.stream for block in tables.blocks])
    assert len(set(streams.tolist())) == 19, "tables deal the same cards"
    assert Arguments(num_players=(2, 3, 4), num_envs=8).tables_of_each_kind() == [3, 3, 2]


def test_presets_are_arguments_that_fit() -> None:
    assert ppo.preset("quick", out="x") == Arguments(out="x")
    steps = [ppo.preset(name, seed=7).total_timesteps for name in ("quick", "standard", "long")]
    assert steps == sorted(set(steps))
    with pytest.raises(ValueError, match="unknown preset 'slow': known are quick, standard, long"):
        ppo.preset("slow")


def test_arguments_are_the_same_after_json() -> None:
    arguments = Arguments(num_players=(2, 3), shares=(0.5, 1), opponents=("keen",), patience=3)
    assert Arguments(**json.loads(json.dumps(arguments.as_json()))) == arguments


def test_rules_may_say_the_number_of_players(tmp_path: Path) -> None:
    path = train(Arguments(out=str(tmp_path / "run"), rules="classic num_players=4", **TINY))
    assert Policy.load(path).rules.num_players == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_envs": 0}, "num_envs=0: allowed is a whole number from 1"),
        ({"num_envs": 8.5}, r"num_envs=8\.5: allowed is a whole number from 1"),
        ({"num_envs": True}, "num_envs=True: allowed is a whole number from 1"),
        ({"seed": -1}, "seed=-1: allowed is a whole number from 0 to 4,294,967,295"),
        ({"seed": 2**32}, "seed=4294967296: allowed is a whole number from 0 to 4,294,967,295"),
        ({"hidden": 5_000}, "hidden=5000: allowed is a whole number from 1 to 4,096"),
        ({"torch_threads": 100_000}, "torch_threads=100000: allowed is a whole number from 1"),
        ({"learning_rate": 0}, "learning_rate=0: allowed is a finite number above 0"),
        ({"learning_rate": math.nan}, "learning_rate=nan: allowed is a finite number above 0"),
        ({"learning_rate": math.inf}, "learning_rate=inf: allowed is a finite number above 0"),
        ({"clip_range": math.nan}, "clip_range=nan: allowed is a finite number above 0"),
        ({"ent_coef": math.nan}, "ent_coef=nan: allowed is a finite number"),
        ({"ent_coef": "0"}, "ent_coef='0': allowed is a finite number"),
        ({"batch_size": 1}, "batch_size=1: allowed is a whole number from 2"),
        (
            {"batch_size": 31, "num_envs": 8, "num_steps": 4},
            "batch_size=31 leaves 1 of the 32 choices of an update",
        ),
        ({"num_envs": 1, "num_steps": 1}, "leaves 1 of the 1 choices"),
        ({"rules": Rules()}, "allowed is text such as 'classic'"),
        ({"opponents": "greedy"}, "opponents='greedy': allowed is a sequence"),
        ({"opponents": (5,)}, r"opponents=\(5,\): allowed is a sequence"),
        ({"past_share": 1.5}, "past_share=1.5: allowed is a number from 0 to 1"),
        ({"opponents": ()}, "opponents is empty"),
        ({"opponents": ("genius",)}, "unknown agent 'genius'"),
        ({"rules": "chess"}, "unknown preset 'chess'"),
        ({"rules": ()}, "rules is empty"),
        ({"rules": ("classic", "classic")}, "allowed is each once"),
        ({"num_players": (2, 2)}, r"num_players=\(2, 2\): allowed is each once"),
        ({"shares": (1, 2)}, r"shares=\(1, 2\): allowed are 1, one for each kind of table"),
        ({"num_players": (2, 3), "shares": (1, -2)}, "shares=-2: allowed is a finite number above"),
        ({"num_players": (2, 3), "num_envs": 1}, "num_envs=1 is too few for 2 kinds of tables"),
        ({"num_players": (2, 3), "shares": (1, 1e9)}, "too few for 2 kinds of tables"),
        ({"opponent_weighting": "soft"}, "weighting='soft': allowed is one of hard, equals, even"),
        ({"opponent_power": 11}, "opponent_power=11: allowed is a number from 0 to 10"),
        ({"eval_deals": 1}, "eval_deals=1: allowed is a whole number from 2"),
        ({"eval_opponents": ("genius",)}, "unknown agent 'genius'"),
        ({"patience": 0}, "patience=0: allowed is a whole number from 1"),
        ({"num_players": 11}, "num_players=11"),
        (
            {"rules": "classic num_players=4", "num_players": 2},
            "rules for 4 players at a table of 2",
        ),
    ],
)
def test_wrong_arguments_leave_nothing_behind(tmp_path: Path, wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(Arguments(out=tmp_path / "run", **wrong))
    assert not (tmp_path / "run").exists()


# --- Command line --------------------------------------------------------------------------------

TINY_OPTIONS = ["--total-timesteps", "64", "--num-envs", "8", "--num-steps", "4", "--hidden", "8"]


def run_main(monkeypatch: pytest.MonkeyPatch, *options: object) -> int:
    command = ["ppo", *TINY_OPTIONS, "--batch-size", "32", *map(str, options)]
    monkeypatch.setattr(sys, "argv", command)
    return ppo.main()


def test_command_trains_and_plays_the_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--out", tmp_path / "run", "--rules", "classic num_players=3")
    assert run_main(monkeypatch, *options, "--benchmark-deals", 2) == 0
    out, err = capsys.readouterr()
    assert f"The policy is in {tmp_path / 'run' / 'policy.safetensors'}" in out
    assert "classic, 3 players: 2 deals" in out
    assert not err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "/dev/null/run"), "Not a directory"),
        (("--out", "."), "exists: name another with --out"),
        (("--opponents", "genius"), "unknown agent 'genius'"),
        (("--opponents", "no.safetensors"), "no policy file at no.safetensors"),
    ],
)
def test_command_that_cannot_start_says_why_in_a_line(
    options: tuple[object, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_main(monkeypatch, *options) == 2
    err = capsys.readouterr().err
    assert err.startswith("python -m train.ppo: ")
    assert message in err
    assert err.count("\n") == 1


def test_command_refuses_arguments_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        run_main(monkeypatch, "--out", tmp_path / "run", "--seed", -1)
    assert caught.value.code == 2
    assert "seed=-1: allowed is a whole number from 0" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("every", [1, 9])
def test_command_can_be_interrupted(
    every: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    calls = []

    def interrupt(self: ppo.Recorder) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(ppo.Recorder, "_on_rollout_end", interrupt)
    run = tmp_path / "run"
    options = ("--out", run, "--checkpoint-every", every, "--eval-deals", 2)
    assert run_main(monkeypatch, *options) == 130
    err = capsys.readouterr().err
    kept = f"go on from the last checkpoint with --resume {run}"
    expected = kept if every == 1 else "no checkpoint yet"
    assert err == f"python -m train.ppo: interrupted: {expected}\n"
