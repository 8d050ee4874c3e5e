"""Pages that an operation reads from storage, because the pool does not hold them: if all keys are alike, or some are popular."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from memwalk.analysis.advice.indexes.candidates import Candidate
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cost_models.page_accesses import characteristic_time, missed_pages
from memwalk.analysis.cost_models.popular_pages import Wanted, pages_above, popular_pages, scanned_pages


def held(pages: list[int], frames: int) -> list[float]:
    """Return the share of each level's pages that a pool of so many frames holds, leaves first: it has upper levels before leaves."""
    shares = []
    for count in reversed(pages):
        taken = min(count, frames)
        frames -= taken
        shares.append(taken / count)
    return shares[::-1]


def page_reads(candidate: Candidate, operation: Operation, task: IndexTask, keys: int, frames: int) -> float:
    """Return the pages that an operation reads on average, of an index of so many keys behind a pool of so many frames.

    The pool holds what has been wanted latest.
    """
    if task.skew:
        scanned = min(task.scan_range, keys) if operation == "scan" else 0
        return missed_pages(_wanted(candidate, keys, scanned, task.skew), frames)
    pages, visited = np.array(candidate.wanted(keys)).T
    visited[0] = leaves_visited(candidate, operation, task, keys)
    return missed_pages(visited / pages, frames, pages)


def leaves_visited(candidate: Candidate, operation: Operation, task: IndexTask, keys: int) -> float:
    """Return the leaf pages that an operation wants on average."""
    return 1 + (min(task.scan_range, keys) / candidate.entries if operation == "scan" else 0)


def turnover(candidate: Candidate, task: IndexTask, keys: int, scanned: int, frames: int) -> float:
    """Return the searches, or scans of so many entries, that fill a pool of so many frames, if some keys are popular.

    Infinite if the pool has room for all pages.
    """
    return characteristic_time(_wanted(candidate, keys, scanned, task.skew), frames)


@lru_cache(maxsize=4)
def _wanted(candidate: Candidate, keys: int, scanned: int, skew: float) -> Wanted:
    """Return how often a search, or a scan of so many entries, wants each page of all levels. Scans begin where enough keys follow."""
    (leaves, _), *above = candidate.wanted(keys)
    starts = popular_pages(keys - scanned + 1 if scanned else keys, candidate.entries, skew)
    levels = [scanned_pages(starts, round(leaves), scanned / candidate.entries) if scanned else starts]
    levels += [times * pages_above(starts, min(max(round(pages), 1), len(starts))) for pages, times in above]
    return np.concatenate(levels)
