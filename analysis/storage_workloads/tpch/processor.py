"""What the processor does in a query of TPC-H: the kernel `tpch` on a sample of the database."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from memwalk.analysis.storage_workloads.clotho.relation import PAGE_BYTES
from memwalk.analysis.storage_workloads.columns import cpu_columns
from memwalk.simcore.engines import native
from memwalk.simcore.units import PS_PER_SECOND

_HEAP_BYTES = 64 << 20
"""Memory for the hash tables of a join at scale factor 1; the sample gets its share, so that it spills where the whole would."""
_LARGEST_PAGE = 4
"""Pages of the kernel are no longer than four of 8 KiB."""
_PROBING = ("probe", "destaged")
"""Phases in which a join goes through its second table."""


class Work(NamedTuple):
    """Time of the processor."""

    table_ps: tuple[int, int]
    """While the first table is scanned, and while the second one is."""
    columns: dict[str, float]
    """As `cpu_columns` has them; nothing without a machine."""


def work(
    machine: Mapping[str, Any] | None, query: str, pages: Mapping[str, str], pages_per_frame: int, *, scale_factor: float, sample: float
) -> Work:
    """Simulate the query in ``pages`` at scale factor ``sample`` and scale it up by the records.

    A C-page is a PAX page with the columns that are asked for: it holds the records of ``pages_per_frame`` A-pages. So it is a PAX page
    that many times as long, to the power of two below; the columns that nobody reads cost nothing there.
    """
    if machine is None:
        return Work((0, 0), {})
    longer = min(_LARGEST_PAGE, 1 << pages_per_frame.bit_length() - 1)
    workload = {
        "kernel": "tpch",
        "query": query,
        "scale_factor": sample,
        "page_bytes": PAGE_BYTES * longer,
        "heap_bytes": round(_HEAP_BYTES * sample),
    }
    statistics = native.simulate(dict(machine), workload | dict(pages))
    columns = cpu_columns(statistics, machine, scale_factor / sample)
    slots = statistics["slots"]["total"]
    probing = sum(row["slots"]["total"] for row in statistics["breakdown"] if row["phase"] in _PROBING)
    whole_ps = round(columns["cpu_seconds"] * PS_PER_SECOND)
    second_ps = whole_ps * probing // slots
    return Work((whole_ps - second_ps, second_ps), columns)
