"""Adapters of the core to the environment interfaces of the field.

`register_environments` enters them in the registries of the libraries they are for. An
environment's module is imported when one is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium
from pettingzoo import register  # type: ignore[import-untyped]

from uno_env.game.rules import PRESETS

if TYPE_CHECKING:
    from uno_env.envs.aec import raw_env

ENVIRONMENT_VERSION = 0
"""The ``-v0`` of the registered names; raised when the same actions give another course."""


def register_environments() -> None:
    """Enter the environments, one for each preset, in the registries of PettingZoo and Gymnasium.

    They are ``uno/angry_birds-v0``, ``uno/classic-v0`` and ``uno/official-v0`` there (AEC) and
    ``UnoAngryBirds-v0``, ``UnoClassic-v0`` and ``UnoOfficial-v0`` here (one learner, single and
    vector). Importing `uno_env` calls this once.
    """
    for preset in PRESETS:
        register(
            "aec",
            f"uno/{preset}-v{ENVIRONMENT_VERSION}",
            entry_point=partial(make_registered, preset),
        )
        gymnasium.register(
            f"Uno{preset.title().replace('_', '')}-v{ENVIRONMENT_VERSION}",
            entry_point="uno_env.envs.single_agent:UnoEnv",
            vector_entry_point="uno_env.envs.vector:UnoVectorEnv",
            kwargs={"preset": preset},
        )


def make_registered(
    preset: str, /, *, rules: Mapping[str, Any] | None = None, **settings: Any
) -> raw_env:
    """Make the AEC environment of a registered name.

    Args:
        preset: the one in the name.
        rules: switches that differ from it.
        **settings: further arguments of `uno_env.env`.

    Raises:
        TypeError: rules in another form, which would bring a preset of their own.
        ValueError: another preset, or as for `uno_env.env`.
    """
    from uno_env.envs.aec import env

    name = f"the name uno/{preset}-v{ENVIRONMENT_VERSION}"
    return env(with_preset(preset, rules, name=name), **settings)


def with_preset(preset: str, rules: object, *, name: str) -> dict[str, Any]:
    """Rules as a mapping, of a preset that stands fast and the switches that differ from it.

    Args:
        preset: the preset.
        rules: a mapping of switches, or None.
        name: what brings the preset, for messages.

    Raises:
        TypeError: rules in another form, which would bring a preset of their own.
        ValueError: another preset.
    """
    allowed = f"with {name} allowed is a mapping of switches"
    switches = {} if rules is None else rules
    if not isinstance(switches, Mapping):
        raise TypeError(f"rules={rules!r}: {allowed}")
    if switches.get("preset", preset) != preset:
        raise ValueError(f"rules={rules!r}: {allowed} of that preset")
    return {**switches, "preset": preset}
