"""The policy network in torch, as an SB3 policy, and its way to and from a portable policy file.

The actor is the network of `uno_env.policy`, which scores the legal actions one at a time. The
critic reads the situation, and the true hands where observations tell them
(`TableVecEnv.full_information`): they take part in the estimate of what a table is worth, so that
less of it is luck, and in nothing that the actor does or a policy file keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import PyTorchObs
from torch import Tensor, nn

from train.critic import HANDS_SIZE, true_hands
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.game.rules import Rules
from uno_env.inputs import ACTION_SIZE, SITUATION_SIZE, inputs, situations
from uno_env.legal_actions import LegalActions
from uno_env.policy import Policy

Masks: TypeAlias = NDArray[Any] | Tensor

_ILLEGAL = -1e8
"""A logit that is as good as none; SB3 has no use for infinity."""
_LEAST_SPREAD = 0.05
"""Inputs that hardly ever change are not blown up beyond this."""


class Standard(nn.Module):
    """Brings inputs (n, K) to mean 0 and deviation 1, as they were in a sample."""

    mean: Tensor
    spread: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("spread", torch.ones(size))

    def calibrate(self, sample: Tensor) -> None:
        """Take mean and deviation from a sample (n, K)."""
        self.mean.copy_(sample.mean(dim=0))
        self.spread.copy_(sample.std(dim=0) + _LEAST_SPREAD)

    def forward(self, values: Tensor) -> Tensor:
        """The values as they go into the network."""
        return (values - self.mean) / self.spread


class Scorer(nn.Module):
    """Scores legal actions: see `uno_env.policy`."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.standard_situation = Standard(SITUATION_SIZE)
        self.standard_action = Standard(ACTION_SIZE)
        self.situation = nn.Linear(SITUATION_SIZE, hidden)
        self.action = nn.Linear(ACTION_SIZE, hidden, bias=False)
        self.second = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1, bias=False)

    def forward(self, situation: Tensor, action: Tensor, rows: Tensor) -> Tensor:
        """The scores of L actions.

        Args:
            situation: (B, S).
            action: (L, K).
            rows: (L,) the situation of each.

        Returns:
            (L,).
        """
        first = self.situation(self.standard_situation(situation)).index_select(0, rows)
        first = torch.relu(first + self.action(self.standard_action(action)))
        scores: Tensor = self.out(torch.relu(self.second(first))).squeeze(1)
        return scores

    @torch.no_grad()
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """As a policy file holds them, which knows no standard inputs; new arrays."""
        situation = self.situation.weight / self.standard_situation.spread
        action = self.action.weight / self.standard_action.spread
        bias = self.situation.bias - situation @ self.standard_situation.mean
        bias -= action @ self.standard_action.mean
        tensors = {
            "first.situation": situation.T,
            "first.action": action.T,
            "first.bias": bias,
            "second.weight": self.second.weight.T,
            "second.bias": self.second.bias,
            "out.weight": self.out.weight[0],
        }
        return {name: tensor.cpu().numpy().copy() for name, tensor in tensors.items()}

    @torch.no_grad()
    def set_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take those of a policy file; what is standard stays as it is.

        Where it has fewer hidden units, the other ones listen to the inputs as they did, but have
        no say yet: scores are those of the policy file.

        Raises:
            ValueError: more hidden units than there are.
        """
        theirs = {name: torch.as_tensor(value) for name, value in weights.items()}
        hidden, own = len(theirs["first.bias"]), self.second.in_features
        if hidden > own:
            raise ValueError(f"the policy has {hidden} hidden units: allowed are up to {own}")
        situation, action = theirs["first.situation"].T, theirs["first.action"].T
        self.situation.weight[:hidden] = situation * self.standard_situation.spread
        self.action.weight[:hidden] = action * self.standard_action.spread
        bias = theirs["first.bias"] + situation @ self.standard_situation.mean
        self.situation.bias[:hidden] = bias + action @ self.standard_action.mean
        self.second.weight[:hidden] = 0
        self.second.weight[:hidden, :hidden] = theirs["second.weight"].T
        self.second.bias[:hidden] = theirs["second.bias"]
        self.out.weight[:] = 0
        self.out.weight[0, :hidden] = theirs["out.weight"]


class Critic(nn.Module):
    """What a choice is worth: the situation, and the true hands where known, to a number."""

    def __init__(self, hidden: int, *, sees_hands: bool) -> None:
        super().__init__()
        self.sees_hands = sees_hands
        size = SITUATION_SIZE + HANDS_SIZE * sees_hands
        self.standard = Standard(size)
        self.layers = nn.Sequential(
            *(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()),
            nn.Linear(hidden, 1),
        )

    def forward(self, table: Tensor) -> Tensor:
        """(B, size) to (B, 1)."""
        values: Tensor = self.layers(self.standard(table))
        return values


def _numbers(observation: PyTorchObs) -> NDArray[np.uint8]:
    """Observations as the core gives them, from whatever SB3 made of them."""
    assert isinstance(observation, Tensor)
    array: NDArray[Any] = observation.detach().cpu().numpy()
    return array.astype(np.uint8, copy=False)


def _table(full: NDArray[np.uint8], situation: Tensor) -> Tensor:
    """What the critic is given: (B, size)."""
    if full.shape[1] == OBSERVATION_SIZE:
        return situation
    return torch.cat([situation, torch.from_numpy(true_hands(full))], dim=1)


class Choices:
    """B choices as the networks are given them.

    Args:
        observation: (B, F) of whole numbers, or (B, FULL_SIZE) where hands are told.
        mask: the legal actions, B x A zeros and ones in any shape.
    """

    def __init__(self, observation: PyTorchObs, mask: NDArray[Any] | Tensor) -> None:
        full = _numbers(observation)
        array = mask.detach().cpu().numpy() if isinstance(mask, Tensor) else np.asarray(mask)
        self.mask: NDArray[np.bool_] = array.reshape(len(full), -1).astype(np.bool_, copy=False)
        self.legal = LegalActions.of(self.mask)
        situation, action = inputs(full[:, :OBSERVATION_SIZE], self.legal)
        self.rows = torch.from_numpy(self.legal.rows)
        self.situation, self.action = torch.from_numpy(situation), torch.from_numpy(action)
        self.table = _table(full, self.situation)

    def log_softmax(self, scores: Tensor) -> Tensor:
        """Logarithms of probabilities (L,) from scores (L,), each row by itself."""
        number = len(self.legal.counts)
        highest = scores.new_full((number,), -torch.inf)
        highest = highest.scatter_reduce(0, self.rows, scores.detach(), "amax")
        shifted = scores - highest[self.rows]
        total = scores.new_zeros(number).index_add(0, self.rows, shifted.exp())
        return shifted - total.log()[self.rows]

    def sum(self, values: Tensor) -> Tensor:
        """Sums over the actions of each row: (L,) -> (B,)."""
        return values.new_zeros(len(self.legal.counts)).index_add(0, self.rows, values)

    def places(self, actions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where the chosen actions (B,) stand among all (L,)."""
        width = 1 + int(self.legal.actions.max())
        every = self.legal.rows * width + self.legal.actions
        return np.searchsorted(every, np.arange(len(actions)) * width + actions)


class ActionScoringPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy over a `Scorer` and a `Critic`; `net_arch` is ``[hidden]``.

    Masks are needed wherever an action is: the legal actions are what it scores.
    """

    net_arch: list[int]

    def _build(self, lr_schedule: Any) -> None:
        hidden = self.net_arch[0]
        self.actor = Scorer(hidden)
        sees_hands = self.observation_space.shape[0] > OBSERVATION_SIZE  # type: ignore[index]
        self.critic = Critic(hidden, sees_hands=sees_hands)
        # At first all actions are about as likely.
        nn.init.orthogonal_(self.actor.out.weight, gain=0.01)
        settings = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **settings)

    def calibrate(self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]) -> None:
        """Take what is standard for inputs from a sample of choices, before any training.

        Args:
            observation: (B, F), or (B, FULL_SIZE) where hands are told.
            mask: (B, A).
        """
        choices = Choices(torch.from_numpy(observation), mask)
        self.actor.standard_situation.calibrate(choices.situation)
        self.actor.standard_action.calibrate(choices.action)
        self.critic.standard.calibrate(choices.table)

    def forward(
        self,
        obs: PyTorchObs,
        deterministic: bool = False,
        action_masks: Masks | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Choose: actions (B,), values (B, 1) and the logarithms of their probabilities (B,)."""
        choices = self._choices(obs, action_masks)
        chances = choices.log_softmax(self._scores(choices))
        liked = chances
        if not deterministic:
            # The largest with Gumbel noise is a sample.
            liked = chances - torch.empty_like(chances).exponential_().log()
        actions = choices.legal.highest(liked.numpy(force=True))
        places = torch.from_numpy(choices.places(actions))
        return torch.from_numpy(actions), self.critic(choices.table), chances[places]

    def evaluate_actions(
        self, obs: PyTorchObs, actions: Tensor, action_masks: Masks | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Of choices made: values (B, 1), log probabilities (B,), entropies (B,)."""
        choices = self._choices(obs, action_masks)
        chances = choices.log_softmax(self._scores(choices))
        chosen = actions.detach().cpu().numpy().astype(np.intp).ravel()
        places = torch.from_numpy(choices.places(chosen))
        entropy = -choices.sum(chances.exp() * chances)
        return self.critic(choices.table), chances[places], entropy

    def get_distribution(
        self, obs: PyTorchObs, action_masks: Masks | None = None
    ) -> MaskableDistribution:
        """The distribution over all actions, the illegal ones masked."""
        choices = self._choices(obs, action_masks)
        scores = self._scores(choices)
        logits = scores.new_full(choices.mask.shape, _ILLEGAL)
        logits[choices.rows, torch.from_numpy(choices.legal.actions)] = scores
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        distribution.apply_masking(choices.mask)
        return distribution

    def predict_values(self, obs: PyTorchObs) -> Tensor:
        """What choices are worth: (B, 1)."""
        full = _numbers(obs)
        situation = torch.from_numpy(situations(full[:, :OBSERVATION_SIZE]))
        values: Tensor = self.critic(_table(full, situation))
        return values

    def _scores(self, choices: Choices) -> Tensor:
        scores: Tensor = self.actor(choices.situation, choices.action, choices.rows)
        return scores

    def _choices(self, obs: PyTorchObs, masks: Masks | None) -> Choices:
        if masks is None:
            raise ValueError("action_masks=None: this policy scores legal actions and needs them")
        return Choices(obs, masks)


def export_policy(
    policy: BasePolicy, rules: Rules, training: Mapping[str, Any] | None = None
) -> Policy:
    """The actor as a portable policy; the weights are copied.

    Raises:
        TypeError: `policy` is no `ActionScoringPolicy`.
    """
    if not isinstance(policy, ActionScoringPolicy):
        raise TypeError(f"policy is a {type(policy).__name__}: allowed is an ActionScoringPolicy")
    return Policy(policy.actor.weights(), rules, training or {})
