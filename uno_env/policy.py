"""Portable policy files: written, read and played without torch.

A policy file is one ``.safetensors`` file: the weights of a network, and a header that says what
they are. Reading one runs no code; a file that does not fit is refused with the reason.

The network scores the legal actions one at a time, from what is known of the situation and what the
action does (`uno_env.inputs`); all actions share its weights::

    first  = relu(situation @ W1 + action @ W2 + b1)
    second = relu(first @ W3 + b2)
    logit  = second @ w4
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from uno_env.game.actions import ACTION_LAYOUT_VERSION, NUM_ACTIONS
from uno_env.game.observation import OBSERVATION_LAYOUT_VERSION, OBSERVATION_SIZE
from uno_env.game.rules import Rules
from uno_env.inputs import ACTION_SIZE, INPUTS_VERSION, SITUATION_SIZE, inputs
from uno_env.legal_actions import LegalActions
from uno_env.reading import json_of

FORMAT_VERSION = 2
SUFFIX = ".safetensors"
"""What the name of a policy file ends in."""
NETWORK = "action-scoring"
MAX_HIDDEN = 4096
MAX_WEIGHT = 1e6
"""No logit of a network with such weights overflows."""


class PolicyFileError(ValueError):
    """A policy file that cannot be used; the message says which and why."""


def weight_shapes(hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the weights of a network with `hidden` units a layer."""
    return {
        "first.situation": (SITUATION_SIZE, hidden),
        "first.action": (ACTION_SIZE, hidden),
        "first.bias": (hidden,),
        "second.weight": (hidden, hidden),
        "second.bias": (hidden,),
        "out.weight": (hidden,),
    }


MAX_BYTES = 4 * sum(math.prod(shape) for shape in weight_shapes(MAX_HIDDEN).values()) + 2**20
"""Of a file: the largest network, and a header."""


@dataclass(frozen=True)
class Policy:
    """A policy network and what is known about it.

    Args:
        weights: arrays by name, float32, of the shapes that `weight_shapes` gives; they are copied.
        rules: the rules it was trained for. It plays under any.
        training: a summary of its training, of values that JSON can hold; kept as JSON holds them.

    Raises:
        TypeError: an argument of another type.
        PolicyFileError: weights that do not make a network, a summary that JSON cannot hold.
    """

    weights: Mapping[str, NDArray[np.float32]]
    rules: Rules
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in (("weights", Mapping), ("rules", Rules), ("training", Mapping)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name}={value!r}: allowed is a {kind.__name__}")
        # A file holds the bytes as they lie in memory, which must be the order of the shape.
        weights = {name: np.array(value, order="C") for name, value in self.weights.items()}
        _check_weights(weights)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "training", _as_json_holds(self.training))

    @property
    def hidden(self) -> int:
        """Units in each hidden layer."""
        return len(self.weights["first.bias"])

    def logits(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """The preference for each legal action, minus infinity for all others.

        Args:
            observation: (B, F) uint8.
            mask: (B, A), the legal actions, at least one in each row.

        Returns:
            (B, A) float32.

        Raises:
            ValueError: another shape, a row without a legal action.
        """
        _check_asked(observation, mask)
        legal = LegalActions.of(mask)
        out = np.full(mask.shape, -np.inf, np.float32)
        out[legal.rows, legal.actions] = self._scores(observation, legal)
        return out

    def _scores(self, observation: NDArray[np.uint8], legal: LegalActions) -> NDArray[np.float32]:
        """The logit of each legal action: (L,) float32."""
        w = self.weights
        situation, action = inputs(observation, legal)
        common = situation @ w["first.situation"]
        common += w["first.bias"]
        first: NDArray[np.float32] = common[legal.rows]
        first += action @ w["first.action"]
        np.maximum(first, 0, out=first)
        second = first @ w["second.weight"]
        second += w["second.bias"]
        np.maximum(second, 0, out=second)
        return (second @ w["out.weight"]).astype(np.float32, copy=False)

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator | None = None,
        temperature: float = 0.0,
    ) -> NDArray[np.intp]:
        """Choose a legal action in each row.

        Args:
            observation: (B, F) uint8.
            mask: (B, A), the legal actions, at least one in each row.
            rng: needed to sample.
            temperature: 0 takes the likeliest action; 1 samples as in training.

        Returns:
            (B,) action ids.

        Raises:
            ValueError: another shape, a row without a legal action, a negative temperature, or no
                rng to sample with.
        """
        check_temperature(temperature)
        _check_asked(observation, mask)
        legal = LegalActions.of(mask)
        scores = self._scores(observation, legal)
        if temperature > 0:
            if rng is None:
                raise ValueError(f"temperature={temperature} needs an rng")
            # The largest of logits with Gumbel noise is a sample of the softmax.
            exponential = rng.standard_exponential(scores.shape, dtype=np.float32)
            with np.errstate(divide="ignore"):
                scores /= np.float32(temperature)
                scores -= np.log(exponential)
        return legal.highest(scores)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to `path`, whole or not at all.

        Raises:
            ValueError: the name does not end in ``.safetensors``.
        """
        target = Path(path)
        if not target.name.endswith(SUFFIX):
            raise ValueError(f"path={str(path)!r}: allowed is a name that ends in {SUFFIX}")
        header = {
            "uno_env.format": str(FORMAT_VERSION),
            "uno_env.actions": str(ACTION_LAYOUT_VERSION),
            "uno_env.observation": str(OBSERVATION_LAYOUT_VERSION),
            "uno_env.network": NETWORK,
            "uno_env.inputs": str(INPUTS_VERSION),
            "uno_env.rules": str(self.rules),
            "uno_env.training": json.dumps(dict(self.training)),
        }
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            partial.write_bytes(save(dict(self.weights), metadata=header))
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file. No code in it is run, and it takes memory as its size warrants.

        Raises:
            FileNotFoundError: there is no such file.
            PolicyFileError: it is not a policy file, was written for other layouts, or is damaged.
        """
        path = Path(path)
        if path.is_dir():
            raise PolicyFileError(f"{path} is a folder: name the policy file in it")
        if not path.is_file():
            raise FileNotFoundError(f"no policy file at {path}")
        if path.stat().st_size > MAX_BYTES:
            raise PolicyFileError(f"{path} is larger than {MAX_BYTES:,} bytes: no policy file is")
        try:
            with safe_open(path, framework="numpy") as file:
                header = file.metadata() or {}
                _check_header(header)
                names = list(file.keys())
                for name in names:  # numpy has no type for some that such a file may hold
                    _check_dtype(name, file.get_slice(name).get_dtype(), "F32")
                weights = {name: file.get_tensor(name) for name in names}
            return cls(weights, Rules.parse(header["uno_env.rules"]), _training_of(header))
        except SafetensorError as error:
            raise PolicyFileError(f"{path} is no safetensors file: {error}") from error
        except (ValueError, TypeError) as error:
            raise PolicyFileError(f"{path} cannot be used: {error}") from error


