"""Storage on a run's time line: the pages of an experiment's storage, and the seconds that the processor works and waits for them."""

from collections.abc import Mapping
from typing import Any

from memwalk.analysis.slots import all_slots, cores
from memwalk.analysis.storage_workloads.columns import seconds
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.storage.device import BLOCK_BYTES, PART_NAMES
from memwalk.simcore.storage.pages import page_blocks
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import PageSpec, TimedPages

STORAGE_TIME = "storage_time"
"""Where the statistics of a workload on a machine have what its pages take on the storage that its experiment names."""


def page_spec(system: System, workload: Mapping[str, Any]) -> PageSpec:
    """Say what pages are on the storage, each as long as the workload's ``page_bytes``. A kernel that has none asks for no page."""
    blocks = page_blocks(workload.get("page_bytes", BLOCK_BYTES))
    return PageSpec(blocks, system.read_pages, system.write_batch, system.prefetchers, system.cpu_per_page)


def timed_pages(system: System, workload: Mapping[str, Any], first_block: int = 0) -> TimedPages:
    """Switch the storage on and number its pages, the first of which is at ``first_block``."""
    return TimedPages(system.switched_on(), page_spec(system, workload), system.device.name, first_block=first_block)


def storage_times(machine: dict[str, Any], pages: TimedPages, statistics: Statistics) -> dict[str, float | int]:
    """Return ``seconds``, and what they are made of.

    The processor worked or waited for memory in ``cpu_seconds``, and was stopped at a page in ``io_seconds``, or in the end until all that
    it had written was there.

    ``io_seek_seconds`` and the like say what it waited for while it was stopped; they sum to ``io_seconds``. Of several processors these
    are means, and for ``ended_seconds`` one has ended while others go on. ``io_requests`` and ``io_blocks`` are what storage was asked
    for, pages written in the background included. The busiest device served requests for ``io_busiest_seconds`` of the run, those of
    programs beside it included.
    """
    asked, slots = statistics["pages"], all_slots(machine, statistics)
    whole = statistics["cycles"] / machine["clock_hz"]
    io = whole * statistics["slots"]["storage"] / slots if slots else 0.0
    # A core's slots end with it.
    ended = whole * (slots - statistics["slots"]["total"]) / slots if slots else 0.0
    counts = {"io_requests": pages.requests, "io_blocks": pages.blocks, "io_busiest_seconds": seconds(pages.busiest_ps)}
    parts = {f"io_{part}_seconds": seconds(asked["wait"][f"{part}_ps"]) / cores(statistics) for part in PART_NAMES}
    several = {"ended_seconds": ended} if "cores" in statistics else {}
    return {"io_seconds": io, "cpu_seconds": whole - io - ended, **several, "seconds": whole} | counts | parts
