"""Tables for training: blocks side by side, all there is to see, and put away and taken out."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from agents import Agent, make_agent
from eval.answers import AgentError
from train.opponents import OpponentPool
from train.vec_env import FULL_HIGH, MixedTables, TableVecEnv
from uno_env import Rules
from uno_env.game.observation import FULL_SIZE, HIGH, LAYOUT, OBSERVATION_SIZE

GROUPS = (("angry_birds", 2, 5), ("angry_birds", 4, 3), ("classic", 3, 4))


class Fails(Agent):
    """Plays like `keen`, and raises when no calls are left."""

    name = "fails"
    calls_left = 10**9

    def act(self, observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> object:
        assert observation.shape[1] == OBSERVATION_SIZE, "it was told more than it may know"
        self.calls_left -= 1
        if self.calls_left < 0:
            raise KeyError("lost")
        return make_agent("keen").act(observation, mask, rng)


def make_mixed(agent: Agent | str = "keen", **options: object) -> MixedTables:
    pool = OpponentPool([agent, "greedy"], past_share=0.5, max_past=2)
    return MixedTables(
        [
            TableVecEnv(Rules.preset(name, num_players=players), number, pool, seed=i, **options)
            for i, (name, players, number) in enumerate(GROUPS)
        ]
    )


def first_legal(env: MixedTables | TableVecEnv) -> np.ndarray:
    return env.masks().argmax(axis=1)


def rounds_and_positions(env: MixedTables) -> list[object]:
    return [
        *(block.batch.position(i) for block in env.blocks for i in range(block.num_envs)),
        *(array.tolist() for array in env.opponents.counts()),
        *(block.rng.bit_generator.state for block in env.blocks),
    ]


def test_blocks_are_as_they_would_be_alone() -> None:
    """Without past selves or counts that decide, a block knows nothing of the others."""
    mixed, apart = make_mixed(), make_mixed()
    assert mixed.num_envs == 12
    first = mixed.reset()
    assert (first == np.concatenate([block.reset() for block in apart.blocks])).all()
    ended = 0
    for _ in range(60):
        actions = first_legal(mixed)
        assert (mixed.masks()[np.arange(12), actions]).all()
        observation, rewards, dones, infos = mixed.step(actions)
        parts = [
            block.step(own)
            for block, own in zip(apart.blocks, np.split(actions, [5, 8]), strict=True)
        ]
        for i, whole in enumerate((observation, rewards, dones)):
            assert (whole == np.concatenate([part[i] for part in parts])).all()
        assert [bool(info) for info in infos] == dones.tolist()
        ended += dones.sum()
    assert ended > 12
    players = LAYOUT["num_players"]
    seats = observation[:, players].argmax(axis=1) + 2
    assert seats.tolist() == [2] * 5 + [4] * 3 + [3] * 4
    for table in np.flatnonzero(dones):
        win = np.sqrt(seats[table] - 1)
        assert np.isclose(rewards[table], [win, -win / (seats[table] - 1)]).any()


def test_where_a_later_block_fails_the_earlier_ones_are_as_before() -> None:
    agent = Fails()
    env, twin = make_mixed(agent), make_mixed(Fails())
    agent.calls_left = 1
    with pytest.raises(AgentError):
        env.reset()
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(12, np.intp))
    agent.calls_left = 10**9
    assert (env.reset() == twin.reset()).all()
    failed = 0
    for _ in range(10):
        before, actions = rounds_and_positions(env), first_legal(env)
        for calls in range(100):
            agent.calls_left = calls
            try:
                ours = env.step(actions)
            except AgentError:
                failed += 1
                assert rounds_and_positions(env) == before
            else:
                break
        for one, other in zip(ours[:3], twin.step(actions)[:3], strict=True):
            assert (one == other).all()
    assert failed > 20


def test_wrong_actions_and_blocks_are_refused() -> None:
    env = make_mixed()
    env.reset()
    before, actions = rounds_and_positions(env), first_legal(env)
    illegal = actions.copy()
    illegal[6] = env.blocks[1].masks()[1].argmin()
    with pytest.raises(ValueError, match=r"^block 1: illegal action .* of game 1"):
        env.step(illegal)
    with pytest.raises(ResetNeeded, match="no actions to play"):
        env.step_wait()
    with pytest.raises(ValueError, match=r"shape \(11,\): allowed is \(12,\)"):
        env.step(actions[:11])
    assert rounds_and_positions(env) == before
    with pytest.raises(ValueError, match="blocks is empty"):
        MixedTables([])
    with pytest.raises(ValueError, match="one pool for all"):
        MixedTables([env.blocks[0], make_mixed().blocks[1]])
    full = TableVecEnv(Rules(), 2, env.opponents, full_information=True)
    with pytest.raises(ValueError, match="more or less"):
        MixedTables([env.blocks[0], full])


def test_full_information_adds_the_true_hands_and_changes_nothing_else() -> None:
    full, plain = make_mixed(Fails(), full_information=True), make_mixed(Fails())
    assert full.observation_space.shape == (FULL_SIZE,)
    one, other = full.reset(), plain.reset()
    ends = 0
    for _ in range(80):
        assert full.observation_space.contains(one[0])
        assert (one <= FULL_HIGH).all()
        assert (one[:, : len(HIGH)] == other).all()
        block = full.blocks[1]
        assert (one[5:8] == block.batch.observe_all()).all()
        actions = first_legal(plain)
        one, rewards, dones, infos = full.step(actions)
        other, plain_rewards, _, plain_infos = plain.step(actions)
        assert (rewards == plain_rewards).all()
        for table in np.flatnonzero(dones):
            last = infos[table]["terminal_observation"]
            assert last.shape == (FULL_SIZE,)
            assert (last[: len(HIGH)] == plain_infos[table]["terminal_observation"]).all()
            ends += 1
    assert ends > 10


def test_tables_go_on_from_where_they_were_put_away() -> None:
    env = make_mixed()
    env.reset()
    for _ in range(20):
        env.step(first_legal(env))
    arrays, chance = env.saved()
    counts = copy.deepcopy(env.opponents.counts())
    other = make_mixed()
    other.restore(arrays, chance)
    for array, count in zip(other.opponents.counts(), counts, strict=True):
        array[:] = count
    for _ in range(20):
        assert (env.observe() == other.observe()).all()
        actions = first_legal(env)
        for ours, theirs in zip(env.step(actions)[:3], other.step(actions)[:3], strict=True):
            assert (ours == theirs).all()
    assert rounds_and_positions(env) == rounds_and_positions(other)
    with pytest.raises(ValueError, match=r"array hands is .* needed is"):
        env.blocks[0].restore(other.blocks[1].saved()[0], chance[:1])
