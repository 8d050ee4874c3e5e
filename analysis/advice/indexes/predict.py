"""What an operation should cost: page reads times the device's time, plus the cache misses of each page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import partial

from memwalk.analysis.advice.indexes.cached_lines import missed
from memwalk.analysis.advice.indexes.candidates import CONSCIOUS, Candidate
from memwalk.analysis.advice.indexes.page_reads import page_reads
from memwalk.analysis.advice.indexes.page_writes import page_writes
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cost_models.memory import MissCosts


@dataclass(frozen=True)
class Cost:
    """Of one operation."""

    cycles: float
    """That it works and waits for lines, or only waits for them if it is predicted."""
    page_reads: float
    """Pages that it waits for."""
    queued: float = 0.0
    """How long its page reads wait for others, of pages that are written or of other cores, in times of a page read; not predicted."""
    nearby: float = 0.0
    """What its page reads take longer as pages are few, in times of a page read, or less if that is negative; not predicted.

    Another core may have begun to read the page, or the device have it in a buffer. The more pages there are, the rarer is that.
    """
    latch_cycles: float = 0.0
    """Those of ``cycles`` that it waits for latches which other cores hold; not predicted."""
    transfer_cycles: float = 0.0
    """Those that it waits for lines in caches of other cores; not predicted."""
    page_writes: float = 0.0
    """Changed pages that have to leave the pool for those that are read; predicted: in the long run, once insertions have changed all."""

    def __add__(self, other: Cost) -> Cost:
        """Both of them, one after the other."""
        return Cost(*(own + more for own, more in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: float) -> Cost:
        """So many of them."""
        return Cost(*(own * times for own in astuple(self)))


def predict(candidate: Candidate, operation: Operation, task: IndexTask, keys: int, frames: int) -> Cost:
    """Predict an operation of the task's mix on an index of so many keys behind a pool of so many frames.

    Lines that the last cache holds because they are wanted often come from there, others from memory. Instructions take no time, and
    hardware prefetchers fetch nothing.
    """
    far = missed(candidate, operation, task, keys)
    writes = page_writes(candidate, operation, task, keys, frames)
    cycles = sum(_waits(partial(candidate.search_cycles, keys, level), task, share) for level, share in enumerate(far.levels))
    if operation == "scan":
        cycles += _waits(partial(_scan_cycles, candidate, min(task.scan_range, keys)), task, far.scanned)
    if operation == "insert":
        cycles += _waits(lambda costs: costs.full + candidate.moved_lines * costs.next, task, far.moved)
    return Cost(cycles, page_reads(candidate, operation, task, keys, frames), page_writes=writes)


def _waits(cycles: Callable[[MissCosts], float], task: IndexTask, share: float) -> float:
    """Return the cycles of waiting for lines of which memory has such a share, and the last cache the others."""
    near = cycles(task.cache_costs)
    return near + share * (cycles(task.costs) - near)


def _scan_cycles(candidate: Candidate, tuples: int, costs: MissCosts) -> float:
    """Return the cycles of waiting for the entries of a scan."""
    fetched_ahead = candidate.structure.name in ("disk-first", "cache-first")
    return candidate.scan_lines(tuples) * (costs.next if fetched_ahead else costs.full)


def is_conscious(candidate: Candidate) -> bool:
    """Tell whether the pages are made for the caches."""
    return candidate.structure.name in CONSCIOUS
