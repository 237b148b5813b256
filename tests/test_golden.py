"""Golden games come out as they were recorded, and meet every effect, switch and house rule."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import golden
import pytest
from golden import FOLDER, Golden, met_in, played, wanted

from uno_env.game.rules import Rules

FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_game_comes_out_as_recorded(path: Path) -> None:
    game = Golden.read(path)
    assert played(game) == game.end
    assert str(game) == path.read_text()


def test_nothing_is_missing() -> None:
    met = set().union(*(met_in(Golden.read(path)) for path in FILES))
    assert wanted() - met == set()


def test_every_switch_with_named_values_is_wanted() -> None:
    numbers = {"num_players", "uno_penalty", "action_points", "wild_points", "target"}
    assert set(golden.SWITCHES) == {field.name for field in dataclasses.fields(Rules)} - numbers


def test_a_changed_course_is_noticed() -> None:
    game = Golden.read(FILES[0])
    other = dataclasses.replace(game, seed=game.seed + 1)
    try:
        assert played(other) != game.end
    except (AssertionError, ValueError):
        return
