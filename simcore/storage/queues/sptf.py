"""Shortest positioning time first: the request whose first block can begin to move soonest."""

from simcore.storage.device import StorageDevice
from simcore.storage.queues.queue import Request


class Sptf:
    """Asks the device how far each waiting request is, every time; a request that is always far may wait for ever."""

    def __init__(self) -> None:
        self._waiting: list[Request] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, request: Request) -> None:
        """Take in a request."""
        self._waiting.append(request)

    def pop(self, now_ps: int, device: StorageDevice) -> Request:
        """Take out the request with the least positioning time."""
        waiting, positioning = self._waiting, device.positioning_ps
        if len(waiting) < 2:
            return waiting.pop()
        times = [positioning(now_ps, request.block, write=request.write) for request in waiting]
        _, nearest, index = min(zip(times, waiting, range(len(waiting)), strict=True))
        # Requests are told apart by themselves, so their order in the list is free: the last one fills the gap.
        waiting[index] = waiting[-1]
        waiting.pop()
        return nearest
