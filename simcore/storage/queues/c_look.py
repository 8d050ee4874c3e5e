"""Circular LOOK: the arm sweeps towards higher blocks and returns to the lowest that waits."""

from bisect import bisect_left, insort

from memwalk.simcore.storage.device import Run, StorageDevice
from memwalk.simcore.storage.queues.queue import Request


class CLook:
    """Requests by first block, upwards from where the last one ended; behind the highest, the lowest is next.

    Nothing starves: a request is passed over until the sweep ends, and a sweep only moves up.
    """

    def __init__(self) -> None:
        self._by_block: list[tuple[int, Request]] = []
        self._head = 0
        """The block behind the last request that was taken out."""

    def __len__(self) -> int:
        return len(self._by_block)

    def push(self, request: Request) -> None:
        """Put the request where its first block belongs."""
        insort(self._by_block, (request.block, request))

    def pop(self, now_ps: int, device: StorageDevice) -> Request:  # noqa: ARG002 (the blocks' numbers decide alone)
        """Take out the first request at or above the head, or the lowest of all if none is."""
        index = bisect_left(self._by_block, (self._head,))
        _, request = self._by_block.pop(index if index < len(self._by_block) else 0)
        self._head = _end(request)
        return request


def _end(request: Request) -> int:
    """Return the block behind the highest of a request, whose runs may lie apart if it is a batch."""
    runs = request.runs or (Run(request.block, request.blocks),)
    return max(run.block + run.blocks for run in runs)
