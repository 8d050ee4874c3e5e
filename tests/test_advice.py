"""Layout advice: its files, and what is predicted."""

from pathlib import Path

import pytest

from analysis.advice.files import Query, Task, load_task
from analysis.advice.predict import LAYOUTS, Layout, UnitCosts, predict
from simcore.errors import UserError
from simcore.paths import configs

SCHEMA = """\
schema_version: 1
name: small
records: 1000000
attribute_bytes: 4B
attributes: [a, b, c, d]
"""
QUERIES = """\
schema_version: 1
page_bytes: 32KiB
prefetch_bytes: 1MiB
queries:
  - {name: narrow, predicates: [b], selectivity: 0.1, project: [b, d]}
  - {name: whole, weight: 2, project: [a, b, c, d]}
"""
COSTS = UnitCosts(sequential_io=200e-6, random_io=5e-3, iteration=1e-6, function_call=100e-9)


def task(folder: Path, schema: str = SCHEMA, queries: str = QUERIES) -> Task:
    (folder / "schema.yaml").write_text(schema)
    (folder / "queries.yaml").write_text(queries)
    return load_task(folder / "schema.yaml", folder / "queries.yaml")


def narrow(folder: Path, layout: Layout) -> tuple[float, float, float, float]:
    """I/O, iteration, reconstruction (seconds) and bytes read by the first query: two of four columns, a million rows."""
    whole = task(folder)
    predicted = predict(layout, whole.workload.queries[0], whole, COSTS)
    return (predicted.cost.io, predicted.cost.iteration, predicted.cost.reconstruction, predicted.bytes_read)


def test_attributes_of_a_query_count_once() -> None:
    assert Query(name="q", predicates=["b", "a"], project=["a", "c"]).attributes == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("layout", "bytes_per_row", "runs", "calls"),
    [
        ("nsm", 32, 0, (1e6, 1e6)),
        ("pax", 16, 0, (1e6, 1e6)),
        ("super-row", 16, 0, (16e6 / 32736, 1e6)),
        # 16 pages of each column are read at once: one MiB for two columns.
        ("super-column", 8, 8e6 / 32736 / 16, (8e6 / 32736, 2e6)),
        ("dsm", 48, 48e6 / 32736 / 16, (2e6, 2e6)),
    ],
)
def test_predictions_by_hand(tmp_path: Path, layout: Layout, bytes_per_row: float, runs: float, calls: tuple[float, float]) -> None:
    iterations, fields = calls
    pages = bytes_per_row * 1e6 / 32736
    io = pages * 200e-6 + runs * (5e-3 - 200e-6)
    expected = (io, iterations * 1e-6, fields * 100e-9, pages * 32768)
    assert narrow(tmp_path, layout) == pytest.approx(expected)


def test_the_examples_can_be_read() -> None:
    folder = configs() / "advice"
    for workload in ("few-columns", "whole-rows"):
        example = load_task(folder / "readings.yaml", folder / f"{workload}.yaml")
        totals = {
            layout: sum(predict(layout, query, example, COSTS).cost.total for query in example.workload.queries) for layout in LAYOUTS
        }
        assert min(totals, key=totals.__getitem__) == ("super-column" if workload == "few-columns" else "super-row")


@pytest.mark.parametrize(
    ("schema", "queries", "answer"),
    [
        (SCHEMA, QUERIES.replace("[b, d]", "[b, dd]"), "queries.yaml:5:68: the table has no attribute `dd`; did you mean `d`?"),
        (SCHEMA, QUERIES.replace("[b, d]", "[b, b]"), "queries.yaml:5:68: `b` is given twice; remove one"),
        (SCHEMA.replace("[a, b,", "[a, a, b,"), QUERIES, "schema.yaml:5:17: `a` is given twice"),
        (SCHEMA, QUERIES.replace("whole", "narrow"), "queries.yaml:6:12: a query is called `narrow` already"),
        (SCHEMA, QUERIES.replace("selectivity", "selectivty"), "unknown key `selectivty`; did you mean `selectivity`?"),
        (SCHEMA, QUERIES.replace("0.1", "1.5"), "queries.yaml:5:"),
        (SCHEMA, QUERIES.replace("32KiB", "32k"), "page_bytes: `32k` leaves open"),
        (SCHEMA.replace("4B", "4"), QUERIES, "attribute_bytes: `4` has no unit"),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, schema: str, queries: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        task(tmp_path, schema, queries)
    assert answer in str(error.value)
