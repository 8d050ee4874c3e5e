"""Checks of scans of tables can fail: constants that are a fifth off, and terms left out, do not pass for the simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memwalk.analysis.claims.study import Study, panel
from memwalk.analysis.cost_models import table_scan
from memwalk.analysis.model_checks.table_scans import STUDIES
from memwalk.analysis.reproduce import machine_facts

SEQUENTIAL, RANDOM = table_scan.Constants().sequential_io, table_scan.Constants().random_io


def row(variant: str, columns: int, io: float, processor: float) -> dict[str, Any]:
    """A scan of all columns of 800,000 rows, as it is simulated with a tenth of the prototype's memory."""
    given = {"workload.records": 800_000, "workload.attributes": columns, "workload.projected": columns}
    given |= {"workload.prefetch_bytes": 26_843_545, "workload.page_bytes": 32_768}
    return {"variant": variant, **given, "seconds": io + processor, "io_seconds": io, "cpu_seconds": processor}


def simulated() -> Study:
    """Seconds of figures 10 and 11, about."""
    rows = []
    for columns in (4, 16):
        table, constants = table_scan.Table(800_000, columns, columns), table_scan.Constants(pool_pages=2 * 26_843_545 / 32_768)
        for variant in ("standard-row", "super-row", "super-column"):
            cost, unit = table_scan.scan_cost(variant, table, constants), table_scan.PROTOTYPE_UNIT_NS * 1e-9
            rows.append(row(variant, columns, 1.02 * cost.io * unit, 1.01 * (cost.iteration + cost.reconstruction) * unit))
    return Study({"scan": panel(rows, ["workload.attributes"])}, machine_facts)


def failed(study: Study) -> set[str]:
    return {check.group for check in STUDIES[0].look(study) if not check.passed}


@pytest.mark.parametrize("constant", ["sequential_io", "function_call", "iteration", "column_bytes"])
@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_constants_that_are_a_fifth_off_show(monkeypatch: pytest.MonkeyPatch, constant: str, factor: float) -> None:
    study = simulated()
    assert failed(study) == set()
    right = table_scan.Constants
    value = factor * getattr(right(), constant)
    monkeypatch.setattr(table_scan, "Constants", lambda **given: replace(right(**given), **{constant: value}))
    assert failed(study) & {"scan I/O (1, 4, 10)", "scan processing (2, 3, 5, 6, 11, 12)"}


def test_a_column_store_without_random_pages_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    study, right = simulated(), table_scan.Constants
    monkeypatch.setattr(table_scan, "Constants", lambda **given: replace(right(**given), random_io=SEQUENTIAL))
    assert "scan I/O (1, 4, 10)" in failed(study)
    assert RANDOM > SEQUENTIAL
