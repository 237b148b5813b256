"""The network in torch: what it computes, what it may see, and how a learner starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from agents import make_agent
from train.network import ActionScoringPolicy, Choices, Scorer, export_policy
from train.ppo import Arguments, make_learner, make_pool, make_tables, train
from train.start import prepare, sample_choices, warm_start
from uno_env import GameBatch, Rules
from uno_env.game.actions import Action
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.policy import Policy

KINDS = [Rules.preset("angry_birds", num_players=n) for n in (2, 4)]
SMALL = {
    "num_players": (2, 3),
    "num_envs": 8,
    "num_steps": 8,
    "batch_size": 32,
    "num_epochs": 1,
    "hidden": 8,
    "torch_threads": 1,
    "opponents": ("keen",),
    "eval_opponents": ("keen",),
    "eval_deals": 2,
    "total_timesteps": 192,
}


def a_policy(tmp_path: Path, **more) -> ActionScoringPolicy:
    arguments = Arguments(**{**SMALL, "out": tmp_path / "run", **more})
    model = make_learner(make_tables(arguments, make_pool(arguments)), arguments)
    assert isinstance(model.policy, ActionScoringPolicy)
    return model.policy


def random_weights(policy: ActionScoringPolicy) -> None:
    torch.manual_seed(1)
    for parameter in policy.parameters():
        torch.nn.init.normal_(parameter, std=0.3)


@pytest.fixture
def policy(tmp_path: Path) -> ActionScoringPolicy:
    policy = a_policy(tmp_path)
    random_weights(policy)
    return policy


def test_weights_come_back_as_they_were_whatever_is_standard() -> None:
    torch.manual_seed(0)
    one, other = Scorer(8), Scorer(8)
    observation, mask = sample_choices(KINDS, seed=0)
    choices = Choices(torch.from_numpy(observation[::50]), mask[::50])
    one.standard_situation.calibrate(choices.situation)
    one.standard_action.calibrate(choices.action)
    other.set_weights(one.weights())
    given = choices.situation, choices.action, choices.rows
    with torch.no_grad():
        torch.testing.assert_close(other(*given), one(*given), rtol=1e-4, atol=1e-4)
    for name, value in one.weights().items():
        np.testing.assert_allclose(other.weights()[name], value, rtol=1e-4, atol=1e-5)


def test_chances_and_entropies_are_those_of_the_distribution(policy) -> None:
    """What is computed over legal actions alone is what SB3 computes over all."""
    observation, mask = sample_choices(KINDS, seed=2)
    observation, mask = observation[::40], mask[::40]
    with torch.no_grad():
        given = torch.from_numpy(observation)
        actions, values, chances = policy(given, action_masks=mask)
        assert mask[np.arange(len(mask)), actions.numpy()].all()
        distribution = policy.get_distribution(given, mask)
        torch.testing.assert_close(distribution.log_prob(actions), chances, rtol=1e-4, atol=1e-5)
        # As a minibatch of SB3 holds them.
        again, chances_again, entropy = policy.evaluate_actions(
            given.float(), actions.float(), torch.from_numpy(mask).float()
        )
        torch.testing.assert_close(chances_again, chances)
        torch.testing.assert_close(entropy, distribution.entropy(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(again, values)
        torch.testing.assert_close(policy.predict_values(given), values)


def test_samples_are_as_frequent_as_they_are_likely(policy) -> None:
    observation, mask = sample_choices(KINDS, seed=3)
    number = 20_000
    row = int(mask.sum(axis=1).argmax())
    given = torch.from_numpy(observation[row : row + 1].repeat(number, axis=0))
    masks = mask[row : row + 1].repeat(number, axis=0)
    torch.manual_seed(0)
    with torch.no_grad():
        actions, _, _ = policy(given, action_masks=masks)
        likely = policy.get_distribution(given[:1], masks[:1]).distribution.probs.numpy()[0]
    seen = np.bincount(actions.numpy(), minlength=84) / number
    # Five standard errors of the likeliest.
    assert np.abs(seen - likely).max() < 5 * 0.5 / np.sqrt(number)


def test_the_critic_sees_the_true_hands_and_the_actor_does_not(policy) -> None:
    observation, mask = sample_choices(KINDS, seed=4)
    other = observation.copy()
    other[:, OBSERVATION_SIZE:] = np.roll(observation[:, OBSERVATION_SIZE:], 1, axis=0)
    with torch.no_grad():
        one, two = (Choices(torch.from_numpy(seen), mask) for seen in (observation, other))
        assert (policy._scores(one) == policy._scores(two)).all()
        differs = policy.critic(one.table) != policy.critic(two.table)
    assert differs.float().mean() > 0.5


def test_without_full_information_the_critic_has_what_the_actor_has(tmp_path: Path) -> None:
    policy = a_policy(tmp_path, full_information=False)
    observation, mask = sample_choices(KINDS, seed=5)
    with torch.no_grad():
        policy(torch.from_numpy(observation[:, :OBSERVATION_SIZE]), action_masks=mask)
    assert not policy.critic.sees_hands


def test_masks_are_needed(policy) -> None:
    with pytest.raises(ValueError, match="action_masks=None"):
        policy(torch.zeros((1, OBSERVATION_SIZE), dtype=torch.uint8))


def test_at_first_it_plays_rather_than_draws(tmp_path: Path) -> None:
    """About fifty times as often as it draws; otherwise all alike."""
    policy = a_policy(tmp_path)
    observation, mask = sample_choices(KINDS, seed=6)
    with torch.no_grad():
        chances = policy.get_distribution(torch.from_numpy(observation), mask).distribution.probs
    may_draw = mask[:, Action.DRAW]
    draws = chances[may_draw, Action.DRAW].numpy()
    others = (1 - draws) / (mask[may_draw].sum(axis=1) - 1)
    assert 30 < np.median(others / draws) < 80
    plays = chances.numpy()[~may_draw]
    spread = [
        row[legal].max() / row[legal].min()
        for row, legal in zip(plays, mask[~may_draw], strict=True)
    ]
    assert np.median(spread) < 1.5


@pytest.mark.parametrize("hidden", [8, 16])
def test_a_warm_start_plays_like_the_policy_it_starts_from(
    tmp_path: Path, policy, hidden: int
) -> None:
    before = export_policy(policy, KINDS[0])
    other = a_policy(tmp_path, hidden=hidden)
    prepare(other, KINDS, seed=9)
    warm_start(other, before)
    observation, mask = sample_choices(KINDS, seed=7)
    seen = observation[:, :OBSERVATION_SIZE]
    np.testing.assert_allclose(
        export_policy(other, KINDS[0]).logits(seen, mask)[mask],
        before.logits(seen, mask)[mask],
        rtol=1e-3,
        atol=1e-3,
    )
    with pytest.raises(ValueError, match="16 hidden units: allowed are up to 8"):
        warm_start(a_policy(tmp_path), export_policy(a_policy(tmp_path, hidden=16), KINDS[0]))


def test_the_actor_waits_for_the_critic(tmp_path: Path, policy) -> None:
    path = tmp_path / "warm.safetensors"
    export_policy(policy, KINDS[0]).save(path)
    start = Policy.load(path).weights

    def moved(name: str, critic_first: int) -> float:
        arguments = Arguments(
            **{**SMALL, "warm_start": path, "critic_first": critic_first, "out": tmp_path / name}
        )
        trained = Policy.load(train(arguments)).weights
        return max(np.abs(trained[name] - start[name]).max() for name in start)

    assert moved("waits", critic_first=192) < 1e-4 < 1e-3 < moved("learns", critic_first=64)


def test_a_small_run_learns_to_beat_its_opponent(tmp_path: Path) -> None:
    """From a few per cent against `keen` to more than a third within seconds."""
    arguments = Arguments(
        **{
            **SMALL,
            "num_players": (2,),
            "num_envs": 512,
            "batch_size": 2048,
            "num_epochs": 3,
            "hidden": 32,
            "total_timesteps": 90_000,
            "eval_every": 100,
            "eval_deals": 500,
        },
        out=tmp_path / "run",
    )
    agent = make_agent(str(train(arguments)))
    batch = GameBatch(KINDS[0], 1_000, seed=5)
    rng, keen = np.random.default_rng(0), make_agent("keen")
    while not batch.done.all():
        live = np.flatnonzero(~batch.done)
        own = batch.player[live] == live % 2
        actions = np.zeros(len(batch.done), np.intp)
        for player, rows in ((agent, live[own]), (keen, live[~own])):
            actions[rows] = player.act(batch.observe(where=rows), batch.legal_of(rows), rng)
        batch.step(actions)
    assert (batch.winner == np.arange(1_000) % 2).mean() > 0.35
