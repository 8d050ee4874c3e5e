"""How many operations it takes until the simulated pool, or the caches of several cores, are as they stay."""

from __future__ import annotations

from math import ceil, log

from memwalk.analysis.advice.indexes.candidates import Candidate
from memwalk.analysis.advice.indexes.page_reads import turnover
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cost_models.memory import MissCosts
from memwalk.analysis.cost_models.page_accesses import characteristic_time
from memwalk.analysis.cost_models.popular_pages import popular_pages

MORE = 1.3
"""A warm-up is so many times as long as it takes on average to fill the pool, or the last cache."""
TURNOVERS = 2
"""A warm-up for popular keys is so many characteristic times long.

After one the pool is full and CLOCK goes round for the first time. After two, pages are read as often as after six, within 2%.
"""
MOST_LEAVES = 1_000_000
"""Most leaf pages that a warm-up for popular keys visits: those that would fill the pool may hardly be wanted."""
MOST_OF_CACHES = 250_000
"""The same for the caches of several cores: at skew 1.2 four times as many save 3% of a search's time, and take minutes."""


def pool_filling(candidate: Candidate, operation: Operation, task: IndexTask, frames: int) -> int | None:
    """Return the operations until a pool that is smaller than the index is full; with popular keys, None if they are too many to simulate.

    Each operation visits some leaf pages, drawn at random.
    """
    each = _leaves(candidate, operation, task)
    if not task.skew:
        return max(ceil(MORE * _draws(frames, candidate.pages(task.simulated_keys)[0]) / each), 1)
    scanned = task.cores * task.simulated_range if operation == "scan" else 0
    operations = TURNOVERS * turnover(candidate, task, task.simulated_keys, scanned, frames)
    return ceil(operations) if operations * each <= MOST_LEAVES else None


def cache_filling(candidate: Candidate, operation: Operation, task: IndexTask) -> int:
    """Return the operations of several cores until the last cache, shared or of each, is full of leaves' lines as the models count them.

    With popular keys these are bounded: lines that are hardly wanted may not come.
    """
    keys = task.simulated_keys
    each = candidate.search_cycles(keys, 0, MissCosts(1, 1, 0))
    if operation == "scan":
        each = task.cores * (each + candidate.scan_lines(task.simulated_range))
    lines = candidate.pages(keys)[0] * candidate.page.node_lines
    caches = 1 if task.shares_cache else task.cores
    room = task.cache_bytes // task.line_bytes
    if not task.skew:
        return max(ceil(MORE * caches * _draws(room, lines) / each), 1)
    of_lines = popular_pages(keys, ceil(keys / lines), task.skew)
    draws = characteristic_time(of_lines, min(room, len(of_lines) - 1))
    return ceil(min(MORE * caches * draws / each, MOST_OF_CACHES / _leaves(candidate, operation, task)))


def _leaves(candidate: Candidate, operation: Operation, task: IndexTask) -> float:
    """Return the leaf pages that an operation visits. One of the scans of several cores has a range for each of them."""
    return 1 + (task.cores * task.simulated_range / candidate.entries if operation == "scan" else 0)


def _draws(wanted: int, of: int) -> float:
    """Return how many draws of one of so many it takes on average until ``wanted`` different ones have been drawn, or nearly all."""
    return -log(1 - min(wanted / of, 1 - 1 / of)) * of
