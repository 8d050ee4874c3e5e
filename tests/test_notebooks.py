"""Notebooks run from their first cell to their last: with small numbers, and at night as they are."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

SMALL: dict[str, dict[str, Any]] = {
    "01-first-look": {"KEYS": 20_000, "SEARCHES": 200, "SCANNED": 500, "LATENCIES": [100, 500]},
    "02-choose-a-layout": {"RECORDS": 1_000},
    "03-tables-on-storage": {"RECORDS": 400_000, "SAMPLE": 20_000, "QUERIES": 10, "DEVICES": {"disk": "cheetah-36es"}},
    "04-hash-joins": {"BUILD": 1_000, "GROUPS": [1, 8], "CORES": [1, 2], "SIZES": [20, 100], "DUPLICATES": [1, 2]},
    "05-indexes-in-pages": {"KEYS": 20_000, "DEVICES": ["nvme-ssd"], "MEMORY": 1, "MEMORIES": [1, 2], "PAGES": [4096]},
}
"""What the first cell of a notebook, by its name, assigns instead: enough for every cell to have something to show."""
IN_ONE_PROCESS = """
import functools, memwalk.analysis.experiments.session as session
session.run_rows = functools.partial(session.run_rows, jobs=1)
"""
"""Processes of a sweep take longer to begin than small numbers to be simulated."""


def first_cell(notebook: Path) -> tuple[Any, int]:
    """Return the notebook, and where its first cell of code is, which assigns what a reader may change."""
    read = nbformat.read(notebook, as_version=4)
    return read, next(place for place, cell in enumerate(read.cells) if cell.cell_type == "code")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
@pytest.mark.parametrize("numbers", ["small", pytest.param("as it is", marks=pytest.mark.nightly)])
def test_a_notebook_runs(notebook: Path, numbers: str) -> None:
    read, place = first_cell(notebook)
    if numbers == "small":
        smaller = "\n".join(f"{name} = {value!r}" for name, value in SMALL[notebook.stem].items())
        read.cells.insert(place + 1, nbformat.v4.new_code_cell(smaller + IN_ONE_PROCESS))
    NotebookClient(read, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_small_numbers_are_of_names_that_the_notebook_has(notebook: Path) -> None:
    read, place = first_cell(notebook)
    names = [node.id for node in ast.walk(ast.parse(read.cells[place].source)) if isinstance(node, ast.Name)]
    assert set(SMALL[notebook.stem]) <= set(names)
