"""Pages that searches of an index in pages read, when its buffer pool is empty at first and holds all that they touch."""

from __future__ import annotations

from math import ceil


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
    return float(pages * (1 - (1 - 1 / pages) ** accesses))


def search_page_reads(keys: int, fan_out: int, searches: int) -> float:
    """Return the pages that searches of random keys read of all levels together."""
    return sum(distinct_pages(pages, searches) for pages in tree_pages(keys, fan_out))
