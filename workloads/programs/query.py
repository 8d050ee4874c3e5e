"""A query of TPC-H on storage: scans one after another, each read ahead while the processor works on its records (Clotho, section 7.3)."""

from collections.abc import Sequence
from typing import NamedTuple

from memwalk.traces.storage import Client, OpenPool, Stream
from memwalk.workloads.programs.scan import scan

POOL = "pool of the query"
"""The buffer pool of the query."""


class TableScan(NamedTuple):
    """A scan of one table."""

    streams: Sequence[Stream]
    records: int
    work_ps: int
    """What the processor has to do for all records."""


def query(scans: Sequence[TableScan], frames: int, runs_ahead: int) -> Client:
    """Make a client that asks the query once, on a cold buffer pool."""
    pool = yield OpenPool(POOL, frames)
    for streams, records, work_ps in scans:
        yield from scan(pool, streams, records, work_ps, runs_ahead)
