"""Cards of policy files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from train import card
from train.arguments import Arguments, preset
from train.card import Cell, cells, command, main, write_card
from train.ppo import _parse
from uno_env.policies import path_of
from uno_env.policy import Policy, PolicyFileError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy file with few things to measure."""
    monkeypatch.setattr(card, "PLAYERS", (2, 3))
    monkeypatch.setattr(card, "OPPONENTS", ("keen",))
    policy = Policy.load(path_of("angry_birds"))
    path = tmp_path / "mine.safetensors"
    policy.save(path)
    return path


def test_what_is_measured_stands_in_the_card(file: Path) -> None:
    text = write_card(file, 40, 10).read_text()
    results = json.loads(file.with_suffix(".json").read_text())["results"]
    asked = [(row["players"], row["number"], row["games"]) for row in results]
    assert asked == [(2, 40, False), (3, 40, False), (2, 10, True)]
    for row in results:
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
    assert f"| 2 players, rounds (50) | {100 * results[0]['value']:.1f} ± " in text
    assert "| 2 players, games (50) |" in text
    arguments = Policy.load(file).training["arguments"]
    assert f"| `seed` | {arguments['seed']} |" in text
    assert f"{Policy.load(file).training['timesteps']:,} steps" in text


def test_what_was_measured_is_not_measured_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Cell] = []
    play = Cell.measure

    def counted(self: Cell, *args: object) -> dict[str, object]:
        measured.append(self)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return play(self, *args)

    monkeypatch.setattr(Cell, "measure", counted)
    with pytest.raises(KeyboardInterrupt):
        write_card(file, 20, 4)
    assert not file.with_suffix(".md").exists()
    write_card(file, 20, 4)
    assert measured[2:] == [measured[1], cells(["angry_birds"], 20, 4)[2]]
    write_card(file, 20, 4)
    assert len(measured) == 4
    write_card(file, 24, 4)  # more are asked for
    assert [cell.number for cell in measured[4:]] == [24, 24]
    assert len(json.loads(file.with_suffix(".json").read_text())["results"]) == 3


def test_results_of_other_weights_are_dropped(file: Path) -> None:
    write_card(file, 20, 4)
    before = json.loads(file.with_suffix(".json").read_text())
    policy = Policy.load(file)
    weights = {**policy.weights, "out.weight": -policy.weights["out.weight"]}
    Policy(weights, policy.rules, policy.training).save(file)
    write_card(file, 10, 2)
    after = json.loads(file.with_suffix(".json").read_text())
    assert [row["number"] for row in after["results"]] == [10, 10, 2]
    assert after["sha256"] != before["sha256"]


@pytest.mark.parametrize(
    "arguments",
    [
        preset("standard"),
        preset("long", seed=7, rules=("classic", "official uno_penalty=3"), shares=()),
        Arguments(full_information=False, shares=(1.5, 2), num_players=(2, 4), patience=3),
    ],
)
def test_the_command_gives_the_arguments(arguments: Arguments) -> None:
    words = shlex.split(command(arguments))
    assert words[:3] == ["python", "-m", "train.ppo"]
    parsed, run = _parse([*words[3:], "--out", str(arguments.out)])
    assert run is None
    assert parsed == arguments


@pytest.mark.parametrize(
    "training",
    [
        {"arguments": 5},
        {"arguments": {"rules": ["chess"]}},
        {"arguments": {"rules": [""]}},
        {"timesteps": None},
        {"timesteps": "many"},
        {"seconds": "long"},
        {"seconds": 5, "machine": None},
    ],
)
def test_a_summary_that_makes_no_card_is_refused(file: Path, training: dict[str, Any]) -> None:
    policy = Policy.load(file)
    told = {**policy.training, **training}
    told = {name: value for name, value in told.items() if value is not None}
    Policy(policy.weights, policy.rules, told).save(file)
    with pytest.raises(PolicyFileError, match="does not tell what it was trained with"):
        write_card(file, 20, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("{", "JSONDecodeError"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "TypeError"),
        ({"sha256": None}, "KeyError"),
        ({"results": 5}, "TypeError"),
        ({"rules": "chess"}, "rules='chess': allowed is 'angry_birds' or"),
        ({"rules": ["classic"]}, "allowed is 'angry_birds' or"),
        ({"players": 0}, "players=0: allowed is a whole number from 2"),
        ({"opponent": {}}, "opponent={}: allowed is a name"),
        ({"number": 1.5}, "number=1.5: allowed is a whole number"),
        ({"games": 1}, "games=1: allowed is True or False"),
        ({"high": "1"}, "high='1': allowed is a number from 0 to 1"),
        ({"value": float("nan")}, "value=nan: allowed is a number from 0 to 1"),
    ],
)
def test_results_that_are_none_are_refused(
    file: Path, change: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = file.with_suffix(".json")
    write_card(file, 20, 4)
    saved = json.loads(kept.read_text())
    if isinstance(change, str):
        kept.write_text(change)
    else:
        inside = saved if change.keys() <= saved.keys() else saved["results"][1]
        inside |= change
        kept.write_text(json.dumps({k: v for k, v in saved.items() if v is not None}))
    before = kept.read_text()
    assert main([str(file), "--rounds", "20", "--games", "4"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "delete it to have all measured anew" in error
    assert kept.read_text() == before


def test_a_file_that_tells_nothing_of_its_training_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = Policy.load(file)
    Policy(policy.weights, policy.rules).save(file)
    assert main([str(file)]) == 2
    assert "write it with train.export" in capsys.readouterr().err
    assert main([str(file.with_name("none.safetensors"))]) == 2
    assert "no policy file at" in capsys.readouterr().err
