"""Caches that count as cachegrind's do: an access that touches two lines misses once if either is absent.

Write-backs do not exist: a dirty line leaves without a trace. Nor do reads differ from writes.
"""

from collections.abc import Iterable

LINE = 64


class Cache:
    """A set-associative LRU cache of lines of 64 bytes."""

    def __init__(self, size_bytes: int, ways: int) -> None:
        self.ways = ways
        self.sets: list[list[int]] = [[] for _ in range(size_bytes // LINE // ways)]
        self.misses = 0

    def misses_access(self, address: int, size: int) -> bool:
        """Looks up the lines of one access; counts one miss at most."""
        lines = range(address // LINE, (address + size - 1) // LINE + 1)
        missed = sum(map(self._misses_line, lines)) > 0  # all are looked up
        self.misses += missed
        return missed

    def _misses_line(self, line: int) -> bool:
        lines = self.sets[line % len(self.sets)]
        missed = line not in lines
        if not missed:
            lines.remove(line)
        lines.insert(0, line)
        del lines[self.ways :]
        return missed


def misses(trace: Iterable[str]) -> dict[str, int]:
    """What cachegrind, with the caches of `run_valgrind.py`, would count of a Lackey trace."""
    instructions, data, last = Cache(32768, 8), Cache(16384, 4), Cache(2097152, 8)
    for line in trace:
        if line.startswith("=="):
            continue
        address, size = line[3:].split(",")
        access = (int(address, 16), int(size))
        if (instructions if line.startswith("I") else data).misses_access(*access):
            last.misses_access(*access)
    return {
        "instruction cache misses": instructions.misses,
        "first-level data misses": data.misses,
        "last-level misses": last.misses,
    }
