"""Self-play: against a slow loop over the AEC environment, ends and rewards, advantages, misuse."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

import uno_env
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.selfplay import Trajectories, collect_rounds

PRESETS = ["angry_birds", "classic", "official"]
WEIGHTS = np.random.default_rng(0).integers(1, 2**31, OBSERVATION_SIZE)
RNG = np.random.default_rng(0)


def by_observation(
    observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator | None = None
) -> np.ndarray:
    """A legal action that looks random but follows from what the seat sees; draws are rare."""
    noise = observation.astype(np.int64) @ WEIGHTS
    preference = noise[:, None] * (2 * np.arange(NUM_ACTIONS) + 1) % 1009
    preference[:, [Action.DRAW, Action.KEEP]] //= 1009
    return np.where(mask, preference, -1).argmax(axis=1)


def make(
    preset: str = "angry_birds", players: int = 2, games: int = 12, seed: int = 7
) -> GameBatch:
    return GameBatch(Rules.preset(preset, num_players=players), games, seed)


# ---------------------------------------------------------------------- the same, slowly


def aec_round(
    rules: Rules, seed: int, reward: str, max_cycles: int, skip_forced: bool
) -> tuple[list[list[dict[str, Any]]], list[float]]:
    """A round played one decision at a time: each seat's transitions, and what each seat earned."""
    env = uno_env.env(rules, reward=reward, max_cycles=max_cycles)
    env.reset(seed=seed)
    seen: list[list[dict[str, Any]]] = [[] for _ in env.possible_agents]
    earned = [0.0] * len(seen)
    decision = 0
    for agent in env.agent_iter():
        seat = env.possible_agents.index(agent)
        observation, gained, terminated, truncated, _ = env.last()
        earned[seat] += gained
        if seen[seat]:
            seen[seat][-1]["reward"] += gained
            seen[seat][-1]["terminated"] = terminated
            seen[seat][-1]["truncated"] = truncated
        if terminated or truncated:
            env.step(None)
            continue
        mask = observation["action_mask"] == 1
        action = int(by_observation(observation["observation"][None], mask[None])[0])
        if mask.sum() > 1 or not skip_forced:
            seen[seat].append(
                {
                    "observation": observation["observation"],
                    "mask": mask,
                    "action": action,
                    "reward": 0.0,
                    "decision": decision,
                    "seat": seat,
                }
            )
        env.step(action)
        decision += 1
    return seen, earned


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("players", "reward", "max_cycles"),
    [(2, "win", 2_000), (3, "points", 2_000), (4, "win", 45), (10, "points", 150)],
)
def test_rounds_equal_those_of_the_aec_environment(
    preset: str, players: int, reward: str, max_cycles: int, skip_forced: bool
) -> None:
    batch = make(preset, players, games=6)
    data = collect_rounds(
        batch, by_observation, RNG, reward=reward, max_cycles=max_cycles, skip_forced=skip_forced
    )
    row = 0
    for game in range(6):
        seats, earned = aec_round(batch.rules, 7 + game, reward, max_cycles, skip_forced)
        np.testing.assert_allclose(data.rewards[game], earned, rtol=1e-6)
        for trajectory in seats:
            for step in trajectory:
                for name, value in step.items():
                    np.testing.assert_array_equal(getattr(data, name)[row], value, err_msg=name)
                assert data.game[row] == game
                row += 1
    assert row == len(data)


