"""Learning curves as pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from train.plot import curves, draw, main
from train.run import RunError


def run(path: Path, shares: list[float], every: int = 1000) -> Path:
    """A run folder with an evaluation in every second update."""
    path.mkdir()
    rows = []
    for i, share in enumerate(shares):
        rows.append({"timesteps": every * (2 * i + 1), "train/loss": 0.5})
        rows.append(
            {
                "timesteps": every * (2 * i + 2),
                "eval/classic 2 players/greedy/expert": share,
                "eval/classic 2 players/sampled/expert": share - 0.1,
                "eval/classic 4 players/greedy/expert": share / 2,
                "eval/score": share,
                "eval/best_timesteps": 0,
            }
        )
    (path / "progress.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_curves_of_several_runs_stand_together(tmp_path: Path) -> None:
    panels = curves([run(tmp_path / "a", [0.3, 0.5]), run(tmp_path / "b", [0.4, 0.6])])
    assert list(panels) == ["classic 2 players", "classic 4 players"]
    at, shares = panels["classic 2 players"]["expert"]
    np.testing.assert_allclose(at, [0.002, 0.004])
    np.testing.assert_allclose(shares, [[0.3, 0.5], [0.4, 0.6]])
    np.testing.assert_allclose(panels["classic 4 players"]["expert"][1], shares / 2)
    first, second = draw(panels).axes
    mean = first.lines[0].get_ydata()
    np.testing.assert_allclose(mean, [35, 55])
    assert [axis.lines[1].get_ydata()[0] for axis in (first, second)] == [50, 25]


def test_runs_that_cannot_be_drawn_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="has no evaluation yet"):
        curves([tmp_path / "none"])
    one, other = run(tmp_path / "a", [0.3]), run(tmp_path / "b", [0.3], every=10)
    with pytest.raises(RunError, match=r"b was evaluated at other times than .*a"):
        curves([one, other])


@pytest.mark.parametrize("name", ["curve.svg", "curve.png"])
def test_the_command_draws_a_picture(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert main([str(run(tmp_path / "a", [0.3, 0.5])), "--out", str(out)]) == 0
    start = out.read_bytes()[:200]
    assert start.startswith(b"<?xml") if name.endswith("svg") else start[1:4] == b"PNG"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", name]


def test_a_picture_of_no_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = tmp_path / "curve.xyz"
    with pytest.raises(SystemExit):
        main([str(run(tmp_path / "a", [0.3])), "--out", str(out)])
    assert "curve.xyz: allowed is a name that ends in .svg or .png" in capsys.readouterr().err
    assert not out.exists()
