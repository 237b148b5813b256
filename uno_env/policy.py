"""Portable policy files: written, read and played without torch.

A policy file is one ``.safetensors`` file: the weights of a network, and a header that says what
they are. Reading one runs no code; a file that does not fit is refused with the reason.

The network treats the four colours alike. Every colour is described by the same features (cards of
that colour in hand, unseen, seen to be dealt to others; who lacks it; whether it is active) and
goes through the same two layers, beside the features that belong to no colour and the mean over the
colours; so what is learnt about one colour holds for all::

    first[c]  = relu(colour[c] @ W1 + common @ W2 + b1)
    second[c] = relu(first[c] @ W3 + mean(first) @ W4 + b2)
    the 16 plays and the naming of colour c = second[c] @ W5 + b5
    all other actions                       = mean(second) @ W6 + b6
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from uno_env.game.actions import ACTION_LAYOUT_VERSION, NUM_ACTIONS, Action
from uno_env.game.cards import NUM_COLOURED_SYMBOLS, NUM_COLOURS, NUM_SYMBOLS
from uno_env.game.observation import (
    LAYOUT,
    OBSERVATION_LAYOUT_VERSION,
    OBSERVATION_SIZE,
    SCALE,
)
from uno_env.game.rules import MAX_PLAYERS, Rules

FORMAT_VERSION = 1
SUFFIX = ".safetensors"
"""What the name of a policy file ends in."""
NETWORK = "colour-shared"
MAX_HIDDEN = 4096


class PolicyFileError(ValueError):
    """A policy file that cannot be used; the message says which and why."""


def _colour_inputs() -> NDArray[np.intp]:
    rows = []
    for colour in range(NUM_COLOURS):
        own = [
            LAYOUT[name].start + NUM_SYMBOLS * colour + symbol
            for name in ("hand", "drawn", "unseen", "known")
            for symbol in range(NUM_COLOURED_SYMBOLS)
        ]
        for name, width in (("known_colours", NUM_COLOURS + 1), ("lack", NUM_COLOURS)):
            own += [LAYOUT[name].start + width * place + colour for place in range(MAX_PLAYERS - 1)]
        rows.append([*own, LAYOUT["colour"].start + colour])
    return np.array(rows)


COLOUR_INPUTS = _colour_inputs()
"""Places in the observation of the features of each colour: (4, 71)."""
COMMON_INPUTS: NDArray[np.intp] = np.setdiff1d(np.arange(OBSERVATION_SIZE), COLOUR_INPUTS)
"""Places of the features that belong to no colour."""

COLOUR_OUTPUTS: NDArray[np.intp] = np.array(
    [
        [*range(NUM_SYMBOLS * colour, NUM_SYMBOLS * (colour + 1)), Action.COLOUR + colour]
        for colour in range(NUM_COLOURS)
    ]
)
"""The actions whose logits come from each colour: (4, 17)."""
COMMON_OUTPUTS: NDArray[np.intp] = np.setdiff1d(np.arange(NUM_ACTIONS), COLOUR_OUTPUTS)
"""The other actions."""


_INPUTS = np.concatenate([COLOUR_INPUTS.ravel(), COMMON_INPUTS])
_INPUT_SCALE = SCALE[_INPUTS]


def _mean_over_colours(layer: NDArray[np.float32]) -> NDArray[np.float32]:
    """(B, 4, hidden) -> (B, hidden)."""
    total = layer[:, 0] + layer[:, 1] + layer[:, 2] + layer[:, 3]
    return total * np.float32(1 / NUM_COLOURS)


def weight_shapes(hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the weights of a network with `hidden` units a layer."""
    return {
        "first.colour": (COLOUR_INPUTS.shape[1], hidden),
        "first.common": (len(COMMON_INPUTS), hidden),
        "first.bias": (hidden,),
        "second.own": (hidden, hidden),
        "second.mean": (hidden, hidden),
        "second.bias": (hidden,),
        "colour.weight": (hidden, COLOUR_OUTPUTS.shape[1]),
        "colour.bias": (COLOUR_OUTPUTS.shape[1],),
        "common.weight": (hidden, len(COMMON_OUTPUTS)),
        "common.bias": (len(COMMON_OUTPUTS),),
    }


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

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The preference for each action, legal or not: (B, F) uint8 -> (B, A) float32."""
        w, hidden, number = self.weights, self.hidden, len(observation)
        scaled = (observation.take(_INPUTS, axis=1) * _INPUT_SCALE).astype(np.float32, copy=False)
        # One large product is many times as fast as one small product for each row.
        colour = scaled[:, : COLOUR_INPUTS.size].reshape(-1, COLOUR_INPUTS.shape[1])
        common = scaled[:, COLOUR_INPUTS.size :] @ w["first.common"] + w["first.bias"]
        first = (colour @ w["first.colour"]).reshape(number, NUM_COLOURS, hidden)
        first += common[:, None]
        np.maximum(first, 0, out=first)
        mean = _mean_over_colours(first) @ w["second.mean"] + w["second.bias"]
        second = (first.reshape(-1, hidden) @ w["second.own"]).reshape(first.shape)
        second += mean[:, None]
        np.maximum(second, 0, out=second)
        by_colour = second.reshape(-1, hidden) @ w["colour.weight"] + w["colour.bias"]
        out = np.empty((number, NUM_ACTIONS), np.float32)
        out[:, COLOUR_OUTPUTS.ravel()] = by_colour.reshape(-1, COLOUR_OUTPUTS.size)
        out[:, COMMON_OUTPUTS] = _mean_over_colours(second) @ w["common.weight"] + w["common.bias"]
        return out

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
        logits = self.logits(observation)
        if temperature > 0:
            if rng is None:
                raise ValueError(f"temperature={temperature} needs an rng")
            # The largest of logits with Gumbel noise is a sample of the softmax. The noise can be
            # infinite, so illegal actions are struck out after it.
            exponential = rng.standard_exponential(logits.shape, dtype=np.float32)
            with np.errstate(divide="ignore"):
                logits = logits / np.float32(temperature) - np.log(exponential)
        return np.where(mask, logits, -np.inf).argmax(axis=1)

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
        """Read a policy file. No code in it is run.

        Raises:
            FileNotFoundError: there is no such file.
            PolicyFileError: it is not a policy file, was written for other layouts, or is damaged.
        """
        path = Path(path)
        if path.is_dir():
            raise PolicyFileError(f"{path} is a folder: name the policy file in it")
        if not path.is_file():
            raise FileNotFoundError(f"no policy file at {path}")
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
    choosable = mask.any(axis=1)
    if not choosable.all():
        raise ValueError(f"row {int(choosable.argmin())} of the mask has no legal action")


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
        if not np.isfinite(array).all():
            raise PolicyFileError(f"weights {name} are not all finite numbers")


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
        training = json.loads(header.get("uno_env.training", "{}"))
    except (ValueError, RecursionError) as error:
        raise PolicyFileError(f"its training summary is no JSON: {error}") from error
    if not isinstance(training, dict):
        raise PolicyFileError("its training summary is no mapping")
    return training
