"""Bots: one a file, all batched. `make_agent` finds them by name or loads a policy file."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter

from agents.base import Agent
from agents.policy import PolicyAgent
from agents.settings import make_with_settings
from uno_env.policy import SUFFIX

__all__ = ["Agent", "known_agents", "make_agent", "make_agents"]

_OBJECT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
"""What ``module:object`` looks like."""


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
        agent: a name such as ``"greedy"``; one with settings such as
            ``"search:rollouts=512,rollout=greedy"`` (keyword arguments of the bot, without spaces;
            the text becomes its name); a path that ends in ``.safetensors``; or
            ``"module:object"``: an `Agent`, a class of them or a function that returns one, in a
            module that can be imported.

    Raises:
        TypeError: something else than that, or an object that is no `Agent`.
        ValueError: no bot has this name or these settings, an `Agent` without a name, a policy file
            that cannot be used, or no such module or object.
        FileNotFoundError: no policy file at this path.
    """
    if isinstance(agent, Agent):
        _check_name(agent)
        return agent
    if not isinstance(agent, str | os.PathLike):
        raise TypeError(
            f"agent={agent!r}: allowed is an Agent, a bot's name or the path of a policy file"
        )
    text = os.fsdecode(agent)
    name, colon, _ = text.partition(":")
    if colon and name in known_agents():
        return make_with_settings(known_agents()[name], text)
    if text.endswith(SUFFIX):
        return PolicyAgent.load(text)
    if _OBJECT.fullmatch(text):
        return _from_module(text)
    known = known_agents()
    if text not in known:
        raise ValueError(
            f"unknown agent {text!r}: known are {', '.join(sorted(known))}, the path of a policy "
            f"file that ends in {SUFFIX}, or module:object"
        )
    return known[text]()


def make_agents(agents: Sequence[Agent | str | os.PathLike[str]]) -> list[Agent]:
    """Several, each as `make_agent` makes it.

    Raises:
        TypeError: `agents` is no sequence, or a single name; else as for `make_agent`.
        ValueError: as for `make_agent`.
        FileNotFoundError: as for `make_agent`.
    """
    if isinstance(agents, str) or not isinstance(agents, Iterable):
        raise TypeError(f"agents={agents!r}: allowed is a sequence of agents or their names")
    return [make_agent(agent) for agent in agents]


def _from_module(text: str) -> Agent:
    """The agent that ``module:object`` names."""
    module, _, path = text.partition(":")
    try:
        found: object = importlib.import_module(module)
    except ImportError as error:
        raise ValueError(f"agent {text!r}: cannot import {module}: {error}") from error
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"agent {text!r}: importing {module} raised {what}") from error
    try:
        found = attrgetter(path)(found)
    except AttributeError as error:
        raise ValueError(f"agent {text!r}: {error}") from error
    if not isinstance(found, Agent) and callable(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            what = f"{type(error).__name__}: {error}"
            raise ValueError(f"agent {text!r}: making it raised {what}") from error
    if not isinstance(found, Agent):
        raise TypeError(f"agent {text!r} is a {type(found).__name__}: needed is an Agent")
    if not getattr(found, "name", None):
        found.name = text
    _check_name(found)
    return found


def _check_name(agent: Agent) -> None:
    name = getattr(agent, "name", None)
    if not isinstance(name, str) or not name:
        raise ValueError(f"{type(agent).__name__}.name={name!r}: allowed is text that is not empty")
