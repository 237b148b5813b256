"""Bots: one a file, all batched. `make_agent` finds them by name or loads a policy file."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from functools import cache

from agents.base import Agent

__all__ = ["Agent", "known_agents", "make_agent"]

POLICY_SUFFIX = ".safetensors"


@cache
def known_agents() -> dict[str, type[Agent]]:
    """The bots of this folder by name: each subclass of `Agent` in it whose class has a `name`."""
    known: dict[str, type[Agent]] = {}
    for module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if not (inspect.isclass(value) and issubclass(value, Agent)):
                continue
            name = vars(value).get("name")
            if value.__module__ == module.name and isinstance(name, str):
                known[name] = value
    return known


def make_agent(agent: Agent | str | os.PathLike[str]) -> Agent:
    """The bot of that name, or a policy file as a player; an `Agent` is returned as it is.

    Args:
        agent: a name such as ``"greedy"``, or a path that ends in ``.safetensors``.

    Raises:
        ValueError: no bot has this name, or a policy file that cannot be used.
        FileNotFoundError: no policy file at this path.
    """
    if isinstance(agent, Agent):
        return agent
    text = os.fspath(agent)
    if text.endswith(POLICY_SUFFIX):
        from agents.policy import PolicyAgent

        return PolicyAgent.load(text)
    known = known_agents()
    if text not in known:
        raise ValueError(
            f"unknown agent {text!r}: known are {', '.join(sorted(known))}, or the path of a "
            f"policy file that ends in {POLICY_SUFFIX}"
        )
    return known[text]()
