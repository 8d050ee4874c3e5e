"""Columns that storage workloads share: where the time of their requests and of their processor went, in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memwalk.analysis.causes import SHORT, shortened
from memwalk.simcore.storage.device import Parts
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.timed_pages import PARTS
from memwalk.simcore.units import PS_PER_SECOND

IO_PARTS = tuple(name.removesuffix("_ps") for name in PARTS)
"""Parts of a request's time, from its arrival to its end."""

CPU_CAUSES = tuple(cause.name for cause in SHORT)
"""Parts of a processor's time."""


def seconds(ps: int) -> float:
    """Turn picoseconds into seconds."""
    return ps / PS_PER_SECOND


@dataclass
class IoTimes:
    """Sums up requests as they end."""

    requests: int = 0
    blocks: int = 0
    queue_ps: int = 0
    parts: list[int] = field(default_factory=lambda: [0] * len(Parts._fields))

    def add(self, served: Served, blocks: int) -> None:
        """Count a request of ``blocks`` blocks that a server served."""
        self.add_parts(served.parts, blocks, served.start_ps - served.arrival_ps)

    def add_parts(self, parts: Parts, blocks: int, queue_ps: int = 0) -> None:
        """Count a request that a device served without a server."""
        self.requests += 1
        self.blocks += blocks
        self.queue_ps += queue_ps
        sums = self.parts
        for index, part in enumerate(parts):
            sums[index] += part

    def columns(self) -> dict[str, float | int]:
        """Return ``io_requests``, ``io_blocks`` and the time of all requests together by part: ``io_queue_seconds``, ...

        Requests overlap, on several disks and in queues, so the parts may sum to more than the time that passed.
        """
        counts = {"io_requests": self.requests, "io_blocks": self.blocks}
        return counts | {f"io_{name}_seconds": seconds(ps) for name, ps in zip(IO_PARTS, (self.queue_ps, *self.parts), strict=True)}


def cpu_columns(statistics: Mapping[str, Any], machine: Mapping[str, Any], times: float = 1.0) -> dict[str, float]:
    """Return ``cpu_seconds`` and its parts ``cpu_busy_seconds``, ``cpu_dcache_seconds``, ... of a simulation on ``machine``.

    ``times`` scales a sample up to the whole.
    """
    slots = statistics["slots"]
    per_slot = times * statistics["cycles"] / machine["clock_hz"] / slots["total"]
    found = shortened(slots | {"dcache": sum(slots["dcache"].values())})
    return {"cpu_seconds": slots["total"] * per_slot} | {f"cpu_{cause}_seconds": count * per_slot for cause, count in found.items()}
