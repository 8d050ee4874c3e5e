"""Tables of figure files: simulated numbers, and published ones in brackets where they differ."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from memwalk.analysis.claims import MeasureError, Outcome, Study, panel
from memwalk.analysis.figures.schema import PrintedTable
from memwalk.analysis.figures.tables import printed

CLAIMS = {"kind": "claims", "title": "T", "columns": ["table", "pages", "empty %"], "rows": {"PART": ["pages", "empty"]}}
PLACEMENT = {
    "kind": "placement", "title": "T", "note": "N", "panel": "p", "variant": "v", "part": "column",
    "simulated": "placed", "published": "workload.like",
}  # fmt: skip
ROW = {
    "variant": "v", "placed.a.1": 4.0, "placed.b.2": 8, "placed.c.10": None, "workload.like.b.2": 8, "workload.like.a.10": 4, "placed": 1,
}  # fmt: skip


def outcome(name: str, published: float, simulated: float) -> Outcome:
    told = (published, published, simulated, simulated, "strict")
    return Outcome(name, "f", "arithmetic", "analytic", "m", "pages", *told, True, True, None, None, None)


OUTCOMES = [outcome("pages", 17, 15), outcome("empty", 3.53, 3.5294)]


def tables(given: dict[str, Any]) -> list[list[str]]:
    table: Any = TypeAdapter(PrintedTable).validate_python(given)
    (found,) = printed([table], OUTCOMES, Study({"p": panel([ROW], [])}, {}.__getitem__))
    return [found.columns, *found.rows]


def test_a_claim_is_shown_with_what_is_published_if_that_differs() -> None:
    assert tables(CLAIMS) == [["table", "pages", "empty %"], ["PART", "15 (17)", "3.53"]]


def test_placements_are_laid_side_by_side() -> None:
    assert tables(PLACEMENT) == [["column", "1", "2", "10"], ["b", "", "8", ""], ["a", "4 (-)", "", "- (4)"]]


@pytest.mark.parametrize(
    ("row", "message"),
    [(["pages", "emptiness"], "row PART: no claim `emptiness`"), (["pages"], "row PART: 1 cells for 2 columns")],
)
def test_a_row_that_does_not_fit_is_refused(row: list[str], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        tables(CLAIMS | {"rows": {"PART": row}})
