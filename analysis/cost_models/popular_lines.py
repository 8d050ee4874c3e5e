"""Lines that searches miss in a cache if some keys are popular: each has a path of lines, which it shares with keys beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from memwalk.analysis.cost_models.page_accesses import characteristic_time
from memwalk.analysis.cost_models.popular_pages import Wanted, popular_pages

APART = 0.01
"""Lines that are wanted as often but for such a share count as alike."""
FINE = 16
"""Entries that share a line are counted by the groups that share another if they are so many times as many, or more."""


class Shared(NamedTuple):
    """A part of a search's path."""

    lines: float
    entries: float
    """So many entries beside each other have these lines in common."""


def missed_lines(path: Iterable[Shared], keys: int, skew: float, lines: int) -> float:
    """Return the lines of its path that a search misses on average in an LRU cache of so many, which holds nothing else."""
    return sum(missed_by_part(path, keys, skew, lines))


def missed_by_part(path: Iterable[Shared], keys: int, skew: float, lines: int) -> list[float]:
    """Return the lines of each part of its path that a search misses on average in an LRU cache of so many, which holds nothing else.

    The cache is to lines what a pool is to pages, and popular keys lie as in :func:`popular_pages`.
    """
    path = tuple(path)
    shared = _popular(path, keys, skew) if skew else [_even(part, keys) for part in path]
    parts = [(part.lines, *of_part) for part, of_part in zip(path, shared, strict=True)]
    wanted, counts = np.concatenate([often for _, often, _ in parts]), np.concatenate([each * alike for each, _, alike in parts])
    time = characteristic_time(wanted, lines, counts)
    if time == inf:
        return [0.0] * len(parts)
    return [float((each * alike * often * np.exp(-often * time)).sum()) for each, often, alike in parts]


def _even(part: Shared, keys: int) -> tuple[Wanted, Wanted]:
    """Return how often lines that entries share are wanted if keys are alike, and how many groups of entries want theirs as often."""
    groups = max(keys / part.entries, 1.0)
    return np.array([1 / groups]), np.array([groups])


def _popular(path: Sequence[Shared], keys: int, skew: float) -> list[tuple[Wanted, Wanted]]:
    """Return the same of each part of a path if some keys are popular."""
    sizes = [max(round(part.entries), 1) for part in path]
    known: dict[int, Wanted] = {}
    for size in sorted(set(sizes)):
        # What many entries share is wanted as often as what those of their parts share.
        finer = max((one for one in known if size >= FINE * one), default=None)
        if finer is None:
            known[size] = popular_pages(keys, size, skew)
        else:
            known[size] = np.add.reduceat(known[finer], np.arange(0, len(known[finer]), round(size / finer)))
    return [_alike(known[size]) for size in sizes]


def _alike(wanted: Wanted) -> tuple[Wanted, Wanted]:
    """Put together what is wanted about as often: how often on average, and how many there are."""
    logs = np.log(wanted)
    classes = ((logs - logs.min()) / APART).astype(np.int64)
    count = np.bincount(classes)
    sums = np.bincount(classes, weights=wanted)
    there = count > 0
    return sums[there] / count[there], count[there].astype(np.float64)
