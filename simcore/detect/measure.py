"""Latencies and bandwidth of this processor, measured with the kernels that measure them in the simulator.

Every number is the median of several runs over chains or arrays in different random orders. Times are nanoseconds.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memwalk.simcore.engines import native

_ORDERS = 5
_REPETITIONS = 3
RUNS = _ORDERS * _REPETITIONS
"""Runs behind every number: some of each random order."""

EVICTION = 2
"""How many times the size of a cache is read to empty it."""

_DISTANCES = (8, 16, 32, 64)
"""Lines prefetched ahead; the one that gives the most bandwidth counts."""

_CHAIN_LINES = 1000
_STREAM_LINES = 32_768
_STREAM_PAGES = 1024
_LAP_LINES = 200_000
"""Lines of all laps of a run through warm caches."""

_WORDS = 1 << 10
"""Words of 64 bits, a branch on each bit. New random ones in every run: predictors remember thousands."""

_WALKED = 16
"""Pages that are walked for, as a multiple of what the TLB holds: as many as a large index has,
whose page-table entries do not stay in the near caches."""

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """A number, and how it came about."""

    ns: float
    least: float
    most: float
    how: str

    @classmethod
    def of(cls, samples: Sequence[float], how: str) -> "Measured":
        """Take the median of samples."""
        return cls(statistics.median(samples), min(samples), max(samples), how)

    def less(self, other: "Measured", how: str) -> "Measured":
        """Subtract what else is in the number. It cannot become negative."""
        return Measured(max(self.ns - other.ns, 0.0), max(self.least - other.most, 0.0), max(self.most - other.least, 0.0), how)


@dataclass(frozen=True)
class Memory:
    """What the measurements depend on: sizes and numbers of entries, nearest level first."""

    page_bytes: int
    line_bytes: int
    cache_bytes: tuple[int, ...]
    tlb_entries: tuple[int, ...]

    def evict_bytes(self, level: int) -> int:
        """Return how much must be read to empty the caches up to ``level``, counted from 0."""
        return EVICTION * self.cache_bytes[level]

    def quiet_pages(self) -> int:
        """Return pages that the first TLB level certainly holds, besides a few others."""
        return max(1, self.tlb_entries[0] * 2 // 3)


def cache_latencies(memory: Memory, notice: Notice) -> list[Measured]:
    """Measure the load-to-use latency of every cache: a chain of dependent loads in pages that the TLB holds.

    The first level is measured with a chain that fits; every other one from the state in which the levels before it
    have been emptied by reading twice their size.
    """
    notice("L1 latency")
    pages = max(1, memory.cache_bytes[0] // 2 // memory.page_bytes)
    lines = pages * _listed(memory)
    found = [_laps(_chain(memory, lines, pages), f"pointer chase over {_size(lines * memory.line_bytes)} in the cache")]
    for level in range(1, len(memory.cache_bytes)):
        notice(f"L{level + 1} latency")
        found.append(_cold_chain(memory, memory.evict_bytes(level - 1)))
    return found


def memory_latency(memory: Memory, notice: Notice) -> Measured:
    """Measure T1: the same chain after every cache was emptied. Its pages are in the TLB: no page walk is in it."""
    notice("memory latency (T1)")
    return _cold_chain(memory, memory.evict_bytes(-1))


def memory_interval(memory: Memory, notice: Notice) -> Measured:
    """Measure T_next: the time per line when lines in random order are prefetched far enough ahead, one core."""
    notice("memory bandwidth (T_next)")
    found = []
    for distance in _DISTANCES:
        array = {
            "kernel": "pointer-array",
            "lines": _STREAM_LINES,
            "distance_lines": distance,
            "line_bytes": memory.line_bytes,
            "word_bytes": 8,
            "page_bytes": memory.page_bytes,
            "pages": _STREAM_PAGES,
        }
        samples = _per_line(array, memory.evict_bytes(-1))
        size = _size(_STREAM_LINES * memory.line_bytes)
        found.append(Measured.of(samples, f"{size} of lines in random order, prefetched {distance} lines ahead"))
    return min(found, key=lambda one: one.ns)


def tlb_latencies(memory: Memory, notice: Notice) -> list[Measured]:
    """Measure what a miss in each TLB level adds; the last is the page walk.

    A chain with one line per page, more pages than the level holds, against a chain of as many lines packed into few
    pages: both find their lines in the same caches.
    """
    found = []
    for level, entries in enumerate(memory.tlb_entries):
        last = level + 1 == len(memory.tlb_entries)
        pages = _WALKED * entries if last else min(2 * entries, memory.tlb_entries[level + 1])
        notice("page walk" if last else f"TLB level {level + 2} latency")
        spread = _laps(_chain(memory, pages, None), "")
        packed = _laps(_chain(memory, pages, math.ceil(pages / _listed(memory))), "")
        found.append(spread.less(packed, f"pointer chase over {pages} pages, one line each, less one over as many lines packed"))
    return found


def misprediction(notice: Notice) -> Measured:
    """Measure what a mispredicted branch costs from where its outcome is known until the right instructions are fetched.

    At random bits, which wait in a register, every other branch is mispredicted; at ordered ones, none.
    """
    notice("misprediction")
    times = native.run_native_branches(_WORDS, RUNS)
    ordered = statistics.median(times["ordered_ns"])
    samples = [max(2 * (random - ordered), 0.0) for random in times["random_ns"]]
    return Measured.of(samples, f"a branch on each of {64 * _WORDS} random bits, less one on ordered bits, twice")


def _cold_chain(memory: Memory, evict_bytes: int) -> Measured:
    pages = memory.quiet_pages()
    lines = min(_CHAIN_LINES, pages * _listed(memory))
    chain = _chain(memory, lines, pages) | {"kernel": "pointer-chase"}
    samples = _per_line(chain, evict_bytes)
    return Measured.of(samples, f"pointer chase over {lines} lines in {pages} pages after reading {_size(evict_bytes)}")


def _per_line(workload: dict[str, object], evict_bytes: int) -> list[float]:
    """Run a pointer workload from emptied caches; returns the time per line of every run."""
    samples = []
    for seed in range(_ORDERS):
        result = native.run_native(workload | {"seed": seed}, _REPETITIONS, evict_bytes)
        samples += [time / result["workload"]["operations"] for time in result["times_ns"]]
    return samples


def _laps(chain: dict[str, object], how: str) -> Measured:
    """Run a chain through warm caches."""
    lines = int(str(chain["lines"]))
    laps = max(1, _LAP_LINES // lines)
    samples = []
    for seed in range(_ORDERS):
        result = native.run_native_laps(chain | {"seed": seed}, laps, _REPETITIONS)
        samples += [time / laps / lines for time in result["times_ns"]]
    return Measured.of(samples, how)


def _chain(memory: Memory, lines: int, pages: int | None) -> dict[str, object]:
    """Describe a chain of ``lines`` in ``pages``, or with a page for each."""
    return {
        "lines": lines,
        "tlb": "cold" if pages is None else "warm",
        "line_bytes": memory.line_bytes,
        "word_bytes": 8,
        "page_bytes": memory.page_bytes,
        "pages": pages or 1,
    }


def _listed(memory: Memory) -> int:
    """Return the lines of a page that a chain may use: one stays free, to load the page's translation."""
    return memory.page_bytes // memory.line_bytes - 1


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:g} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:g} KiB"
