"""The cost model's constants on a machine with a DBMS and a storage device, measured by small scans."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.advice.layouts.lines import lines_per_record
from memwalk.analysis.advice.layouts.predict import Layout, UnitCosts
from memwalk.analysis.advice.layouts.processor import process, seconds_per_record
from memwalk.analysis.advice.layouts.scans import kernel_workload
from memwalk.analysis.advice.layouts.simulate import Platform
from memwalk.analysis.stage_times import without_misses
from memwalk.simcore.storage import DeviceFile, page_blocks, page_times_ps

_RUN_PAGES = 1000
"""Pages of a run by which the next page of a run is measured."""


def measured_costs(task: Task, platform: Platform, sample: int) -> UnitCosts:
    """Measure what a step of the iterator, a field, a line and a page take."""
    iteration, field = _call_seconds(task, platform, sample)
    line_bytes = int(platform.machine["caches"][-1]["line_bytes"])
    line = _line_seconds(task, platform, sample, line_bytes)
    sequential, anywhere = _page_seconds(platform.device, page_blocks(task.workload.page_bytes)) if platform.device else (0.0, 0.0)
    return UnitCosts(sequential, anywhere, iteration, field, line, line_bytes)


def _call_seconds(task: Task, platform: Platform, sample: int) -> tuple[float, float]:
    """Return IC and FC: scans of a table of one attribute, on a machine where no access waits.

    With super rows, whose iterator takes a step per page, FC is their time per record and IC what slotted pages take
    more. A DBMS without them gives IC by a scan that selects no record, and FC by what one that selects all takes more.
    """
    narrow = replace(task, schema=task.schema.model_copy(update={"attributes": task.schema.attributes[:1]}))
    machine = without_misses(platform.machine)

    def per_record(kernel: str, **changes: Any) -> float:
        return seconds_per_record(machine, _scan(kernel, narrow, **changes), sample)

    if "super-row" in platform.layouts():
        field = per_record("super-row")
        return per_record("standard-row") - field, field
    none = per_record("nsm", predicates=narrow.schema.attributes, selectivity=1e-9)
    return none, per_record("nsm", predicates=narrow.schema.attributes) - none


def _line_seconds(task: Task, platform: Platform, sample: int, line_bytes: int) -> float:
    """Return what a scan waits for each line that it touches of records which lie one behind the other, read one after another."""
    layout: Layout = "super-row" if "super-row" in platform.layouts() else "nsm"
    first, records = task.schema.attributes[:1], task.schema.records
    tested = {} if layout == "super-row" else {"predicates": first, "selectivity": 1e-9}
    scan = _scan(platform.kernel_layout(layout), task, **tested)
    waiting = process(platform.machine, scan, records, sample).waiting_seconds
    lines = lines_per_record(layout, Query(name="lines", weight=1.0, selectivity=1.0, project=first), task, line_bytes)
    return waiting / (lines * records)


def _scan(kernel: str | None, task: Task, **changes: Any) -> Callable[[int], dict[str, Any]]:
    """Return the scan of the first attribute, of so many records."""
    query = Query(name="unit costs", weight=1, project=task.schema.attributes[:1], **changes)
    return lambda records: kernel_workload(kernel, query, task, records)


def _page_seconds(device: DeviceFile, page_blocks: int) -> tuple[float, float]:
    """Return the seconds of a page behind another of the same run, and of one anywhere.

    A scan asks for a run with one command. Pages that are asked for one by one take longer each on a device that does not read ahead.
    """
    following, anywhere = page_times_ps(device.device(), page_blocks)
    pages = min(_RUN_PAGES, device.device().blocks // page_blocks)
    if pages > 1:
        alone, run = (device.device().serve(0, 0, count * page_blocks, write=False) for count in (1, pages))
        following = round((run - alone) / (pages - 1))
    return following * 1e-12, anywhere * 1e-12