# ---------------------------------------------------------------------- what is promised


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", range(2, 11))
def test_every_seat_is_rewarded_and_no_trajectory_mixes_seats(preset: str, players: int) -> None:
    batch = make(preset, players, games=20)
    replayed = batch.copy()
    data = collect_rounds(batch, by_observation, RNG, max_cycles=400, skip_forced=False)
    over = batch.done
    assert over.any()

    np.testing.assert_allclose(data.rewards.sum(axis=1), 0, atol=1e-6)
    won = batch.winner[over]
    losses = np.where(np.arange(players) == won[:, None], 1, -1 / (players - 1))
    np.testing.assert_allclose(data.rewards[over], losses, rtol=1e-6)
    assert not data.rewards[~over].any()

    # The batch played by itself: who acts when, and what is to be seen.
    by_time = np.lexsort((data.game, data.decision))
    at = 0
    while not replayed.done.all() and at < len(data):
        live = (~replayed.done).nonzero()[0]
        rows = by_time[at : at + live.size]
        np.testing.assert_array_equal(data.game[rows], live)
        np.testing.assert_array_equal(data.seat[rows], replayed.player[live])
        np.testing.assert_array_equal(data.observation[rows], replayed.observe(where=live))
        np.testing.assert_array_equal(data.mask[rows], replayed.legal_of(live))
        replayed.step(data.action[rows], live)
        at += live.size
    assert at == len(data)
    np.testing.assert_array_equal(replayed.done, over)

    # Trajectories stand one after the other, each of one seat of one game, in order of time.
    inside = ~data.done[:-1]
    for name in ("game", "seat"):
        np.testing.assert_array_equal(np.diff(getattr(data, name))[inside], 0)
    assert (np.diff(data.decision)[inside] > 0).all()
    ends = data.done.nonzero()[0]
    pairs = list(zip(data.game[ends], data.seat[ends], strict=True))
    assert pairs == sorted(set(pairs))
    assert data.done[-1]
    np.testing.assert_array_equal(data.terminated[ends], over[data.game[ends]])
    np.testing.assert_array_equal(data.truncated[ends], ~over[data.game[ends]])
    assert not data.reward[~data.done].any()
    np.testing.assert_array_equal(data.reward[ends], data.returns[ends])


def test_forced_decisions_are_played_and_may_be_left_out() -> None:
    asked = []

    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        asked.append(mask.sum(axis=1))
        return by_observation(observation, mask)

    whole = collect_rounds(make(), act, RNG, skip_forced=False)
    assert (np.concatenate(asked) == 1).any()
    asked.clear()
    short = collect_rounds(make(), act, RNG)
    assert (np.concatenate(asked) > 1).all()
    free = whole.mask.sum(axis=1) > 1
    assert len(short) == free.sum() == sum(map(len, asked))
    for name in ("observation", "mask", "action", "game", "seat", "decision", "returns"):
        np.testing.assert_array_equal(getattr(short, name), getattr(whole, name)[free])
    np.testing.assert_array_equal(short.rewards, whole.rewards)


def test_a_round_that_is_cut_off_is_truncated_and_can_be_played_on() -> None:
    batch = make(games=50)
    data = collect_rounds(batch, by_observation, RNG, max_cycles=30, skip_forced=False)
    cut = ~batch.done
    assert cut.any()
    assert (~cut).any()
    assert (data.decision < 30).all()
    np.testing.assert_array_equal(np.bincount(data.game)[cut], 30)
    assert set(data.game[data.truncated]) == set(cut.nonzero()[0])
    assert not (data.terminated & data.truncated).any()
    assert not data.returns[cut[data.game]].any()
    rest = collect_rounds(batch, by_observation, RNG, skip_forced=False)
    assert set(rest.game) == set(cut.nonzero()[0])
    assert not rest.rewards[~cut].any()
    whole = make(games=50)
    uncut = collect_rounds(whole, by_observation, RNG, skip_forced=False)
    np.testing.assert_array_equal(data.rewards + rest.rewards, uncut.rewards)
    assert len(data) + len(rest) == len(uncut)


def test_a_blocked_round_ends_without_reward() -> None:
    table = Position.from_case(
        {"rules": "official", "hands": ["W Y1 Y2", "G1 G2"], "discard": "G7"}
    )
    batch = GameBatch(table.rules)
    batch.load(0, table)

    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        wild = ACTIONS.index("W:R")
        return np.where(mask[:, wild], wild, Action.DRAW)

    data = collect_rounds(batch, act, RNG, skip_forced=False)
    assert data.action.tolist() == [ACTIONS.index("W:R"), Action.DRAW]
    assert data.seat.tolist() == [0, 1]
    assert data.terminated.all()
    assert not data.truncated.any()
    assert not data.rewards.any()


@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_seat_without_a_decision_is_rewarded_too(reward: str) -> None:
    table = Position.from_case(
        {"hands": ["R5", "B2 B3", "B4 B5 G1"], "discard": "R9", "draw": "Y1"}
    )
    batch = GameBatch(table.rules)
    batch.load(0, table)

    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.full(len(mask), ACTIONS.index("R5"))

    data = collect_rounds(batch, act, RNG, reward=reward)
    assert data.seat.tolist() == [0]
    expected = [1, -0.5, -0.5] if reward == "win" else [15, -7.5, -7.5]
    np.testing.assert_allclose(data.rewards, [expected])
    np.testing.assert_allclose(data.reward, expected[:1])


