"""Shortest positioning time first: the request whose first block can begin to move soonest, with or without regard to how long it waits."""

from collections import deque

from memwalk.simcore.storage.device import StorageDevice, positioning_bounds
from memwalk.simcore.storage.queues.queue import Request
from memwalk.simcore.units import PS_PER_MS, PS_PER_SECOND

TAGS = 64
"""Commands that a drive holds at once: Ultra160 drives' tagged queues (Seagate's of 2001; from memory, medium confidence)."""

FEW = 8
"""Requests that a device is asked about one by one; with more, bounds save more time than they take."""


AGE_MS = 6
"""By how many milliseconds nearer a request counts for each second that it has waited: one of the weights with which Worthington, Ganger
and Patt try the policy ("Scheduling algorithms for modern disk drives", SIGMETRICS 1994; from memory, medium confidence)."""


class Sptf:
    """Asks the device every time how far the requests are that it holds; a request that is always far may wait for ever.

    A device holds the first ``tags`` requests; what comes later waits in the host, in the order of its arrival.
    """

    age_ms = 0
    """By how many milliseconds nearer a request counts for each second that it has waited."""

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
        """Take out the request with the least positioning time of those that are held, less what its age counts."""
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
        ages = [self._age(now_ps, request) for request in held] if self.age_ms else [0] * len(held)
        bounds = [bound - age for bound, age in zip(bounds, ages, strict=True)]
        nearest = None
        for place in sorted(range(len(held)), key=bounds.__getitem__):
            if nearest is not None and bounds[place] > nearest[0]:
                break
            request = held[place]
            found = positioning(now_ps, request) - ages[place], request, place
            if nearest is None or found < nearest:
                nearest = found
        assert nearest is not None
        return nearest[2]

    def _age(self, now_ps: int, request: Request) -> int:
        """Return what the time counts that a request has waited, in ps of positioning."""
        return (now_ps - request.arrival_ps) * self.age_ms * PS_PER_MS // PS_PER_SECOND


class AgedSptf(Sptf):
    """The same, and who has waited long comes first in the end: each second counts as `AGE_MS` of positioning."""

    age_ms = AGE_MS
