"""The write side of a disk's buffer: writes that wait for the medium after the drive has said that they are done."""

from collections import deque


class WriteBuffer:
    """Up to ``segments`` runs of blocks on their way to the medium; a write that continues the last run joins it."""

    def __init__(self, segments: int, segment_blocks: int) -> None:
        """Begin empty."""
        self.segments = segments
        self.capacity = segment_blocks if segments else 0
        """Blocks of the largest write that is taken."""
        self._written_ps: deque[int] = deque(maxlen=segments)  # when each of the latest runs is on the medium, in order
        self._block = 0  # the last run
        self._end = 0

    def room_ps(self, now_ps: int, block: int, end: int) -> int:
        """Return when there is room for the blocks from ``block`` to ``end``: ``now_ps`` or later."""
        written = self._written_ps
        if len(written) < self.segments or self._joins(now_ps, block, end):
            return now_ps
        return max(now_ps, written[0])

    def take(self, now_ps: int, written_ps: int, block: int, end: int) -> None:
        """Hold the blocks until ``written_ps``, asked for at ``now_ps``."""
        if self._joins(now_ps, block, end):
            self._written_ps[-1] = written_ps
        else:
            self._written_ps.append(written_ps)
            self._block = block
        self._end = end

    def _joins(self, now_ps: int, block: int, end: int) -> bool:
        is_waiting = bool(self._written_ps) and self._written_ps[-1] > now_ps
        return is_waiting and block == self._end and end - self._block <= self.capacity
