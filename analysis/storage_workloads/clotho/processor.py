"""What the processor does in the microbenchmark: the kernel `table` on a sample of the records, on the machine of the experiment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memwalk.analysis.storage_workloads.clotho.relation import PAGE_BYTES, PREDICATE, Layout
from memwalk.analysis.storage_workloads.columns import cpu_columns
from memwalk.analysis.storage_workloads.reconstruction import DEFAULT_RECONSTRUCTION, Reconstruction, kernel_pages
from memwalk.simcore.engines import native

SAMPLE_RECORDS = 40_000
"""Records that are simulated; five times as many change the cycles per record by 1%."""
SAMPLE_QUERIES = 2_000
WORK = 3_000
"""What simulating them takes, in requests to storage."""
_C_PAGES = kernel_pages("csm", DEFAULT_RECONSTRUCTION)


@dataclass(frozen=True)
class Selection:
    """What is selected: so many attributes of records of which a share qualifies."""

    attributes: int
    """Of the relation."""
    payload: int
    selectivity: float
    records: int


def scan_columns(
    machine: Mapping[str, Any] | None, layout: Layout, wanted: Selection, *, changes: bool, reconstruction: Reconstruction
) -> dict[str, float]:
    """Return the columns of `cpu_columns` for a scan; nothing without a machine.

    A scan over C-pages is one over PAX pages that hold the attributes of the query and no others.
    """
    sample = min(wanted.records, SAMPLE_RECORDS)
    kept = max(wanted.payload, PREDICATE + 1) if layout == "csm" and not changes else wanted.attributes
    work = {"operation": "update" if changes else "scan", "selectivity": wanted.selectivity, "aggregate": False}
    work |= {"attributes": kept, "projected": wanted.payload, "records": sample}
    return _columns(machine, kernel_pages(layout, reconstruction), work, wanted.records / sample)


def filter_columns(machine: Mapping[str, Any] | None, selectivity: float, records: int) -> dict[str, float]:
    """Return the columns for a scan over C-pages of the predicate's attribute that notes which records qualify."""
    sample = min(records, SAMPLE_RECORDS)
    work = {"operation": "scan", "attributes": 1, "first_predicate": 1, "selectivity": selectivity, "records": sample}
    return _columns(machine, _C_PAGES, work | {"aggregate": False}, records / sample)


def fetch_columns(machine: Mapping[str, Any] | None, payload: int, queries: int) -> dict[str, float]:
    """Return the columns for finding ``queries`` records one by one in C-pages of the payload."""
    work = {"operation": "point", "attributes": payload, "first_predicate": 1, "projected": payload, "records": SAMPLE_RECORDS}
    return _columns(machine, _C_PAGES, work | {"point_queries": SAMPLE_QUERIES}, queries / SAMPLE_QUERIES)


def _columns(machine: Mapping[str, Any] | None, pages: Mapping[str, Any], work: Mapping[str, Any], times: float) -> dict[str, float]:
    if machine is None:
        return {}
    pages = {"kernel": "table", "page_bytes": PAGE_BYTES, "first_predicate": PREDICATE + 1} | dict(pages)
    statistics = native.simulate(dict(machine), pages | dict(work))
    return cpu_columns(statistics, machine, times)
