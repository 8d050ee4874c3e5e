"""How often the pages of an index are wanted if some of its keys are popular: by Zipf's law, popular keys anywhere among the others."""

from __future__ import annotations

from math import ceil, expm1, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Wanted: TypeAlias = NDArray[np.float64]
"""How often each page is wanted by an operation on average, in the order of the keys."""

PLACED = 1 << 22
"""Most ranks that get places one by one; what all others are wanted is spread evenly."""
SEED = 1
"""Of the places. Others hardly change how many pages are missed."""


def popular_pages(keys: int, entries: int, skew: float) -> Wanted:
    """Return each page's share of the draws of a key: pages have so many entries, the last one what is left.

    The key of rank r is drawn in proportion to r to the power of minus ``skew``, as the kernels draw it. Each of the most popular
    ranks lies on a page drawn at random, which it brings what it is wanted more often than the mean of the others.
    """
    placed = min(keys - 1, PLACED)
    frequencies = np.arange(1, placed + 1, dtype=np.float64) ** -skew
    least = _frequencies_between(placed, keys, skew) / (keys - placed)
    pages = ceil(keys / entries)
    found = np.full(pages, entries * least)
    found[-1] = (keys - (pages - 1) * entries) * least
    places = np.random.default_rng(SEED).integers(keys, size=placed)
    found += np.bincount(places // entries, weights=frequencies - least, minlength=pages)
    shares: Wanted = found / found.sum()
    return shares


def pages_above(below: Wanted, pages: int) -> Wanted:
    """Return how often each of so many pages is wanted that lead to those below, about as many each."""
    sums: Wanted = np.add.reduceat(below, np.arange(pages) * len(below) // pages)
    return sums


def scanned_pages(starts: Wanted, pages: int, length: float) -> Wanted:
    """Return how often each of so many leaf pages is wanted by scans as long as ``length`` pages, by how often one begins on each.

    Scans begin anywhere on a page, so that they read a page more than their length on average.
    """
    whole = int(length)
    begun = np.zeros(pages + 1)
    begun[1 : len(starts) + 1] = starts
    until = np.cumsum(begun)
    # A scan reads its first page and so many whole ones behind it, and, by chance, one more.
    before = np.maximum(np.arange(pages) - whole, 0)
    reached: Wanted = until[1:] - until[before]
    last = np.arange(pages) - whole - 1
    return reached + (length - whole) * np.where(last >= 0, begun[np.maximum(last, 0) + 1], 0.0)


def _frequencies_between(after: int, until: int, skew: float) -> float:
    """Sum the frequencies of the ranks after one, until another one: the integral, a half beyond either rank."""
    first, last = after + 0.5, until + 0.5
    power, ratio = 1 - skew, log(last / first)
    return float(first**power * (expm1(power * ratio) / power if power else ratio))
