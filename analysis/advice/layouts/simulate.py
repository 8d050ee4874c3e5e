"""Simulated scans of a sample of a table."""

from dataclasses import dataclass
from typing import Any

from memwalk.analysis.advice.layouts import super_blocks
from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.advice.layouts.predict import LAYOUTS, Layout
from memwalk.analysis.advice.layouts.processor import Processing, process
from memwalk.analysis.advice.layouts.scans import kernel_workload
from memwalk.analysis.advice.layouts.stored_pages import io_seconds, no_room
from memwalk.simcore.engines import native
from memwalk.simcore.memories import only_memory
from memwalk.simcore.storage import BLOCK_BYTES, DeviceFile, page_blocks
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
    """A simulated scan, scaled up to the table."""

    processing: Processing
    io_seconds: float
    lines_per_record: float
    """Lines of data fetched from memory."""

    @property
    def cpu_seconds(self) -> float:
        """What the processor takes."""
        return self.processing.seconds

    @property
    def seconds(self) -> float:
        """All of it: I/O and processing do not overlap."""
        return self.cpu_seconds + self.io_seconds


def simulate(layout: Layout, query: Query, task: Task, platform: Platform, sample: int, *, laid: Mbsm | None = None) -> Simulated:
    """Simulate a query over a sample of a layout's records; ``laid`` is the whole table in layout ``mbsm``.

    Pages are asked for by a run of its own, which takes more records than a machine could in that time. The runs of MBSM are those of the
    whole table.
    """
    kernel, records = platform.kernel_layout(layout), task.schema.records
    processing = process(platform.machine, lambda part: kernel_workload(kernel, query, task, part), records, sample)
    if platform.device is None:
        io = 0.0
    elif laid is not None and platform.disk is not None:
        io = super_blocks.io_seconds(laid, query, platform.disk)
    else:
        io = io_seconds(platform.device, layout, kernel, query, task)
    return Simulated(processing, io, processing.lines / records)


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