def test_a_round_in_which_everything_is_forced_has_no_rows() -> None:
    table = Position.from_case({"rules": "classic", "hands": ["R5", "B2 B3"], "discard": "R9"})
    batch = GameBatch(table.rules)
    batch.load(0, table)
    data = collect_rounds(batch, by_observation, RNG)
    assert data.rewards.tolist() == [[1, -1]]
    assert len(data) == 0
    assert data.observation.shape == (0, OBSERVATION_SIZE)
    assert data.mask.shape == (0, NUM_ACTIONS)
    assert data.gae(np.zeros(0)).shape == data.returns.shape == (0,)


def test_extras_stay_beside_their_rows() -> None:
    memory = np.zeros((100, 2))

    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Any:
        memory[: len(mask), 0] = observation.sum(axis=1)
        memory[: len(mask), 1] = mask.sum(axis=1)
        sums = memory[: len(mask)]  # the same memory in each call
        answer = by_observation(observation, mask)
        chosen = {"sums": sums, "action": answer.tolist()}
        observation[:], mask[:] = 0, True  # changes nothing
        return answer, chosen

    data = collect_rounds(make(players=3), act, RNG)
    sums = np.stack([data.observation.sum(axis=1), data.mask.sum(axis=1)], axis=1)
    np.testing.assert_array_equal(data.extras["sums"], sums)
    np.testing.assert_array_equal(data.extras["action"], data.action)
    assert data.mask[np.arange(len(data)), data.action].all()


def test_tensors_are_taken_for_arrays() -> None:
    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Any:
        actions = torch.as_tensor(by_observation(observation, mask))
        return actions, {"value": torch.full((len(mask),), 0.25)}

    data = collect_rounds(make(), act, RNG)
    np.testing.assert_array_equal(data.action, by_observation(data.observation, data.mask))
    assert data.extras["value"].dtype == np.float32
    assert (data.extras["value"] == 0.25).all()
    advantages = data.gae(torch.as_tensor(data.extras["value"]), lam=1)
    np.testing.assert_array_equal(advantages, data.returns - 0.25)


# ---------------------------------------------------------------------- advantages


def slow_gae(
    data: Trajectories, value: np.ndarray, gamma: float, lam: float, final: np.ndarray
) -> np.ndarray:
    """Over each seat's decisions by themselves, from their definition."""
    advantage = np.zeros(len(data))
    finals = iter(final)
    for game, seat in sorted(set(zip(data.game, data.seat, strict=True))):
        rows = [t for t in range(len(data)) if (data.game[t], data.seat[t]) == (game, seat)]
        after = next(finals) if data.truncated[rows[-1]] else 0.0
        values = [*value[rows], after]
        errors = [data.reward[t] + gamma * values[k + 1] - values[k] for k, t in enumerate(rows)]
        for k, t in enumerate(rows):
            advantage[t] = sum((gamma * lam) ** j * error for j, error in enumerate(errors[k:]))
    return advantage


def test_advantages_are_estimated_within_trajectories() -> None:
    batch = make(players=3)
    data = collect_rounds(batch, by_observation, RNG, max_cycles=60)
    assert data.truncated.any()
    assert data.terminated.any()
    rng = np.random.default_rng(1)
    value, final = rng.normal(size=len(data)), rng.normal(size=int(data.truncated.sum()))
    for gamma, lam in ((1.0, 0.95), (0.9, 0.8), (1.0, 1.0), (0.99, 0.0)):
        np.testing.assert_allclose(
            data.gae(value, gamma=gamma, lam=lam, final_value=final),
            slow_gae(data, value, gamma, lam, final),
            rtol=1e-4,
            atol=1e-5,
        )
    plain = data.gae(np.zeros(len(data)), lam=1)
    np.testing.assert_array_equal(plain, data.returns)
    last_seen = batch.observe(data.seat[data.truncated], data.game[data.truncated])
    assert len(last_seen) == len(final)


