"""Pages that scans read, counted in a run on no machine: scans are long, so that few of them are simulated, and few pages tell little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memwalk.analysis.advice.indexes.predict import Cost
from memwalk.analysis.advice.indexes.task import IndexTask
from memwalk.simcore.engines import native

COUNTED = 20_000_000
"""TupleIDs that all counted scans read together, at most, unless so few scans read more; half a second of an index in memory."""
LEAST_SCANS = 40
MOST_SCANS = 4000


def with_counted_reads(found: Cost, run: Mapping[str, Any], task: IndexTask) -> Cost:
    """Return what was measured of a scan, with the page reads of many more scans of the same kind; waits go with them.

    Scans of several cores at a time are one behind the other, as those of the run are.
    """
    scans = max(min(MOST_SCANS, COUNTED // run["range"]), LEAST_SCANS)
    # The scans that fill the pool read pages, too, and one operation is the least.
    first, all_of_them = (_pages_read(run, operations) for operations in (1, 1 + scans))
    counted = (all_of_them - first) / (scans * task.cores)
    if not found.page_reads:
        return replace(found, page_reads=counted)
    more = counted / found.page_reads
    return replace(found, page_reads=counted, queued=more * found.queued, nearby=more * found.nearby)


def _pages_read(run: Mapping[str, Any], operations: int) -> int:
    alone = {name: value for name, value in run.items() if name not in ("threads", "latching")}
    return sum(int(pages) for kind, _, pages in native.page_requests({**alone, "operations": operations}) if kind == "read")
