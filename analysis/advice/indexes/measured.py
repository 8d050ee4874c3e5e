"""What the statistics of a run say of one operation: on one core, or on each of several that share a buffer pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memwalk.analysis.advice.indexes.predict import Cost
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.experiments.results import OTHER_CORES
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.analysis.slots import in_cycles
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.storage.device import queue_depth

PAGE_TABLE = "page table"
"""The segment whose lines are touched to take the latch of a chain."""


def measured(found: Statistics, operation: Operation, task: IndexTask, operations: int, page_bytes: int) -> Cost:
    """Return what one of so many operations took on its core, waits for storage apart. Statistics without storage have none."""
    machine, slots = task.machine, found["slots"]
    reads = found["workload"]["pages_read"]
    writes = found["workload"].get("pages_written", 0)
    cost = Cost(in_cycles(machine, slots["total"]), reads, page_writes=writes)
    if STORAGE_TIME in found:
        times = found[STORAGE_TIME]
        # Seconds are means of the cores; of scans several are done at once.
        worked = found["cycles"] * times["cpu_seconds"] / times["seconds"] * task.cores
        queued, nearby = _waits(times, reads, task, page_bytes)
        cost = Cost(worked, reads, queued, nearby, page_writes=writes)
    if task.cores > 1:
        latches = _latch_slots(found, operation)
        idle = slots["barrier"] - latches
        moved = slots["dcache"].get(OTHER_CORES, 0)
        cost += Cost(-in_cycles(machine, idle), 0, latch_cycles=in_cycles(machine, latches), transfer_cycles=in_cycles(machine, moved))
    return cost * (1 / operations)


def _waits(times: Mapping[str, Any], reads: int, task: IndexTask, page_bytes: int) -> tuple[float, float]:
    """Return `Cost.queued` and `Cost.nearby` of all page reads together.

    On one core reads wait behind pages that are written. On several they wait for reads of other cores, too.
    """
    if not times["io_requests"]:
        return 0.0, 0.0
    seconds, queue = times["io_seconds"] * task.cores, times["io_queue_seconds"] * task.cores
    # A device that serves several requests at once makes them wait inside, for a die; there nothing moves, and a read alone takes the same
    # anywhere. Another device is busy with each for as long as it takes alone, and that is less where the pages lie near each other.
    if queue_depth(task.device.device()) > 1:
        alone = task.page_seconds(page_bytes)
        waits = queue + times["io_rotation_seconds"] * task.cores
        return waits / alone, (seconds - waits) / alone - reads
    if task.cores == 1:
        return reads * queue / (seconds - queue), 0.0
    in_turn = seconds / (times["io_busiest_seconds"] / times["io_requests"])
    return max(in_turn * _turn(times, task, page_bytes) - reads, 0.0), 0.0


def _turn(times: Mapping[str, Any], task: IndexTask, page_bytes: int) -> float:
    """Return how long a device is busy with a read among others, in times of a read alone.

    Of one that has waited that may be less, as a MEMStore takes a command while it serves another. The busier it is, the more have waited.
    """
    alone = task.page_seconds(page_bytes)
    hidden = max(1 - task.page_interval(page_bytes) / alone, 0.0)
    busy: float = times["io_busiest_seconds"] / times["seconds"]
    return 1 - hidden * min(busy, 1.0)


def _latch_slots(found: Statistics, operation: Operation) -> int:
    """Return the slots of waiting for latches: of chains of the page table, of CLOCK, and of pages that are changed.

    Who searches or inserts waits for other cores at nothing else. Threads wait for each other before each scan, too, which is no part of
    scans that have nothing to do with each other; what they touch last before are descriptors of frames. So a scan's waits for CLOCK's
    latch, which lies there, are not counted.
    """
    if operation != "scan":
        return int(found["slots"]["barrier"])
    return sum(part["slots"]["barrier"] for part in found["breakdown"] if part["segment"] == PAGE_TABLE)
