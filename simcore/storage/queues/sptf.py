"""Shortest positioning time first: the request whose first block can begin to move soonest."""

from collections import deque

from simcore.storage.device import StorageDevice
from simcore.storage.queues.queue import Request

TAGS = 64
"""Commands that a drive holds at once: Ultra160 drives' tagged queues (Seagate's of 2001; from memory, medium confidence)."""


class Sptf:
    """Asks the device how far each request is that it holds, every time; a request that is always far may wait for ever.

    A device holds the first ``tags`` requests; what comes later waits in the host, in the order of its arrival.
    """

    def __init__(self, tags: int = TAGS) -> None:
        self._held: list[Request] = []
        self._behind: deque[Request] = deque()
        self._tags = tags

    def __len__(self) -> int:
        return len(self._held) + len(self._behind)

    def push(self, request: Request) -> None:
        """Take in a request."""
        (self._held if len(self._held) < self._tags else self._behind).append(request)

    def pop(self, now_ps: int, device: StorageDevice) -> Request:
        """Take out the request with the least positioning time of those that are held."""
        held = self._held
        nearest = held.pop(self._nearest(now_ps, device)) if len(held) > 1 else held.pop()
        if self._behind:
            held.append(self._behind.popleft())
        return nearest

    def _nearest(self, now_ps: int, device: StorageDevice) -> int:
        """Return the place of the request to be taken out."""
        positioning = device.positioning_ps
        times = [positioning(now_ps, request.block, write=request.write) for request in self._held]
        return min(zip(times, self._held, range(len(times)), strict=True))[2]