def check_temperature(temperature: float) -> None:
    """Of sampling.

    Raises:
        ValueError: it is negative or no number.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature={temperature}: allowed is a number from 0")


def _check_asked(observation: NDArray[np.uint8], mask: NDArray[np.bool_]) -> None:
    number = len(observation)
    for name, array, width in (
        ("observation", observation, OBSERVATION_SIZE),
        ("mask", mask, NUM_ACTIONS),
    ):
        if array.shape != (number, width):
            raise ValueError(
                f"{name} of the shape {array.shape}: needed is ({number}, {width}), a row for each "
                "game"
            )


def _check_dtype(name: str, found: object, needed: str) -> None:
    if found != needed:
        raise PolicyFileError(f"weights {name} are {found}: needed is {needed}")


def _check_weights(weights: Mapping[str, NDArray[Any]]) -> None:
    bias = weights.get("first.bias")
    if bias is None:
        raise PolicyFileError("the weights hold no `first.bias`")
    if bias.ndim != 1 or not 1 <= len(bias) <= MAX_HIDDEN:
        raise PolicyFileError(
            f"weights first.bias of shape {bias.shape}: allowed are 1 to {MAX_HIDDEN} hidden units"
        )
    shapes = weight_shapes(len(bias))
    if set(weights) != set(shapes):
        odd = sorted(map(str, set(weights) ^ set(shapes)))
        raise PolicyFileError(f"missing or unknown weights: {', '.join(odd)}")
    for name, shape in shapes.items():
        array = weights[name]
        _check_dtype(name, array.dtype, "float32")
        if array.shape != shape:
            raise PolicyFileError(f"weights {name} of shape {array.shape}: needed is {shape}")
        if not (np.abs(array) <= MAX_WEIGHT).all():
            raise PolicyFileError(f"weights {name}: allowed are numbers up to {MAX_WEIGHT:g}")


def _as_json_holds(training: Mapping[str, Any]) -> dict[str, Any]:
    try:
        held: dict[str, Any] = json.loads(json.dumps(dict(training), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise PolicyFileError(f"training: JSON cannot hold it: {error}") from error
    return held


def _check_header(header: Mapping[str, str]) -> None:
    if "uno_env.format" not in header:
        raise PolicyFileError("its header says nothing of uno_env, so it is no policy file")
    needed = {
        "format": str(FORMAT_VERSION),
        "actions": str(ACTION_LAYOUT_VERSION),
        "observation": str(OBSERVATION_LAYOUT_VERSION),
        "network": NETWORK,
        "inputs": str(INPUTS_VERSION),
    }
    for name in (*needed, "rules"):
        if f"uno_env.{name}" not in header:
            raise PolicyFileError(f"its header does not say the {name}")
    for name, value in needed.items():
        found = header[f"uno_env.{name}"]
        if found != value:
            raise PolicyFileError(f"its {name} is {found}, this version reads {value}")


def _training_of(header: Mapping[str, str]) -> dict[str, Any]:
    try:
        training = json_of(header.get("uno_env.training", "{}"))
    except ValueError as error:
        raise PolicyFileError(f"its training summary is no JSON: {error}") from error
    if not isinstance(training, dict):
        raise PolicyFileError("its training summary is no mapping")
    return training
