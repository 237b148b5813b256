"""Run folders whose files are damaged or were written by others: said, whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from train.arguments import Arguments
from train.plot import curves
from train.run import RunError, best_checkpoint, read_arguments, read_progress, seconds_of


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("{", "Expecting property name"),
        ("[]", "cannot be used"),
        ("[" * 100_000, "nested too deeply"),
        ('{"rules": ["\\ud800"]}', "half of a surrogate pair"),
        ({"chess": 1}, "unexpected keyword argument 'chess'"),
        ({"learning_rate": 10**400}, "allowed is a finite number above 0"),
        ({"num_envs": 1e400}, "num_envs=inf: allowed is a whole number"),
        ({"num_players": [2, 3], "shares": [1e308, 1e308]}, "numbers whose sum is finite"),
        ({"num_players": [2, 3], "shares": [1e305, 1e305]}, "numbers whose sum is finite"),
        ({"opponent_weighting": ["hard"]}, r"\['hard'\]: allowed is one of hard, equals, even"),
        ({"opponents": 5}, "cannot be used"),
        ({"out": [], "warm_start": {}}, "warm_start={}: allowed is a policy file's path"),
    ],
)
def test_arguments_that_cannot_be_used(tmp_path: Path, wrong: Any, message: str) -> None:
    text = wrong if isinstance(wrong, str) else json.dumps(wrong)
    (tmp_path / "arguments.json").write_text(text)
    with pytest.raises(RunError, match=message):
        read_arguments(tmp_path)


def test_arguments_are_read_as_they_were_written(tmp_path: Path) -> None:
    arguments = Arguments(out=tmp_path, num_players=(2, 5), shares=(1, 3), patience=2)
    (tmp_path / "arguments.json").write_text(json.dumps(arguments.as_json()))
    assert read_arguments(tmp_path) == arguments


ROW = {"timesteps": 64, "time/seconds": 2.5, "eval/classic 2 players/greedy/keen": 0.5}
ROW |= {"eval/score": 0.5, "train/entropy": None}


def progress(path: Path, *lines: object) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    (path / "progress.jsonl").write_text("".join(f"{text}\n" for text in texts))
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 cannot be used: Expecting property name"),
        ("[" * 100_000, "line 2 cannot be used: it is nested too deeply"),
        ("5", "line 2 cannot be used: allowed is a JSON object"),
        ({}, "line 2 cannot be used: timesteps=None: allowed is a whole number"),
        ({**ROW, "timesteps": 0.5}, r"timesteps=0\.5: allowed is a whole number"),
        ({**ROW, "train/loss": "low"}, "train/loss='low': allowed is a finite number or null"),
        ({**ROW, "train/loss": [1]}, r"train/loss=\[1\]: allowed is a finite number or null"),
        ({**ROW, "time/seconds": 10**400}, "allowed is a finite number or null"),
    ],
)
def test_a_learning_curve_that_cannot_be_used(tmp_path: Path, line: Any, message: str) -> None:
    run = progress(tmp_path, ROW, line)
    for read in (read_progress, seconds_of, lambda run: curves([run])):
        with pytest.raises(RunError, match=message):
            read(run)


def test_a_learning_curve_without_what_is_asked_of_it(tmp_path: Path) -> None:
    run = progress(tmp_path, ROW, {**ROW, "time/seconds": 4.0})
    assert seconds_of(run) == 4.0
    with pytest.raises(RunError, match="does not tell the time/seconds of every update"):
        seconds_of(progress(tmp_path, ROW, {"timesteps": 1}))
    for other in ({"eval/classic 2 players/greedy/keen": None}, {"eval/chess/greedy/keen": 0.5}):
        with pytest.raises(RunError, match="not in every evaluation"):
            curves([progress(tmp_path, {**ROW, **other})])
    progress(tmp_path, ROW, {"timesteps": 65, "eval/score": 1})
    with pytest.raises(RunError, match="'eval/classic 2 players/greedy/keen' not in every"):
        curves([tmp_path])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("", "cannot be used"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "KeyError: 'best'"),
        ('{"best": 5}', "cannot be used: TypeError"),
        ('{"best": {"timesteps": "9"}}', "timesteps='9': allowed is a whole number from 0"),
        (f'{{"best": {{"timesteps": {10**300}}}}}', "allowed is a whole number from 0"),
        ('{"best": {"timesteps": 0}}', "no policy of .* has been evaluated yet"),
    ],
)
def test_a_checkpoint_that_does_not_tell_the_best(tmp_path: Path, state: str, message: str) -> None:
    folder = tmp_path / "checkpoints" / f"{64:012d}"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text(state)
    with pytest.raises(RunError, match=message):
        best_checkpoint(tmp_path)
