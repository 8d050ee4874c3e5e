"""Shortest positioning time first: the request whose first block can begin to move soonest."""

from collections import deque

from memwalk.simcore.storage.device import StorageDevice, positioning_bounds
from memwalk.simcore.storage.queues.queue import Request

TAGS = 64
"""Commands that a drive holds at once: Ultra160 drives' tagged queues (Seagate's of 2001; from memory, medium confidence)."""

FEW = 8
"""Requests that a device is asked about one by one; with more, bounds save more time than they take."""


class Sptf:
    """Asks the device every time how far the requests are that it holds; a request that is always far may wait for ever.

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
        """Return the place of the request to be taken out.

        The device is asked in order of its bounds, which cost less than its answers, and no longer once they are above the least answer.
        """
        held, positioning = self._held, device.positioning_ps
        bounds = positioning_bounds(device, now_ps, held) if len(held) > FEW else [0] * len(held)
        nearest = None
        for place in sorted(range(len(held)), key=bounds.__getitem__):
            if nearest is not None and bounds[place] > nearest[0]:
                break
            request = held[place]
            found = positioning(now_ps, request.block, write=request.write), request, place
            if nearest is None or found < nearest:
                nearest = found
        assert nearest is not None
        return nearest[2]
