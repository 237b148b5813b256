"""Imports run one way: uno_env.game <- uno_env <- agents <- eval <- train."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = ["uno_env.game", "uno_env", "agents", "eval", "train"]
CORE_MAY_USE = {"numpy", *sys.stdlib_module_names}
FILES = [path for layer in ORDER[1:] for path in sorted((ROOT / layer).rglob("*.py"))]


def layer_of(module: str) -> str | None:
    for layer in ORDER:
        if module == layer or module.startswith(layer + "."):
            return layer
    return None


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_run_one_way(path: Path) -> None:
    own = layer_of(module_name(path))
    assert own is not None
    for name in imported(path):
        layer = layer_of(name)
        if layer is not None:
            assert ORDER.index(layer) <= ORDER.index(own), f"{module_name(path)} imports {name}"


def test_the_core_uses_numpy_alone() -> None:
    for path in (ROOT / "uno_env" / "game").glob("*.py"):
        for name in imported(path):
            top = name.split(".")[0]
            assert top in CORE_MAY_USE or name.startswith("uno_env.game"), f"{path.name}: {name}"


def test_the_check_can_fail() -> None:
    assert ORDER.index(layer_of("train.ppo") or "") > ORDER.index(layer_of("agents.base") or "")
    assert layer_of("uno_env.game.cards") == "uno_env.game"
    assert layer_of("uno_env.policy") == "uno_env"
    assert layer_of("numpy") is None
