"""Signs that a run cannot learn, noticed while it runs and named.

Each is a warning, once a run; numbers that are not finite end it.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

IN_A_ROW = 10
"""Updates for which a sign has to be there."""
NO_CHANGE = 1e-7
"""KL divergence of an update that changes nothing, while the learning rate is not near its end."""
CONSTANT = 1e-6
"""Relative change of the entropy in an update, below which it is constant."""
COLLAPSED = 1e-3
"""Part of the entropy of uniform play, below which the policy is taken for settled on one action.
"""
HUGE_KL = 0.2
EXPLODED = 10.0
"""Value loss, to that of predicting zero."""
FORCED = 0.9
"""Share of choices with one legal action."""


class LearningWarning(UserWarning):
    """A sign that a run does not learn."""


class LearningError(RuntimeError):
    """A run that cannot go on; says why and what is kept."""


@dataclass(frozen=True)
class Rollout:
    """What was collected, in short."""

    forced: float
    """Share of choices with one legal action."""
    most_entropy: float
    """Mean entropy of uniform play."""
    mean_square: float
    """Of the returns."""

    @classmethod
    def of(cls, masks: NDArray[np.float32], returns: NDArray[np.float32]) -> Rollout:
        """From masks (..., A) and returns (...)."""
        legal = masks.sum(axis=-1)
        return cls(
            float(np.mean(legal == 1)),
            float(np.log(np.maximum(legal, 1)).mean()),
            float(np.square(returns).mean()),
        )


class Diagnostics:
    """Looks at every update."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}
        """For how many updates each sign has been there."""
        self._entropies: deque[float] = deque(maxlen=2)
        self.told: list[str] = []

    def look(
        self, rollout: Rollout, entropy: float, kl: float, value_loss: float, remaining: float
    ) -> list[str]:
        """The names of what is wrong and was not told before; warns of each.

        Args:
            rollout: what the update was made from.
            entropy: mean entropy of the policy.
            kl: KL divergence between the policies before and after.
            value_loss: mean squared error of the critic.
            remaining: how much of training is left, from 1 to 0.
        """
        self._entropies.append(entropy)
        spread = max(self._entropies) - min(self._entropies)
        constant = spread <= CONSTANT * abs(entropy)
        still = kl < NO_CHANGE and remaining > 0.1
        collapsed = rollout.most_entropy > 0 and entropy < COLLAPSED * rollout.most_entropy
        exploded = value_loss > EXPLODED * max(rollout.mean_square, 1e-9)
        signs = {
            "entropy collapsed": (
                collapsed,
                f"the policy's entropy is {entropy:.2g}: it takes one action whatever it sees; "
                "raise ent_coef or lower learning_rate",
            ),
            "policy constant": (
                still or (constant and not collapsed),
                f"updates leave the policy as it is (KL {kl:.1g}, entropy {entropy:.4g}): the "
                "learning rate may be too low, or rewards all alike",
            ),
            "value loss exploding": (
                exploded,
                f"the value loss is {value_loss:.3g}, that of predicting zero is "
                f"{rollout.mean_square:.3g}: lower learning_rate",
            ),
            "KL huge": (
                kl > HUGE_KL,
                f"an update changes the policy by a KL divergence of {kl:.2g}: lower "
                "learning_rate, num_epochs or clip_range",
            ),
            "choices forced": (
                rollout.forced > FORCED,
                f"{100 * rollout.forced:.0f}% of choices have one legal action: there is nothing "
                "to learn from them",
            ),
        }
        new = []
        for name, (there, message) in signs.items():
            self._row[name] = self._row.get(name, 0) + 1 if there else 0
            if self._row[name] >= IN_A_ROW and name not in self.told:
                new.append(name)
                warnings.warn(f"{name}: {message}", LearningWarning, stacklevel=2)
        self.told += new
        return new

    def saved(self) -> dict[str, object]:
        """All that decides what follows, as JSON holds it."""
        return {"row": self._row, "entropies": list(self._entropies), "told": self.told}

    def restore(self, saved: dict[str, object]) -> None:
        """Go on from what `saved` gave."""
        self._row = dict(saved["row"])  # type: ignore[call-overload]
        self._entropies.extend(saved["entropies"])  # type: ignore[arg-type]
        self.told = list(saved["told"])  # type: ignore[call-overload]


def what_is_not_finite(policy: torch.nn.Module, losses: dict[str, float]) -> str | None:
    """The name of a loss or weight that is NaN or infinite; None if all are finite."""
    for name, loss in losses.items():
        if not math.isfinite(loss):
            return name
    for name, weights in policy.named_parameters():
        if not bool(torch.isfinite(weights).all()):
            return f"weights {name}"
    return None
