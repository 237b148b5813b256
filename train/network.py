"""The policy network in torch, as an SB3 policy, and its way to and from a portable policy file.

The same network as in `uno_env.policy`, twice: once for the actor and once, up to its second layer,
for the critic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import BasePolicy
from torch import Tensor, nn

from uno_env.game.cards import NUM_COLOURS
from uno_env.game.observation import SCALE
from uno_env.game.rules import Rules
from uno_env.policy import (
    COLOUR_INPUTS,
    COLOUR_OUTPUTS,
    COMMON_INPUTS,
    COMMON_OUTPUTS,
    Policy,
)


class Trunk(nn.Module):
    """The two hidden layers: observations (B, F) -> (B, 4, hidden), a row for each colour."""

    inputs: Tensor
    scale: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        order = np.concatenate([COLOUR_INPUTS.ravel(), COMMON_INPUTS])
        self.register_buffer("inputs", torch.as_tensor(order), persistent=False)
        self.register_buffer("scale", torch.as_tensor(SCALE[order]), persistent=False)
        self.split = COLOUR_INPUTS.size
        self.first_colour = nn.Linear(COLOUR_INPUTS.shape[1], hidden, bias=False)
        self.first_common = nn.Linear(len(COMMON_INPUTS), hidden)
        self.second_own = nn.Linear(hidden, hidden, bias=False)
        self.second_mean = nn.Linear(hidden, hidden)

    def forward(self, observation: Tensor) -> Tensor:
        """The second hidden layer."""
        scaled = observation.index_select(1, self.inputs) * self.scale
        colour = scaled[:, : self.split].view(-1, NUM_COLOURS, COLOUR_INPUTS.shape[1])
        common = self.first_common(scaled[:, self.split :])
        first = torch.relu(self.first_colour(colour) + common[:, None])
        mean = self.second_mean(first.mean(dim=1))
        return torch.relu(self.second_own(first) + mean[:, None])


class ActorHead(nn.Module):
    """From the second layer to the logits of all actions: (B, 4 hidden) -> (B, A)."""

    order: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.colour = nn.Linear(hidden, COLOUR_OUTPUTS.shape[1])
        self.common = nn.Linear(hidden, len(COMMON_OUTPUTS))
        actions = np.concatenate([COLOUR_OUTPUTS.ravel(), COMMON_OUTPUTS])
        self.register_buffer("order", torch.as_tensor(np.argsort(actions)), persistent=False)

    def forward(self, latent: Tensor) -> Tensor:
        """The logits, in the order of action ids."""
        second = latent.view(-1, NUM_COLOURS, self.hidden)
        by_colour = self.colour(second).flatten(1)
        common = self.common(second.mean(dim=1))
        return torch.cat([by_colour, common], dim=1).index_select(1, self.order)


class _ActorAndCritic(nn.Module):
    """What SB3 calls the extractor: a trunk each for the actor and the critic."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.actor = Trunk(hidden)
        self.critic = Trunk(hidden)
        self.latent_dim_pi = NUM_COLOURS * hidden
        self.latent_dim_vf = hidden

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Tensor) -> Tensor:
        return self.actor(features).flatten(1)

    def forward_critic(self, features: Tensor) -> Tensor:
        return self.critic(features).mean(dim=1)


class ColourSharedPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy over the colour-shared network; `net_arch` is ``[hidden]``."""

    net_arch: list[int]
    mlp_extractor: _ActorAndCritic  # type: ignore[assignment]
    action_net: ActorHead

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _ActorAndCritic(self.net_arch[0])

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = ActorHead(self.net_arch[0])
        nn.init.orthogonal_(self.action_net.colour.weight, gain=0.01)
        nn.init.orthogonal_(self.action_net.common.weight, gain=0.01)
        # The optimiser that super() made holds the head that was just replaced.
        settings = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **settings)


def _layers(policy: ColourSharedPolicy) -> dict[str, nn.Linear]:
    """The actor's layers by the names their weights have in a policy file."""
    trunk, head = policy.mlp_extractor.actor, policy.action_net
    return {
        "first.colour": trunk.first_colour,
        "first.common": trunk.first_common,
        "second.own": trunk.second_own,
        "second.mean": trunk.second_mean,
        "colour.weight": head.colour,
        "common.weight": head.common,
    }


_BIASES = {
    "first.common": "first.bias",
    "second.mean": "second.bias",
    "colour.weight": "colour.bias",
    "common.weight": "common.bias",
}


def export_policy(
    policy: BasePolicy, rules: Rules, training: Mapping[str, Any] | None = None
) -> Policy:
    """The actor as a portable policy; the weights are copied.

    Raises:
        TypeError: `policy` is no `ColourSharedPolicy`.
    """
    if not isinstance(policy, ColourSharedPolicy):
        raise TypeError(f"policy is a {type(policy).__name__}: allowed is a ColourSharedPolicy")
    weights: dict[str, NDArray[np.float32]] = {}
    for name, layer in _layers(policy).items():
        weights[name] = np.ascontiguousarray(layer.weight.detach().cpu().numpy().T).copy()
        if name in _BIASES:
            weights[_BIASES[name]] = layer.bias.detach().cpu().numpy().copy()
    return Policy(weights, rules, training or {})
