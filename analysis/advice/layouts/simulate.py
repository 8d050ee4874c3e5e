"""Simulated scans of a sample of a table, and the cost model's constants as two of them give them."""

from dataclasses import dataclass
from typing import Any

from memwalk.analysis.advice.layouts import super_blocks
from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.advice.layouts.predict import LAYOUTS, Layout, UnitCosts
from memwalk.analysis.advice.layouts.scans import kernel_workload
from memwalk.analysis.advice.layouts.stored_pages import io_seconds, no_room
from memwalk.analysis.causes import shortened
from memwalk.simcore.engines import native
from memwalk.simcore.memories import only_memory
from memwalk.simcore.storage import BLOCK_BYTES, DeviceFile, page_blocks, page_times_ps
from memwalk.simcore.storage.disk import DiskFile
from memwalk.workloads.mbsm import Mbsm

_PAGE_CALLS = frozenset({"next-page", "next-record", "read-attribute", "output-record"})
_STORE_CALLS = frozenset({"iterate", "column-value"})
_CALLS = {
    "nsm": _PAGE_CALLS,
    "pax": _PAGE_CALLS,
    "dsm": _PAGE_CALLS | {"fix-page"},
    "standard-row": _STORE_CALLS,
    "super-row": _STORE_CALLS,
    "super-column": _STORE_CALLS,
}
"""Calls into the DBMS that a scan of each of the kernel's layouts makes."""


_RUN_PAGES = 1000
"""Pages of a run by which the next page of a run is measured."""


@dataclass(frozen=True)
class Platform:
    """What the scans run on: a machine with its DBMS, as the simulator takes it, and a storage device, if pages are not in memory."""

    machine: dict[str, Any]
    device: DeviceFile | None

    @property
    def disk(self) -> DiskFile | None:
        """The storage device if it is a disk."""
        return self.device if isinstance(self.device, DiskFile) else None

    def layouts(self) -> list[Layout]:
        """List the layouts whose scans the DBMS has all calls for; MBSM, which is made for disks, only with one."""
        return [name for name in LAYOUTS if self.kernel_layout(name) is not None and (name != "mbsm" or self.disk is not None)]

    def kernel_layout(self, layout: Layout) -> str | None:
        """Name the kernel's layout: slotted pages are scanned by either iterator, whichever the DBMS has.

        In memory, a page of MBSM is one of PAX.
        """
        known = set(self.machine["dbms"]["calls"])
        choices = {"nsm": ("nsm", "standard-row"), "mbsm": ("pax",)}.get(layout, (layout,))
        return next((choice for choice in choices if _CALLS[choice] <= known), None)


@dataclass(frozen=True)
class Simulated:
    """A simulated scan, scaled up to the table: seconds, and lines fetched from memory per record."""

    cpu_seconds: float
    io_seconds: float
    lines_per_record: float
    by_cause: dict[str, float]
    """The processor's seconds by cause (`memwalk.analysis.causes`)."""

    @property
    def waiting_seconds(self) -> float:
        """The part of the processor's time in which it waits for lines and translations."""
        return self.by_cause["dcache"] + self.by_cause["dtlb"]

    @property
    def seconds(self) -> float:
        """All of it: I/O and processing do not overlap."""
        return self.cpu_seconds + self.io_seconds


def simulate(layout: Layout, query: Query, task: Task, platform: Platform, sample: int, *, laid: Mbsm | None = None) -> Simulated:
    """Simulate a query over the first ``sample`` records of a layout; ``laid`` is the whole table in layout ``mbsm``.

    Pages are asked for by a run of its own, which takes more records than a machine could in that time. The runs of MBSM are those of the
    whole table.
    """
    records = min(sample, task.schema.records)
    kernel = platform.kernel_layout(layout)
    statistics = native.simulate(platform.machine, kernel_workload(kernel, query, task, records))
    cpu = statistics["cycles"] / platform.machine["clock_hz"] * (task.schema.records / records)
    if platform.device is None:
        io = 0.0
    elif laid is not None and platform.disk is not None:
        io = super_blocks.io_seconds(laid, query, platform.disk)
    else:
        io = io_seconds(platform.device, layout, kernel, query, task)
    slots = statistics["slots"]
    spent = slots | {"dcache": sum(slots["dcache"].values())}
    by_cause = {cause: cpu * count / slots["total"] for cause, count in shortened(spent).items()}
    return Simulated(cpu, io, statistics["bus"]["fills"] / records, by_cause)


def check(task: Task, platform: Platform, sample: int) -> None:
    """Raise UserError, with its place, for what no layout could be simulated or stored with, and for a machine of several memories."""
    only_memory(platform.machine, "advice on layouts")
    try:
        for layout in platform.layouts():
            for query in task.workload.queries:
                native.check_workload(kernel_workload(platform.kernel_layout(layout), query, task, min(sample, task.schema.records)))
    except native.SpecError as error:
        raise task.mistake(*error.args) from None
    if platform.device is None:
        return
    blocks = platform.device.device().blocks
    if 2 * page_blocks(task.workload.page_bytes) > blocks:
        raise task.mistake(
            "page_bytes", f"{task.workload.page_bytes} bytes; the device has {blocks} blocks of {BLOCK_BYTES} and less than 2 pages"
        )
    needed = task.schema.records * task.schema.attribute_bytes * len(task.schema.attributes)
    if needed > blocks * BLOCK_BYTES:
        raise task.mistake("records", no_room(task, needed, blocks, " in any layout"))


def measured_costs(task: Task, platform: Platform, sample: int) -> UnitCosts:
    """Measure the cost model's constants by two scans of one attribute.

    With super rows, whose iterator takes a step per page, FC is their time per record and IC what slotted pages take
    more. A DBMS without them gives IC by a scan that selects no record, and FC by what one that selects all takes more.
    """
    first = task.schema.attributes[:1]

    def per_record(layout: Layout, **changes: Any) -> float:
        query = Query(name="unit costs", weight=1, project=first, **changes)
        return simulate(layout, query, task, Platform(platform.machine, None), sample).cpu_seconds / task.schema.records

    if "super-row" in platform.layouts():
        field = per_record("super-row", selectivity=1.0)
        record = per_record("nsm", selectivity=1.0) - field
    else:
        record = per_record("nsm", predicates=first, selectivity=1e-9)
        field = per_record("nsm", predicates=first, selectivity=1.0) - record
    if platform.device is None:
        return UnitCosts(0.0, 0.0, record, field)
    sequential, anywhere = _page_seconds(platform.device, page_blocks(task.workload.page_bytes))
    return UnitCosts(sequential, anywhere, record, field)


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
