"""Where the seconds of a run go: the processor's time by cause, and its waiting for storage by part of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memwalk.analysis.causes import APART, CAUSES, ENDED, SHORT, shortened
from memwalk.analysis.storage_workloads.columns import CPU_CAUSES
from memwalk.simcore.storage.device import PART_NAMES

IO_STALL = "I/O stall"

_WORDS = {cause.name: cause.word for cause in CAUSES if cause in SHORT or cause.name in APART}
"""The processor's causes as people read them."""
_ROUNDING = 1e-9
"""Share of a time by which the sum of its parts may be off."""
_ALL_CPU = "processor"
"""The processor's time as a whole, of a workload that does not split it."""


@dataclass(frozen=True)
class TimeBreakdown:
    """Seconds by cause. A processor that has not ended waits for storage whenever it does nothing else, so the causes sum to the whole."""

    seconds: float
    causes: dict[str, float]
    """The processor's: busy, cache, TLB, code, branch, other and, if they take time, barriers and latches, and the I/O path; or processor,
    if these are not split.

    Then ended cores (of several), and the I/O stall, if there is storage.
    """
    io: dict[str, float]
    """The I/O stall by part of the requests: queue, overhead, seek, rotation, transfer, bus; empty if they are not known."""

    def headline(self) -> str:
        """Says in one sentence what takes most."""
        finest = {name: value for name, value in self.causes.items() if name != IO_STALL or not self.io}
        finest |= {f"I/O, {part}": value for part, value in self.io.items()}
        name = max(finest, key=lambda cause: finest[cause])
        stalled = self.causes.get(IO_STALL, self.seconds)
        share, stall = ((value / self.seconds if self.seconds else 0.0) for value in (finest[name], stalled))
        waits = f" The processor waits for storage {stall:.0%} of the time." if stall < 1 else ""
        return f"Most goes to {name}: {finest[name]:,.3g} of {self.seconds:,.3g} seconds ({share:.0%}).{waits}"


@dataclass(frozen=True)
class StorageExplanation:
    """Where the time of one workload on storage goes."""

    experiment: str
    variant: str
    point: str
    parameters: dict[str, object]
    """All that was asked for; ``program`` is who of several it is."""
    varying: dict[str, object]
    """Those that distinguish the point from the others of its variant, and ``program``."""
    time: TimeBreakdown
    slowdown: float | None = None
    """How many times longer it takes than alone, if others run beside it."""

    def headline(self) -> str:
        """Says in one sentence what takes most."""
        return self.time.headline()


def slowdown(row: Mapping[Any, Any]) -> float | None:
    """Return how many times longer the workload of a row takes than alone; None if nobody runs beside it."""
    found = _Row(row)
    return found["slowdown"] if found.has("slowdown") else None


def time_breakdown(row: Mapping[Any, Any]) -> TimeBreakdown | None:
    """Break down the ``seconds`` of a row of a result table, or the sum of ``cpu_seconds`` and ``io_seconds``; None if it has neither.

    None, too, for a row of a machine whose slots say the same, as nothing else takes time.
    """
    found = _Row(row)
    splits = found.has("io_seconds") or (found.has("seconds") and not found.has("slots_total"))
    if not splits and not (found.has("seconds") and found.has("cpu_seconds")):
        return None
    cpu = _cpu(found)
    seconds = found["seconds"] if found.has("seconds") else sum(cpu.values()) + found["io_seconds"]
    ended = {ENDED.word: found["ended_seconds"]} if found.has("ended_seconds") else {}
    stall = max(0.0, seconds - sum(cpu.values()) - sum(ended.values()))
    asked = ("io_seconds", "io_requests", *(f"io_{part}_seconds" for part in PART_NAMES))
    if stall < _ROUNDING * seconds and not any(map(found.has, asked)):
        return TimeBreakdown(seconds, cpu | ended, {})
    parts = {part: found[f"io_{part}_seconds"] for part in PART_NAMES}
    requests = sum(parts.values())
    io = {part: stall * value / requests for part, value in parts.items()} if requests else {}
    return TimeBreakdown(seconds, cpu | ended | {IO_STALL: stall}, io)


def _cpu(row: "_Row") -> dict[str, float]:
    """Split the processor's seconds as the workload did, or as the graduation slots are split."""
    whole = row["cpu_seconds"]
    if any(row.has(f"cpu_{cause}_seconds") for cause in CPU_CAUSES):
        apart = [cause for cause in APART if row.has(f"cpu_{cause}_seconds")]
        return {_WORDS[cause]: row[f"cpu_{cause}_seconds"] for cause in (*CPU_CAUSES, *apart)}
    if row.has("slots_total"):
        columns = {cause.name: f"slots_{cause.name}" for cause in CAUSES}
        slots = shortened({cause: row[column] for cause, column in columns.items() if row.has(column)})
        total = sum(slots.values())
        return {_WORDS[cause]: whole * count / total if total else 0.0 for cause, count in slots.items()}
    return {_ALL_CPU: whole}


class _Row:
    """A row in which missing columns and values are 0."""

    def __init__(self, row: Mapping[Any, Any]) -> None:
        self.row = row

    def has(self, name: str) -> bool:
        return name in self.row and not pd.isna(self.row[name])

    def __getitem__(self, name: str) -> float:
        return float(self.row[name]) if self.has(name) else 0.0
