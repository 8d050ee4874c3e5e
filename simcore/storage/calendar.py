"""When something is taken that carries one thing at a time: a channel, a link."""

from bisect import bisect_left, bisect_right


class Calendar:
    """Times that are taken, each from a start to an end, in picoseconds. Those that touch are one."""

    def __init__(self) -> None:
        """Start with nothing taken."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, earliest: int, duration: int) -> int:
        """Take ``duration`` from ``earliest`` on, or from where the first gap that long begins; returns its end."""
        starts, ends = self._starts, self._ends
        index = bisect_right(ends, earliest)
        begin = earliest
        while index < len(starts) and starts[index] < begin + duration:
            begin = max(begin, ends[index])
            index += 1
        end = begin + duration
        joins_before = index > 0 and ends[index - 1] == begin
        joins_behind = index < len(starts) and starts[index] == end
        if joins_before and joins_behind:
            ends[index - 1] = ends.pop(index)
            del starts[index]
        elif joins_before:
            ends[index - 1] = end
        elif joins_behind:
            starts[index] = begin
        else:
            starts.insert(index, begin)
            ends.insert(index, end)
        return end

    def fill(self, earliest: int, latest: int, duration: int) -> int:
        """Take up to ``duration`` of what is free from ``earliest`` to ``latest``, the latest of it; returns what there was no room for."""
        gaps = []
        index, end = bisect_left(self._starts, latest), latest
        while duration and end > earliest:
            begin = max(earliest, end - duration, self._ends[index - 1] if index else earliest)
            if begin < end:
                gaps.append((begin, end - begin))
                duration -= end - begin
            index -= 1
            end = min(end, self._starts[index]) if index >= 0 else earliest
        for gap in gaps:
            self.take(*gap)
        return duration

    def forget(self, now: int) -> None:
        """Drop what ended by ``now``: nothing will be taken before that any more."""
        past = bisect_right(self._ends, now)
        if past:
            del self._starts[:past], self._ends[:past]
