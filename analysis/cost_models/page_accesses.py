"""Pages that operations on an index in pages read: of a pool that is empty at first and holds all that they touch, and of a smaller one."""

from __future__ import annotations

from math import ceil, expm1, inf, log1p

import numpy as np

from memwalk.analysis.cost_models.popular_pages import Wanted

EXACT = 1e-6
"""Relative error of a characteristic time."""


def tree_pages(keys: int, fan_out: int) -> list[int]:
    """Return the pages of each level of a tree of so many keys, leaves first.

    Each page has ``fan_out`` entries. Raises ValueError for less than two.
    """
    if fan_out < 2:
        raise ValueError(f"pages of {fan_out} entries make no tree; there are 2 at least")
    pages = [max(ceil(keys / fan_out), 1)]
    while pages[-1] > 1:
        pages.append(ceil(pages[-1] / fan_out))
    return pages


def distinct_pages(pages: int, accesses: int) -> float:
    """Return how many of so many pages accesses touch that each go to any of them (Cardenas, CACM 18(5), 1975)."""
    if pages == 1:
        return float(min(accesses, 1))
    # The share of many pages that is not touched is nearly 1.
    return -pages * expm1(accesses * log1p(-1 / pages))


def search_page_reads(keys: int, fan_out: int, searches: int) -> float:
    """Return the pages that searches of random keys read of all levels together."""
    return sum(distinct_pages(pages, searches) for pages in tree_pages(keys, fan_out))


def characteristic_time(wanted: Wanted, frames: float, count: Wanted | float = 1.0) -> float:
    """Return the operations in which so many different pages are wanted: how long a page that nobody wants stays in an LRU pool.

    ``wanted`` says how often an operation wants each page, one draw like another (Che, Tung and Wang, IEEE JSAC 20(7), 2002), and
    ``count`` how many pages are wanted as often. A pool that is empty is full after as many operations. Infinite if the pool has room
    for all pages.
    """
    if frames >= (count * (wanted > 0)).sum():
        return inf
    since, until = 0.0, 1.0
    while _touched(wanted, until, count) < frames:
        since, until = until, 2 * until
    while until - since > EXACT * until:
        middle = (since + until) / 2
        since, until = (middle, until) if _touched(wanted, middle, count) < frames else (since, middle)
    return until


def missed_pages(wanted: Wanted, frames: float, count: Wanted | float = 1.0) -> float:
    """Return the pages that an operation finds missing in an LRU pool of so many frames: those not wanted for its characteristic time."""
    time = characteristic_time(wanted, frames, count)
    return float((count * wanted * np.exp(-wanted * time)).sum()) if time < inf else 0.0


def changed_share(hits: float, changes: float) -> float:
    """Return the share of the pages that leave an LRU pool which have been changed while they were there, and so have to be written.

    ``hits`` is the share of accesses that find their page there, ``changes`` the share that change it. A page is wanted once, and again
    and again until an access misses it; it leaves unchanged if none of these accesses was a change.
    """
    if not changes:
        return 0.0
    return 1 - (1 - hits) * (1 - changes) / (1 - hits * (1 - changes))


def _touched(wanted: Wanted, operations: float, count: Wanted | float) -> float:
    """Return how many different pages so many operations want."""
    return float(-(count * np.expm1(-wanted * operations)).sum())
