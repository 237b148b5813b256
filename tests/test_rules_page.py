"""The tables of `uno_env/RULES.md` say what the code does."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import uno_env
from uno_env import ACTIONS, Rules
from uno_env.game.actions import ACTION_LAYOUT_VERSION, parse_action
from uno_env.game.observation import (
    FEATURES,
    FULL_SIZE,
    LAYOUT,
    OBSERVATION_LAYOUT_VERSION,
    OBSERVATION_SIZE,
    SWITCH_PLACES,
)
from uno_env.game.rules import PRESETS
from uno_env.game.state import Phase
from uno_env.inputs import INPUTS_VERSION
from uno_env.policy import FORMAT_VERSION
from uno_env.records import VERSION

PAGE = (Path(uno_env.__file__).parent / "RULES.md").read_text()


def table(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head, as text without backticks."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = next(part for part in section.split("\n\n") if part.startswith("|")).splitlines()
    rows = [line.strip("|").split("|") for line in lines]
    return [[cell.strip().replace("`", "") for cell in row] for row in rows[2:]]


def test_every_switch_stands_there_with_what_the_presets_make_of_it() -> None:
    rows = {row[0]: row[2:] for row in table("Presets and switches")}
    fields = {field.name for field in dataclasses.fields(Rules)}
    houses = set(re.findall(r"^`(\w+)`: ", PAGE, flags=re.MULTILINE))
    assert set(rows) | houses == fields
    for name, cells in rows.items():
        for preset, cell in zip(PRESETS, cells, strict=True):
            value = str(getattr(Rules.preset(preset), name))
            assert cell.split(" ")[0] == (value.lower() if value in ("True", "False") else value)


def test_the_observation_is_laid_out_so() -> None:
    rows = table("The observation")
    for row, feature in zip(rows, FEATURES.values(), strict=True):
        place = LAYOUT[feature.name]
        ends = [place.start] if feature.size == 1 else [place.start, place.stop - 1]
        assert row[:3] == [feature.name, " to ".join(map(str, ends)), f"0 to {feature.high}"]
        if feature.name != "rules":
            assert row[3] == feature.meaning.replace("`", "")
    assert f"uint8 ({OBSERVATION_SIZE},)" in PAGE
    assert f"uint8 ({FULL_SIZE},)" in PAGE
    for name, place in SWITCH_PLACES.items():
        assert f"{place} `{name}`" in PAGE
    for number, phase in enumerate(Phase):
        assert f"{LAYOUT['phase'].start + number} `{phase.name.lower()}`" in PAGE


def test_the_actions_have_these_numbers() -> None:
    covered: list[int] = []
    for numbers, texts, _ in table("The actions by number"):
        first, _, last = numbers.partition(" to ")
        ids = [*range(int(first), int(last) + 1)]
        covered += ids
        runs = [[parse_action(text) for text in run.split(", ")] for run in texts.split(" … ")]
        assert runs[-1] == ids[-len(runs[-1]) :]
        assert runs[0] == ids[: len(runs[0])]
    assert covered == [*range(len(ACTIONS))]


def test_the_versions_are_those_of_the_code() -> None:
    assert {row[0]: row[1] for row in table("Versions")} == {
        "actions": str(ACTION_LAYOUT_VERSION),
        "observation": str(OBSERVATION_LAYOUT_VERSION),
        "inputs of policies": str(INPUTS_VERSION),
        "policy files": str(FORMAT_VERSION),
        "records": str(VERSION),
        "environments": "0",
    }
