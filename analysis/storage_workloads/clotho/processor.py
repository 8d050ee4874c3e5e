"""What the processor does in the microbenchmark: the kernel `table` on a sample of the records, on the machine of the experiment."""

from collections.abc import Mapping
from typing import Any

from analysis.storage_workloads.clotho.relation import PREDICATE, Layout, page_bytes
from analysis.storage_workloads.columns import cpu_columns
from simcore.engines import native

SAMPLE_RECORDS = 40_000
"""Records that are simulated; five times as many change the cycles per record by 1%."""
SAMPLE_QUERIES = 2_000


def scan_columns(
    machine: Mapping[str, Any] | None, layout: Layout, attributes: int, payload: int, selectivity: float, records: int, *, changes: bool
) -> dict[str, float]:
    """Return the columns of `cpu_columns` for a scan of ``records`` records; nothing without a machine.

    A scan over C-pages is one over PAX pages that hold the attributes of the query and no others.
    """
    sample = min(records, SAMPLE_RECORDS)
    kept = max(payload, PREDICATE + 1) if layout == "csm" and not changes else attributes
    work = {"operation": "update" if changes else "scan", "selectivity": selectivity, "aggregate": False}
    return _columns(machine, layout, work | {"attributes": kept, "projected": payload, "records": sample}, records / sample)


def filter_columns(machine: Mapping[str, Any] | None, selectivity: float, records: int) -> dict[str, float]:
    """Return the columns for a scan over C-pages of the predicate's attribute that notes which records qualify."""
    sample = min(records, SAMPLE_RECORDS)
    work = {"operation": "scan", "attributes": 1, "first_predicate": 1, "selectivity": selectivity, "records": sample}
    return _columns(machine, "csm", work | {"aggregate": False}, records / sample)


def fetch_columns(machine: Mapping[str, Any] | None, payload: int, queries: int) -> dict[str, float]:
    """Return the columns for finding ``queries`` records one by one in C-pages of the payload."""
    work = {"operation": "point", "attributes": payload, "first_predicate": 1, "projected": payload, "records": SAMPLE_RECORDS}
    return _columns(machine, "csm", work | {"point_queries": SAMPLE_QUERIES}, queries / SAMPLE_QUERIES)


def _columns(machine: Mapping[str, Any] | None, layout: Layout, work: Mapping[str, Any], times: float) -> dict[str, float]:
    if machine is None:
        return {}
    pages = {"kernel": "table", "layout": "pax" if layout == "csm" else layout, "page_bytes": page_bytes()}
    statistics = native.simulate(dict(machine), pages | {"first_predicate": PREDICATE + 1} | dict(work))
    return cpu_columns(statistics, machine, times)
