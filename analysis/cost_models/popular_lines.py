"""Lines that searches miss in a cache if some keys are popular: each has a path of lines, which it shares with keys beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from memwalk.analysis.cost_models.page_accesses import missed_pages
from memwalk.analysis.cost_models.popular_pages import Wanted, popular_pages

APART = 0.01
"""Lines that are wanted as often but for such a share count as alike."""


class Shared(NamedTuple):
    """A part of a search's path."""

    lines: float
    entries: float
    """So many entries beside each other have these lines in common."""


def missed_lines(path: Iterable[Shared], keys: int, skew: float, lines: int) -> float:
    """Return the lines of its path that a search misses on average in an LRU cache of so many, which holds nothing else.

    The cache is to lines what a pool is to pages, and popular keys lie as in :func:`popular_pages`.
    """
    wanted, counts = [], []
    for part in path:
        often, alike = _alike(popular_pages(keys, max(round(part.entries), 1), skew))
        wanted.append(often)
        counts.append(part.lines * alike)
    return missed_pages(np.concatenate(wanted), lines, np.concatenate(counts))


def _alike(wanted: Wanted) -> tuple[Wanted, Wanted]:
    """Put together what is wanted about as often: how often on average, and how many there are."""
    logs = np.log(wanted)
    classes = ((logs - logs.min()) / APART).astype(np.int64)
    count = np.bincount(classes)
    sums = np.bincount(classes, weights=wanted)
    there = count > 0
    return sums[there] / count[there], count[there].astype(np.float64)
