"""First come, first served."""

from collections import deque

from memwalk.simcore.storage.device import StorageDevice
from memwalk.simcore.storage.queues.queue import Request


class Fcfs:
    """Requests in the order in which they come."""

    def __init__(self) -> None:
        self._waiting: deque[Request] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, request: Request) -> None:
        """Put the request at the end."""
        self._waiting.append(request)

    def pop(self, now_ps: int, device: StorageDevice) -> Request:  # noqa: ARG002 (only arrival counts)
        """Take out the first."""
        return self._waiting.popleft()
