"""The time of a table's pages: a part is asked for on no machine, and the device serves its pages where they lie in the whole table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.advice.layouts.predict import RECORD_OVERHEAD_BYTES, Layout
from memwalk.analysis.advice.layouts.scans import PAGE_HEADER_BYTES, in_a_row, kernel_workload
from memwalk.analysis.cost_models.super_block import record_number_bytes
from memwalk.simcore.engines import native
from memwalk.simcore.storage import BLOCK_BYTES, DeviceFile, PageRun, page_blocks, serve_requests

_IO_VALUES = 32 << 20
"""Values of the part of a table whose pages are asked for: 128 MB of four bytes each."""


def no_room(task: Task, needed_bytes: int, blocks: int, where: str) -> str:
    """Say that the table is too large for the device, in a layout or in any, and how many records would not be."""
    most = task.schema.records * blocks * BLOCK_BYTES // needed_bytes
    return f"{task.schema.records} take {needed_bytes} bytes{where}, and the device has {blocks * BLOCK_BYTES}; it is at most some {most}"


@dataclass(frozen=True)
class _Part:
    """A part of a table whose pages are asked for, and what makes them those of the table."""

    records: int
    prefetch_bytes: int
    longer: float
    """How many times as long the table's runs of pages are."""
    times: float
    """How many times as many runs the table has."""


def _part(layout: str | None, query: Query, task: Task) -> _Part:
    """Choose the part: `_IO_VALUES`, or the whole table.

    Pages of a DSM are read in turn. Runs of several columns end because memory for prefetching is full: it is cut down with the table
    and runs are stretched again, if there are as many then. If not, they are as long as in the table, and the part has whole runs.
    """
    whole, memory = task.schema.records, task.workload.prefetch_bytes
    records = min(whole, max(1, _IO_VALUES // len(task.schema.attributes)))
    if layout == "dsm":
        return _Part(records, memory, 1.0, whole / records)
    columns, page_bytes = len(query.attributes), task.workload.page_bytes
    if layout != "super-column" or columns == 1 or records == whole:
        return _Part(records, memory, whole / records, 1.0)
    page_records = _file_records(layout, task)
    assert page_records is not None
    run = max(1, memory // columns // page_bytes)
    cut = max(1, round(run * records / whole))
    cut_memory = cut * page_bytes * columns
    if ceil(records / (cut * page_records)) == ceil(whole / (run * page_records)):
        return _Part(records, cut_memory, whole / records, 1.0)
    if records < run * page_records:
        return _Part(records, cut_memory, run / cut, whole / records * cut / run)
    records -= records % (run * page_records)
    return _Part(records, memory, 1.0, whole / records)


def _file_records(layout: str | None, task: Task) -> int | None:
    """Return how many records a page of a column's file has values of; None for a layout that is one file."""
    kept = {"dsm": record_number_bytes() + RECORD_OVERHEAD_BYTES, "super-column": 0}.get(layout or "")
    return None if kept is None else (task.workload.page_bytes - PAGE_HEADER_BYTES) // (task.schema.attribute_bytes + kept)


def _placed(requests: Sequence[PageRun], layout: str | None, query: Query, task: Task, part: _Part) -> Iterator[tuple[str, int, int]]:
    """Say where runs of pages of the part lie in the whole table.

    Files of columns lie one behind the other, in the table's order, where the kernel has those of the query first. So a run ends with its
    file. The pages that a part has of each are neighbours in the table as they are in the part, or a seek would be longer than any in the
    table; they lie in the middle of the file, where a disk is about as fast as on average. What is stretched to the table is all of it.
    """
    each, whole = _file_records(layout, task), task.schema.records
    if each is None:
        for kind, begin, count in requests:
            yield str(kind), round(int(begin) * whole / part.records), max(1, round(int(count) * part.longer))
        return
    pages, table_pages = (ceil(records / each) for records in (part.records, whole))
    longer = table_pages / pages if part.times == 1 else part.longer
    files = [task.schema.attributes.index(name) for name in in_a_row(query)]
    before = max(int(table_pages - pages * longer) // 2, 0)
    for kind, begin, count in requests:
        first, end = int(begin), int(begin) + int(count)
        while first < end:
            file, within = divmod(first, pages)
            ends = min(within + end - first, pages)
            at, behind = round(within * longer), round(ends * longer)
            yield str(kind), files[file] * table_pages + before + at, max(1, behind - at)
            first += ends - within


def io_seconds(device: DeviceFile, layout: Layout, kernel: str | None, query: Query, task: Task) -> float:
    """Return the seconds of a table's pages, of which a part is asked for.

    Pages lie where they lie in the whole table. Raises UserError if the device has too few pages, as a layout stores more than values.
    """
    part = _part(kernel, query, task)
    requests = native.page_requests(kernel_workload(kernel, query, task, part.records, part.prefetch_bytes))
    placed = list(_placed(requests, kernel, query, task, part))
    drive, size = device.device(), page_blocks(task.workload.page_bytes)
    if (needed := max((first + pages for _, first, pages in placed), default=0) * size) > drive.blocks:
        raise task.mistake("records", no_room(task, needed * BLOCK_BYTES, drive.blocks, f" in layout {layout}"))
    return serve_requests(drive, placed, size) * 1e-12 * part.times
