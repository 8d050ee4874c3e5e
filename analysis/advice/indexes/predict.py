"""What an operation should cost: page reads times the device's time, plus the cache misses of each page."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from memwalk.analysis.advice.indexes.candidates import CONSCIOUS, Candidate
from memwalk.analysis.advice.indexes.page_reads import page_reads
from memwalk.analysis.advice.indexes.task import IndexTask, Operation


@dataclass(frozen=True)
class Cost:
    """Of one operation."""

    cycles: float
    """That it works and waits for lines, or only waits for them if it is predicted."""
    page_reads: float
    """Pages that it waits for."""
    queued: float = 0.0
    """How long its page reads wait for others, of pages that are written or of other cores, in times of a page read; not predicted."""
    latch_cycles: float = 0.0
    """Those of ``cycles`` that it waits for latches which other cores hold; not predicted."""
    transfer_cycles: float = 0.0
    """Those that it waits for lines in caches of other cores; not predicted."""

    def __add__(self, other: Cost) -> Cost:
        """Both of them, one after the other."""
        return Cost(*(own + more for own, more in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: float) -> Cost:
        """So many of them."""
        return Cost(*(own * times for own in astuple(self)))


def predict(candidate: Candidate, operation: Operation, task: IndexTask, keys: int, frames: int) -> Cost:
    """Predict an operation on an index of so many keys behind a pool of so many frames.

    Lines of levels that the last cache holds as a whole come from there, those of others from memory. Instructions take no time, and
    hardware prefetchers fetch nothing.
    """
    pages = candidate.pages(keys)
    cost = Cost(0, page_reads(candidate, operation, task, keys, frames))
    above = 0
    for level in reversed(range(len(pages))):
        above += pages[level] * candidate.page.page_bytes
        costs = task.cache_costs if above <= task.cache_bytes else task.costs
        cost += Cost(candidate.search_cycles(keys, level, costs), 0)
    if operation == "scan":
        far = task.costs if above > task.cache_bytes else task.cache_costs
        tuples = min(task.scan_range, keys)
        fetched_ahead = candidate.structure.name in ("disk-first", "cache-first")
        lines = candidate.scan_lines(tuples) * (far.next if fetched_ahead else far.full)
        cost += Cost(lines, 0)
    if operation == "insert":
        far = task.costs if above > task.cache_bytes else task.cache_costs
        cost += Cost(far.full + candidate.moved_lines * far.next, 0)
    return cost


def is_conscious(candidate: Candidate) -> bool:
    """Tell whether the pages are made for the caches."""
    return candidate.structure.name in CONSCIOUS