def test_values_of_another_shape_are_refused() -> None:
    data = collect_rounds(make(), by_observation, RNG, max_cycles=20)
    zeros = np.zeros(len(data))
    with pytest.raises(ValueError, match=rf"value has the shape \({len(data)}, 1\).*\(\d+,\)"):
        data.gae(zeros[:, None])
    with pytest.raises(ValueError, match=r"final_value has the shape \(1000,\)"):
        data.gae(zeros, final_value=np.zeros(1000))


# ---------------------------------------------------------------------- misuse


def late(wrong: Any) -> Any:
    """A policy that errs in its fifth call."""
    calls = []

    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Any:
        calls.append(1)
        answer = by_observation(observation, mask)
        return wrong(answer, mask) if len(calls) == 5 else answer

    return act


def illegal_in_row_two(answer: np.ndarray, mask: np.ndarray) -> np.ndarray:
    answer[2] = mask[2].argmin()
    return answer


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (illegal_in_row_two, ValueError, r"illegal action .* of game \d+: ."),
        (lambda answer, mask: answer + 84, ValueError, r"action \d+ of game \d+: .*from 0 to 83"),
        (lambda answer, mask: answer[1:], ValueError, r"actions have the shape \(\d+,\): allowed"),
        (
            lambda answer, mask: answer[:, None],
            ValueError,
            r"shape \(\d+, 1\): allowed is \(\d+,\)",
        ),
        (lambda answer, mask: answer / 2, TypeError, "must be integers, not float64"),
        (lambda answer, mask: None, TypeError, "must be integers, not object"),
        (lambda answer, mask: (answer, answer), TypeError, "ndarray beside its actions"),
        (
            lambda answer, mask: (answer, {"value": mask[1:]}),
            ValueError,
            r"gave \['value'\] beside its actions, and \[\] before",
        ),
        (lambda answer, mask: (answer, answer, answer), ValueError, r"the shape \(3, \d+\)"),
        (lambda answer, mask: 1 / 0, ZeroDivisionError, "division"),
    ],
)
def test_a_wrong_answer_is_refused_and_changes_nothing(
    wrong: Any, error: type[Exception], message: str
) -> None:
    batch = make(games=8)
    before = [batch.position(game) for game in range(8)]
    with pytest.raises(error, match=message):
        collect_rounds(batch, late(wrong), RNG)
    assert [batch.position(game) for game in range(8)] == before
    again = collect_rounds(batch, by_observation, RNG)
    np.testing.assert_array_equal(
        again.action, collect_rounds(make(games=8), by_observation, RNG).action
    )


def test_extras_have_a_row_for_each_observation() -> None:
    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Any:
        return by_observation(observation, mask), {"value": 0.5}

    with pytest.raises(ValueError, match=r"'value' of the shape \(\): needed are \d+ rows"):
        collect_rounds(make(), act, RNG)


@pytest.mark.parametrize(
    "later",
    [lambda number: np.zeros((number, 2)), lambda number: np.zeros((number, 1), np.int64)],
)
def test_extras_are_alike_in_all_calls(later: Any) -> None:
    calls = 0

    def act(observation: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> Any:
        nonlocal calls
        calls += 1
        value = np.zeros((len(mask), 1)) if calls < 5 else later(len(mask))
        return by_observation(observation, mask), {"value": value}

    batch = make()
    before = batch.position(0)
    with pytest.raises(
        ValueError, match=r"act gave 'value' as .* and as float64 in rows of \(1,\)"
    ):
        collect_rounds(batch, act, RNG)
    assert batch.position(0) == before


def test_arguments_are_checked() -> None:
    batch = make()
    with pytest.raises(TypeError, match="act=None: allowed is something that can be called"):
        collect_rounds(batch, None, RNG)  # type: ignore[arg-type]
    for settings, error, message in (
        ({"reward": "score"}, ValueError, "reward='score': allowed is 'win' or 'points'"),
        ({"max_cycles": 0}, ValueError, "max_cycles=0: allowed is a whole number from 1"),
        ({"max_cycles": None}, TypeError, "max_cycles=None"),
    ):
        with pytest.raises(error, match=re.escape(message)):
            collect_rounds(batch, by_observation, RNG, **settings)
    with pytest.raises(TypeError, match="batch='classic': allowed is a GameBatch"):
        collect_rounds("classic", by_observation, RNG)
    collect_rounds(batch, by_observation, RNG)
    with pytest.raises(ValueError, match="every round is over: deal with next_round or reset"):
        collect_rounds(batch, by_observation, RNG)
