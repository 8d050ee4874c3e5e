"""The tables of a result that explanations are made from, read from a results folder or a stored point."""

from pathlib import Path
from typing import Any

import pandas as pd

from memwalk.analysis.experiments.manifest import BREAKDOWN, RESULTS, SITES, USAGE
from memwalk.analysis.experiments.points import Point, Row, parameters_of
from memwalk.analysis.experiments.results import breakdown_table, read_table, table, usage_table
from memwalk.analysis.experiments.store import read_point
from memwalk.simcore.errors import UserError

_NAMES = ["experiment", "variant", "point"]
"""Columns by which the rows of long tables belong to those of the results."""
_AGAIN = "run the command that wrote the folder again, with the same --out"
"""What makes tables again."""


def tables(result: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Read results, breakdown and byte usage; the last is empty if it was not observed."""
    if result.suffix == ".json":
        try:
            content = read_point(result)
        except FileNotFoundError:
            raise UserError(f"{result}: no such file; name a results folder, a results file or a point") from None
        point = Point.read(content)
        rows, statistics = [Row("", "", parameters_of(point), point)], {point.id: content["statistics"]}
        return table(rows, statistics), breakdown_table(rows, statistics), usage_table(rows, statistics)
    if result.is_file() and result.name not in (RESULTS, BREAKDOWN, USAGE):
        raise UserError(f"{result}: is no result; name a results folder, {RESULTS} or the JSON file of a point")
    folder = result if result.is_dir() else result.parent
    for path in (result, folder / RESULTS, folder / BREAKDOWN):
        if not path.exists():
            within = sorted(folder.glob(f"*/{RESULTS}"))
            such_as = f", such as {within[0].parent}" if within else ""
            raise UserError(f"{path}: no such file or folder; name the output folder of a finished `memwalk run`{such_as}")
    usage = _read(folder / USAGE) if (folder / USAGE).exists() else usage_table((), {})
    results, breakdown = _read(folder / RESULTS), _read(folder / BREAKDOWN)
    if not _are_of_one_run(results, breakdown):
        raise UserError(f"{folder}: {RESULTS} and {BREAKDOWN} are of different runs; {_AGAIN}")
    return results, breakdown, usage


def _read(path: Path) -> pd.DataFrame:
    """Read a table of a results folder. Raises UserError for one that is damaged, or that something else has written."""
    try:
        found = read_table(path)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); remove it, and {_AGAIN}") from None
    missing = [name for name in _NAMES if name not in found]
    if missing:
        raise UserError(f"{path}: has no column `{missing[0]}`, so that no `memwalk run` wrote it; remove it, and {_AGAIN}")
    return found


def _are_of_one_run(results: pd.DataFrame, breakdown: pd.DataFrame) -> bool:
    """Tell whether the slots of each point are those of its parts."""
    if "slots_total" not in results:
        return True  # nothing ran on a machine
    parts = breakdown.groupby(_NAMES)["slots"].sum()
    points = results.dropna(subset="slots_total").set_index(_NAMES)["slots_total"]
    return bool((parts.reindex(points.index, fill_value=0) == points).all())


def by_site(result: Path) -> pd.DataFrame:
    """Read the breakdown by place in the code."""
    path = (result if result.is_dir() else result.parent) / SITES
    if not path.exists():
        raise UserError(f"{path}: no such file; results by place in the code come from `memwalk replay --out FOLDER`")
    return _read(path).rename(columns={"site": "segment"})


def rows_of(row: "pd.Series[Any]", long: pd.DataFrame) -> pd.DataFrame:
    """Take the rows of a long table that belong to a row of the results."""
    mine: pd.DataFrame = long[(long[_NAMES] == row[_NAMES]).all(axis=1)]
    return mine
