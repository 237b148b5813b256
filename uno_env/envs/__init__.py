"""Adapters of the core to the environment interfaces of the field.

`register_environments` enters them in the registries of the libraries they are for. Entry points
are strings, so an environment's module is imported when one is made.
"""

from __future__ import annotations

from pettingzoo import register  # type: ignore[import-untyped]

from uno_env.game.rules import PRESETS

ENVIRONMENT_VERSION = 0
"""The ``-v0`` of the registered names; raised when the same actions give another course."""


def register_environments() -> None:
    """Enter the AEC environments, one for each preset, in PettingZoo's registry.

    They are ``uno/angry_birds-v0``, ``uno/classic-v0`` and ``uno/official-v0``. Importing `uno_env`
    calls this once.
    """
    for preset in PRESETS:
        register(
            "aec",
            f"uno/{preset}-v{ENVIRONMENT_VERSION}",
            entry_point="uno_env.envs.aec:env",
            kwargs={"rules": preset},
        )
