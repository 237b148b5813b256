"""The README's examples run as they stand, and its commands are the ones that CI uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_policy import random_policy

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs" / "first").mkdir(parents=True)
    random_policy().save(tmp_path / "runs" / "first" / "policy.safetensors")
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[number], f"README example {number + 1}", "exec"), {})


def test_there_are_examples_for_the_three_jobs() -> None:
    for name in ("train.ppo", "eval.tournament", "Policy.load"):
        assert any(name in example for example in EXAMPLES), name


def test_ci_runs_the_test_command() -> None:
    commands = [line for line in README.splitlines() if re.match(r"python3 -m venv .*pytest", line)]
    assert len(commands) == 1
    assert "grep -m1 '^python3 -m venv .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()
