"""The read side of a disk's buffer: a few segments, each with blocks that follow one another."""


class Segments:
    """The latest ``segments`` runs of blocks, and of each the last ``segment_blocks`` blocks."""

    def __init__(self, segments: int, segment_blocks: int) -> None:
        """Start empty; without segments nothing is kept."""
        self.segments = segments
        self.segment_blocks = segment_blocks
        self._runs: list[tuple[int, int]] = []  # (first block, end), the newest last

    def end(self, block: int) -> int:
        """Return the end of the blocks that are held from ``block`` on; ``block`` itself if it is not held."""
        return max((end for first, end in self._runs if first <= block < end), default=block)

    def edges(self, more: tuple[int, int]) -> list[int]:
        """Return in turn where what is held begins and ends, another run included: an odd number of them lie at or before a block in it."""
        edges: list[int] = []
        for first, end in sorted([*self._runs, more]):
            if not edges or first > edges[-1]:
                edges += first, end
            elif end > edges[-1]:
                edges[-1] = end
        return edges

    def keep(self, block: int, end: int) -> None:
        """Hold the blocks from ``block`` to ``end`` in a segment of their own; the oldest makes room."""
        if self.segments and end > block:
            self._runs.append((max(block, end - self.segment_blocks), end))
            if len(self._runs) > self.segments:
                del self._runs[0]

    def drop(self, block: int, end: int) -> None:
        """Forget every segment with a block between ``block`` and ``end``: they are being overwritten."""
        self._runs = [run for run in self._runs if run[1] <= block or end <= run[0]]
