"""The notebooks run from top to bottom, and say what they are kept saying."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))

HANGS = 900
"""Seconds after which a cell is taken to hang; other tests may run beside it."""


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What each code cell prints."""
    return [
        "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_prints_what_it_holds(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    kept = printed(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=HANGS, resources=resources).execute()
    assert printed(notebook) == kept


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["01-play", "02-train", "03-tournament"]
