"""Where the time of requests goes, summed up."""

from dataclasses import dataclass, field
from operator import add

from memwalk.simcore.storage.device import Parts
from memwalk.simcore.storage.server import Served


@dataclass
class IoTimes:
    """Sums up requests as they end. Requests overlap, on several devices and in queues: sums may be more than the time that passed."""

    requests: int = 0
    blocks: int = 0
    queue_ps: int = 0
    parts: list[int] = field(default_factory=lambda: [0] * len(Parts._fields))
    """Picoseconds by part, in the order of `Parts`."""

    def add(self, served: Served, blocks: int) -> None:
        """Count a request of ``blocks`` blocks."""
        self.requests += 1
        self.blocks += blocks
        self.queue_ps += served.start_ps - served.arrival_ps
        self.parts = [*map(add, self.parts, served.parts)]

    def __add__(self, other: "IoTimes") -> "IoTimes":
        """Return the sums of both."""
        parts = [*map(add, self.parts, other.parts)]
        return IoTimes(self.requests + other.requests, self.blocks + other.blocks, self.queue_ps + other.queue_ps, parts)

    @property
    def busy_ps(self) -> int:
        """Time in which requests were served, without their queues."""
        return sum(self.parts)

    @property
    def response_ps(self) -> int:
        """Time from the arrival of each request to its end."""
        return self.queue_ps + self.busy_ps
