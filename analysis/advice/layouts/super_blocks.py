"""MBSM among the layouts: super-blocks for the queries, in mega-blocks whose runs suit the disk."""

from math import ceil

from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.simcore.storage import page_blocks
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.disk import DiskFile
from memwalk.workloads import mbsm
from memwalk.workloads.mbsm.construct import AFFINITY_THRESHOLD, MOST_PAGES
from memwalk.workloads.tables import Column, PageFormat, Table, tpch

TRACKS_PER_RUN = 1.3
"""Run over average track: 30 pages on 23, as the MBSM study chose (section 4.2). So the bound of a mega-block, 4 MB there, grows with the
track: memory has, too."""
AFFINITY_SHARE = AFFINITY_THRESHOLD / len(tpch.QUERIES)
"""Columns that more than this part of the queries read together are placed together: 4 of 22 (section 6.2)."""


def lay_out(task: Task, disk: DiskFile, header_bytes: int) -> mbsm.Mbsm:
    """Lay the table out on a disk, for the task's queries. Raises ValueError if a record does not fit."""
    page = PageFormat(task.workload.page_bytes, page_blocks(task.workload.page_bytes), header_bytes)
    track_bytes = disk.blocks * BLOCK_BYTES / (disk.cylinders * disk.heads)
    run_pages = ceil(TRACKS_PER_RUN * track_bytes / page.bytes)
    columns = tuple(Column.fixed(name, "integer", task.schema.attribute_bytes) for name in task.schema.attributes)
    table = Table(task.schema.name, columns, task.schema.records)
    queries = [mbsm.Query(frozenset(query.attributes), query.weight) for query in task.workload.queries]
    threshold = AFFINITY_SHARE * sum(query.weight for query in queries)
    return mbsm.Mbsm(table, mbsm.construct(table, queries, MOST_PAGES, threshold), run_pages, page=page)


def pages_read(laid: mbsm.Mbsm, query: Query) -> tuple[int, int]:
    """Count the pages that a scan reads, and the runs of pages they lie in."""
    (extents,) = laid.scan(query.attributes)
    return sum(extent.blocks for extent in extents) // laid.page.blocks, len(extents)


def io_seconds(laid: mbsm.Mbsm, query: Query, disk: DiskFile) -> float:
    """Read a query's runs from the disk, one command each; the seconds that takes."""
    device, now = disk.device(), 0
    (extents,) = laid.scan(query.attributes)
    for block, blocks in extents:
        now = device.serve(now, block, blocks, write=False)
    return now * 1e-12
