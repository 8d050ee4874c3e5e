"""Columns that storage workloads share: where the time of their requests and of their processor went, in seconds."""

from collections.abc import Iterable, Mapping
from typing import Any

from memwalk.analysis.causes import SHORT, shortened
from memwalk.simcore.storage.device import PART_NAMES
from memwalk.simcore.storage.io_times import IoTimes
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.sampled import Sampled
from memwalk.simcore.units import PS_PER_SECOND

PARAMETERS = ("machine", "storage", "workload", "beside")
"""What columns of parameters begin with: the parts of an experiment, and a dot."""

CPU_CAUSES = tuple(cause.name for cause in SHORT)
"""Parts of a processor's time."""


def seconds(ps: int) -> float:
    """Turn picoseconds into seconds."""
    return ps / PS_PER_SECOND


def io_columns(times: IoTimes) -> dict[str, float | int]:
    """Return ``io_requests``, ``io_blocks`` and the time of all requests together by part: ``io_queue_seconds``, ...

    Requests overlap, on several disks and in queues, so the parts may sum to more than the time that passed.
    """
    counts = {"io_requests": times.requests, "io_blocks": times.blocks}
    return counts | {f"io_{name}_seconds": seconds(ps) for name, ps in zip(PART_NAMES, (times.queue_ps, *times.parts), strict=True)}


def elapsed(periods: Mapping[str, Period]) -> dict[str, float | int]:
    """Return ``io_seconds`` of a run of one period, in which no processor works, and the columns of what its clients asked for."""
    (period,) = periods.values()
    return {"io_seconds": seconds(period.elapsed_ps)} | io_columns(period.asked)


def cpu_columns(work: Sampled) -> dict[str, float]:
    """Return ``cpu_seconds`` and its parts ``cpu_busy_seconds``, ``cpu_dcache_seconds``, ..."""
    return {"cpu_seconds": work.seconds} | cpu_parts(work.statistics["slots"], work.slot_seconds)


def cpu_columns_of(works: Iterable[Sampled]) -> dict[str, float]:
    """Return the same of several pieces of work together; nothing if there are none."""
    each = [cpu_columns(work) for work in works]
    return {name: sum(columns[name] for columns in each) for name in each[0]} if each else {}


def cpu_parts(slots: Mapping[str, Any], slot_seconds: float) -> dict[str, float]:
    """Return ``cpu_busy_seconds`` and the like: slots by cause, those of the data cache by level, each of ``slot_seconds``."""
    found = shortened({**slots, "dcache": sum(slots["dcache"].values())})
    return {f"cpu_{cause}_seconds": count * slot_seconds for cause, count in found.items()}
