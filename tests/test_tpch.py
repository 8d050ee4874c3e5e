"""The queries of the kernel `tpch` against DuckDB, which gets the same generated tables."""

import zlib
from pathlib import Path

import pytest
from oracles.tpch.duckdb_answers import QUERIES, answers, load
from pydantic import TypeAdapter, ValidationError

from memwalk.analysis.experiments.workload import Parameters, Workload
from memwalk.simcore.engines import native

SCALE_FACTOR = 0.001
WAYS = ("index", "merge", "position")
"""How records of DSM are put together."""


def test_every_layout_answers_as_duckdb(tmp_path: Path) -> None:
    database = load(SCALE_FACTOR, tmp_path)
    for query in QUERIES:
        expected = dict(answers(database, query))
        assert expected
        for layout in ({"layout": "nsm"}, {"layout": "pax"}, *({"layout": "dsm", "reconstruction": how} for how in WAYS)):
            workload = {"kernel": "tpch", "query": query, "scale_factor": SCALE_FACTOR} | layout
            assert _answers(workload, tmp_path) == expected, (query, layout)


def test_a_range_selection_selects_as_duckdb(tmp_path: Path) -> None:
    database = load(SCALE_FACTOR, tmp_path)
    workload = {"kernel": "tpch", "query": "rs", "scale_factor": SCALE_FACTOR, "selectivity": 0.25, "project": ["l_suppkey"]}
    outcome = _outcome(workload, tmp_path)
    # The range ends at a value of the attribute: the rows up to it, ties included.
    rows = "SELECT l_suppkey, rank() OVER (ORDER BY l_partkey) AS place FROM lineitem"
    wanted = "(SELECT round(count(*) * 0.25) FROM lineitem)"
    found = database.execute(f"SELECT count(*), sum(l_suppkey) FROM ({rows}) WHERE place <= {wanted}").fetchone()
    assert found == (outcome["returned"], outcome["checksum"])


def test_checksums_have_all_bytes_of_strings(tmp_path: Path) -> None:
    database = load(SCALE_FACTOR, tmp_path)
    workload = {"kernel": "tpch", "query": "rs", "scale_factor": SCALE_FACTOR, "selectivity": 1.0, "project": ["l_suppkey", "l_comment"]}
    rows = database.execute("SELECT l_suppkey, l_comment FROM lineitem").fetchall()
    expected = sum(number + zlib.crc32(comment.encode()) for number, comment in rows)
    assert {_outcome(workload | {"layout": layout}, tmp_path)["checksum"] for layout in ("nsm", "pax", "dsm")} == {expected}


def test_defaults_in_experiments_are_those_of_the_kernel() -> None:
    (kernel,) = [one["defaults"] for one in native.list_workloads() if one["name"] == "tpch"]
    given = {"kernel": "tpch", "layout": "pax", "scale_factor": 0.5}
    of_all: set[str] = set()
    for query in ("q1", "rs", "update", "load"):
        workload = TypeAdapter[Parameters](Workload).validate_python(given | {"query": query}).native()
        native.check_workload(workload)
        of_all |= workload.keys()
        assert {name: kernel[name] for name in workload.keys() - given.keys() - {"query"}} == {
            name: value for name, value in workload.items() if name not in given and name != "query"
        }
    assert of_all - {"kernel"} == kernel.keys()


def test_parameters_of_another_query_are_refused() -> None:
    with pytest.raises(ValidationError, match="it is for query: rs, and query is q6; remove it"):
        TypeAdapter(Workload).validate_python({"kernel": "tpch", "query": "q6", "layout": "nsm", "scale_factor": 0.1, "project": ["l_tax"]})


def _answers(workload: dict[str, object], folder: Path) -> dict[str, int]:
    return {name.removeprefix("answer."): value for name, value in _outcome(workload, folder).items() if name.startswith("answer.")}


def _outcome(workload: dict[str, object], folder: Path) -> dict[str, int]:
    path = folder / "trace.parquet"
    native.record(workload, path)
    outcome = native.trace_info(path)["outcome"]
    assert isinstance(outcome, dict)
    return outcome
