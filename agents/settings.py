"""Bots with settings, as text: ``search:rollouts=512,rollout=greedy``."""

from __future__ import annotations

import inspect

from agents.base import Agent

_WHAT = {bool: "True or False", int: "a whole number", float: "a number", str: "text"}


def settings_of(kind: type[Agent]) -> dict[str, object]:
    """The settings that a bot can be given as text, by name, with their defaults.

    These are the keyword arguments, its own and those it hands on, that default to a number, text,
    True or False.
    """
    settings: dict[str, object] = {}
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
        for parameter in parameters:
            if type(parameter.default) in _WHAT:
                settings.setdefault(parameter.name, parameter.default)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return settings


def make_with_settings(kind: type[Agent], text: str) -> Agent:
    """A bot with the settings in ``name:key=value,...``; the text becomes its name.

    Raises:
        ValueError: text of another form, a setting that the bot does not have or that stands there
            twice, or a value that is not allowed.
        FileNotFoundError: a setting names a policy file that is not there.
    """
    name, _, words = text.partition(":")
    known = settings_of(kind)
    takes = f"{name} takes {', '.join(known) or 'no settings'}"
    given: dict[str, object] = {}
    for word in words.split(","):
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(
                f"{word!r} in agent {text!r}: written is {name}:setting=value,... and {takes}"
            )
        if key not in known:
            raise ValueError(f"unknown setting {key!r} in agent {text!r}: {takes}")
        if key in given:
            raise ValueError(f"{word!r} in agent {text!r}: allowed is each setting once")
        given[key] = _parse(text, key, value, type(known[key]))
    agent = kind(**given)
    agent.name = text
    return agent


def _parse(text: str, key: str, value: str, kind: type) -> object:
    try:
        if kind is bool:
            return {"True": True, "False": False}[value]
        return kind(value)
    except (ValueError, KeyError):
        raise ValueError(f"{key}={value} in agent {text!r}: allowed is {_WHAT[kind]}") from None
