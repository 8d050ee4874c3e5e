"""The tables of a figure file as `memwalk reproduce` prints them: simulated, and published in brackets where that differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memwalk.analysis.claims.report import span
from memwalk.analysis.claims.study import MeasureError, Study
from memwalk.analysis.claims.sweep import rows
from memwalk.analysis.claims.verdict import Outcome
from memwalk.analysis.figures.schema import ClaimTable, PlacementTable, PrintedTable

NOTHING = "-"


@dataclass(frozen=True)
class Printed:
    """A table ready to print."""

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]


def printed(tables: Sequence[PrintedTable], outcomes: Sequence[Outcome], study: Study) -> list[Printed]:
    """Fill the tables. Raises MeasureError if a table does not fit the claims or the results."""
    by_id = {outcome.id: outcome for outcome in outcomes}
    return [_of_claims(table, by_id) if isinstance(table, ClaimTable) else _of_placement(table, study) for table in tables]


def _of_claims(table: ClaimTable, outcomes: Mapping[str, Outcome]) -> Printed:
    rows = []
    for label, claims in table.rows.items():
        unknown = [claim for claim in claims if claim not in outcomes]
        if unknown or len(claims) != len(table.columns) - 1:
            wrong = f"no claim `{unknown[0]}`" if unknown else f"{len(claims)} cells for {len(table.columns) - 1} columns"
            raise MeasureError(f"table `{table.title}`, row {label}: {wrong}")
        rows.append([label, *(_claim_cell(outcomes[claim]) for claim in claims)])
    return Printed(table.title, table.note, table.columns, rows)


def _claim_cell(outcome: Outcome) -> str:
    simulated = span(outcome.simulated_low, outcome.simulated_high)
    return _cell(simulated, span(outcome.published_low, outcome.published_high))


def _of_placement(table: PlacementTable, study: Study) -> Printed:
    row = rows(study[table.panel], table.variant).iloc[0].to_dict()
    simulated, published = (_placed(row, prefix) for prefix in (table.simulated, table.published))
    parts = list(dict.fromkeys(part for part, _ in [*published, *simulated]))
    places = sorted({place for _, place in [*simulated, *published]})
    cells = [[part, *(_cell(simulated.get((part, place), ""), published.get((part, place), "")) for place in places)] for part in parts]
    return Printed(table.title, table.note, [table.part, *map(str, places)], cells)


def _placed(row: Mapping[Any, Any], prefix: str) -> dict[tuple[str, int], str]:
    """Read the columns ``<prefix>.<part>.<place>`` that have a value."""
    found = {}
    for name, value in row.items():
        if name.startswith(prefix + ".") and not pd.isna(value):
            part, place = name.removeprefix(prefix + ".").rsplit(".", 1)
            found[part, int(place)] = _whole(value)
    return found


def _whole(value: Any) -> str:
    return str(int(value))


def _cell(simulated: str, published: str) -> str:
    if simulated == published:
        return simulated
    return f"{simulated or NOTHING} ({published or NOTHING})"
