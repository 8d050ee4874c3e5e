"""Cells of tables: how numbers are written."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

Table = list[list[str]]
"""Rows of cells; the first is the head."""
Select = Mapping[str, Any]
"""Rows of results: those that have such a value in each of these columns."""


def number(value: float, digits: int = 3, places: int = 3) -> str:
    """Write so many significant digits, all before the point, and no more than some places behind it: 12,345, 103, 24.7, 8.91, 0.023."""
    before = len(str(int(abs(value))))
    behind = digits - before if abs(value) >= 1 else places
    return f"{value:,.{min(max(behind, 0), places)}f}"


def percent(share: float) -> str:
    """Write a share in whole percent."""
    return f"{100 * share:.0f}%"


def one(results: pd.DataFrame, *selections: Select) -> pd.Series:
    """Return the only row of results that all selections leave. Raises ValueError if there is none, or more than one."""
    found = results
    for column, value in ((column, value) for selection in selections for column, value in selection.items()):
        found = found[found[column] == value]
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows with {selections}, not one")
    return found.iloc[0]


def grid(
    results: pd.DataFrame,
    rows: Mapping[str, Select],
    columns: Mapping[str, Select],
    cell: Callable[[pd.Series], str],
    corner: str = "",
) -> Table:
    """Make a table with a row and a column for each selection, and a cell of the only result that both leave."""
    body = [[label, *(cell(one(results, row, column)) for column in columns.values())] for label, row in rows.items()]
    return [[corner, *columns], *body]


def best(cells: list[str], values: list[float]) -> list[str]:
    """Make the cell with the smallest value bold."""
    least = values.index(min(values))
    return [f"**{cell}**" if place == least else cell for place, cell in enumerate(cells)]


def variants(*names: str | tuple[str, str]) -> dict[str, Select]:
    """Select variants of an experiment by their names, with these or others as labels: ``(label, name)``."""
    pairs = [(name, name) if isinstance(name, str) else name for name in names]
    return {label: {"variant": name} for label, name in pairs}


def cores(numbers: Iterable[int]) -> dict[str, Select]:
    """Select results by threads, which have a core each."""
    return values("workload.threads", numbers, lambda number: "1 core" if number == 1 else str(number))


def values(column: str, of: Iterable[Any], label: Callable[[Any], str] = str) -> dict[str, Select]:
    """Select values of a column, with labels made of them."""
    return {label(value): {column: value} for value in of}
