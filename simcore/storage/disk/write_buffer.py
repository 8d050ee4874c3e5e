"""The write side of a disk's buffer: writes that wait for the medium after the drive has said that they are done."""

from collections import deque


class WriteBuffer:
    """Up to ``segments`` runs of blocks on their way to the medium; a write that continues the last run joins it."""

    def __init__(self, segments: int, segment_blocks: int) -> None:
        """Begin empty."""
        self.segments = segments
        self.capacity = segment_blocks if segments else 0
        """Blocks of the largest write that is taken."""
        self._written_ps: deque[int] = deque()  # when each run is on the medium, in order
        self._block = 0  # the last run
        self._end = 0

    def room_ps(self, now_ps: int, block: int, end: int) -> int:
        """Return when there is room for the blocks from ``block`` to ``end``: ``now_ps`` or later."""
        written = self._written_ps
        while written and written[0] <= now_ps:
            written.popleft()
        if self._joins(block, end) or len(written) < self.segments:
            return now_ps
        return written[-self.segments]

    def take(self, written_ps: int, block: int, end: int) -> None:
        """Hold the blocks until ``written_ps``."""
        if self._joins(block, end):
            self._written_ps[-1] = written_ps
        else:
            self._written_ps.append(written_ps)
            self._block = block
        self._end = end

    def _joins(self, block: int, end: int) -> bool:
        return bool(self._written_ps) and block == self._end and end - self._block <= self.capacity
