"""What the processor does in Clotho's experiments: kernels on a sample of the records, which are scaled up to all of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from memwalk.traces.storage import Stream
from memwalk.workloads.clotho.layout import Csm
from memwalk.workloads.clotho.layouts import C_PAGES, Layout, Reconstruction, kernel_pages
from memwalk.workloads.clotho.relation import PAGE_BYTES, PREDICATE, relation
from memwalk.workloads.tables import Pax

SAMPLE_RECORDS = 40_000
"""Records that are simulated; five times as many change the cycles per record by 1%."""
SAMPLE_QUERIES = 2_000
WORK = 3_000
"""What simulating them takes, in requests to storage."""
PROBING = ("probe", "destaged")
"""Phases of the kernel `tpch` in which a join goes through its second table."""

_HEAP_BYTES = 64 << 20
"""Memory for the hash tables of a join at scale factor 1; the sample gets its share, so that it spills where the whole would."""
_LARGEST_PAGE = 4
"""Pages of the kernel `tpch` are no longer than four of 8 KiB."""


class Sample(NamedTuple):
    """Work of the processor."""

    workload: Mapping[str, Any]
    """A kernel's workload, as `memwalk.simcore.engines.native` takes it."""
    times: float
    """How many times as much the whole is."""


@dataclass(frozen=True)
class Selection:
    """What is selected: so many attributes of records of which a share qualifies."""

    attributes: int
    """Of the relation."""
    payload: int
    selectivity: float
    records: int


def scanning(layout: Layout, wanted: Selection, *, changes: bool, reconstruction: Reconstruction) -> Sample:
    """Return the work of a scan. One over C-pages is one over PAX pages that hold the attributes of the query and no others."""
    sample = min(wanted.records, SAMPLE_RECORDS)
    kept = max(wanted.payload, PREDICATE + 1) if layout == "csm" and not changes else wanted.attributes
    work = {"operation": "update" if changes else "scan", "selectivity": wanted.selectivity, "aggregate": False}
    work |= {"attributes": kept, "projected": wanted.payload, "records": sample}
    pages = C_PAGES if layout == "csm" and changes else kernel_pages(layout, reconstruction)
    return _of_table(pages, work, wanted.records / sample)


def filtering(selectivity: float, records: int) -> Sample:
    """Return the work of a scan over C-pages of the predicate's attribute that notes which records qualify."""
    sample = min(records, SAMPLE_RECORDS)
    work = {"operation": "scan", "attributes": 1, "first_predicate": 1, "selectivity": selectivity, "records": sample}
    return _of_table(C_PAGES, work | {"aggregate": False}, records / sample)


def copying(streams: Iterable[Stream]) -> list[Sample]:
    """Return the work of copying what scans of A-pages read to its places in C-pages; pages in one piece are read into their frames.

    The sample has pages with as many blocks of each A-page as the scan reads, whatever columns they are of.
    """
    return [_scattering(one.file, one.file.full_schema if one.changes else one.schema) for one in streams if isinstance(one.file, Csm)]


def _scattering(file: Csm, schema: int) -> Sample:
    wanted, block_bytes = file.wanted_blocks(schema), file.format.block_bytes
    pages = Pax(relation(wanted, SAMPLE_RECORDS)).pages
    copied = pages * wanted * (PAGE_BYTES // block_bytes // wanted)
    work = {"operation": "scatter", "attributes": wanted, "block_bytes": block_bytes, "first_predicate": 1, "records": SAMPLE_RECORDS}
    return _of_table(C_PAGES, work, file.pages * wanted / copied)


def fetching(payload: int, queries: int) -> Sample:
    """Return the work of finding ``queries`` records one by one in C-pages of the payload."""
    work = {"operation": "point", "attributes": payload, "first_predicate": 1, "projected": payload, "records": SAMPLE_RECORDS}
    return _of_table(C_PAGES, work | {"point_queries": SAMPLE_QUERIES}, queries / SAMPLE_QUERIES)


def of_query(query: str, pages: Mapping[str, str], pages_per_frame: int, *, scale_factor: float, sample: float) -> Sample:
    """Return the work of a query of TPC-H in ``pages``, at scale factor ``sample`` and scaled up by the records.

    A C-page is a PAX page with the columns that are asked for: it holds the records of ``pages_per_frame`` A-pages. So it is a PAX page
    that many times as long, to the power of two below; the columns that nobody reads cost nothing there.
    """
    longer = min(_LARGEST_PAGE, 1 << pages_per_frame.bit_length() - 1)
    workload = {
        "kernel": "tpch",
        "query": query,
        "scale_factor": sample,
        "page_bytes": PAGE_BYTES * longer,
        "heap_bytes": round(_HEAP_BYTES * sample),
    }
    return Sample(workload | dict(pages), scale_factor / sample)


def _of_table(pages: Mapping[str, Any], work: Mapping[str, Any], times: float) -> Sample:
    pages = {"kernel": "table", "page_bytes": PAGE_BYTES, "first_predicate": PREDICATE + 1} | dict(pages)
    return Sample(pages | dict(work), times)
