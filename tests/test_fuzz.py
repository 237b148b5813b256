"""The fuzzer itself, for a moment and without its engine: `tests/fuzz.py` is for the long runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from random import Random

import fuzz
import pytest
from fuzz_targets import DOCUMENTED, ROOT, TARGETS, StrayError, Target

FILES = 150


def test_every_kind_of_file_has_a_target_and_documented_errors() -> None:
    assert [*fuzz.KINDS] == [*TARGETS] == [*DOCUMENTED]


@pytest.mark.parametrize("kind", TARGETS)
def test_spoilt_files_raise_nothing_but_the_documented_errors(kind: str, tmp_path: Path) -> None:
    target = TARGETS[kind](tmp_path)
    assert all(target.check(seed) for seed in target.seeds)
    whole = 0
    for number in range(FILES):
        rng = Random(number)
        whole += target.check(target.spoil(rng.choice(target.seeds), rng))
    assert 0 < whole < FILES, "all are refused, or none"


@pytest.mark.parametrize(
    ("spoilt", "fault"),
    [
        (lambda data: {}["x"], KeyError),
        (lambda data: lambda: {}["x"], KeyError),
        (lambda data: int("x"), StrayError),
        (lambda data: lambda: int("x"), ValueError),
    ],
)
def test_an_error_that_nobody_documents_is_a_fault(
    spoilt: Callable, fault: type[Exception]
) -> None:
    """One that is not listed, one of the right type that was not meant, and any while in use."""
    with pytest.raises(fault):
        Target("position", [], spoilt, lambda data, rng: data).check(b"")


def test_taking_long_or_much_memory_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = TARGETS["state"](tmp_path)
    fuzz.check(target, target.seeds[0])
    peaks = iter([0, fuzz.SPARE * 2])
    monkeypatch.setattr(fuzz, "_peak", lambda: next(peaks))
    with pytest.raises(AssertionError, match="more of memory"):
        fuzz.check(target, target.seeds[0])
    monkeypatch.undo()
    monkeypatch.setattr(fuzz, "SECONDS", -1.0)
    with pytest.raises(AssertionError, match="it took"):
        fuzz.check(target, target.seeds[0])


READS_PICKLES = (
    *("import pickle", "import marshal", "import shelve", "from pickle"),
    *("np.load(", "torch.load(", "exec(", "eval("),
)


def test_no_file_is_read_in_a_way_that_runs_code() -> None:
    """Pickles are read nowhere, and what torch saved, a run's own checkpoints, as weights only."""
    found = []
    for package in fuzz.PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
                    found += [
                        text for text in [ast.unparse(node)] if text.startswith(READS_PICKLES)
                    ]
    assert found == ["torch.load(folder / 'network.pt', weights_only=True)"]
