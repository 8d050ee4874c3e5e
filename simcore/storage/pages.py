"""Pages on a device: the runs of pages that a trace asks for, and what single pages cost."""

import random
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from memwalk.simcore.storage.device import BLOCK_BYTES, StorageDevice

READ, WRITE = "read", "write"
"""Requests that a device serves; a prefetch has no time of its own here, as I/O and processing are added."""

PageRun: TypeAlias = Sequence[str | int]
"""A run of pages as the simulator records it: what is asked for, the first page, and how many."""


def page_blocks(page_bytes: int) -> int:
    """Return the blocks of a page; the last one may be used in part."""
    return -(-page_bytes // BLOCK_BYTES)


def in_order(requests: Iterable[PageRun]) -> Iterable[tuple[int, int, bool]]:
    """Yield first page, pages and direction: the reads as they come and then the writes, as a buffer pool that writes behind."""
    asked = list(requests)
    for wanted in (READ, WRITE):
        for kind, page, pages in asked:
            if kind == wanted:
                yield int(page), int(pages), kind == WRITE


def serve_requests(device: StorageDevice, requests: Iterable[PageRun], page_blocks: int) -> int:
    """Serve requests `in_order`, one behind the other; returns the picoseconds taken. A page has ``page_blocks`` blocks."""
    now = 0
    for page, pages, write in in_order(requests):
        now = device.serve(now, page * page_blocks, pages * page_blocks, write=write)
    return now


def page_times_ps(device: StorageDevice, page_blocks: int, reads: int = 1000) -> tuple[int, int]:
    """Measure what a page costs that follows the one before, and a page anywhere, in ps: means over so many reads of each.

    Reads follow each other without a pause; places are drawn with a fixed seed.
    """
    draw, pages = random.Random(1), device.blocks // page_blocks
    in_a_row = range(1, min(reads, pages - 1) + 1)
    anywhere = [draw.randrange(pages) for _ in range(reads)]

    def mean(start: int, places: Sequence[int]) -> tuple[int, int]:
        now = start
        for page in places:
            now = device.serve(now, page * page_blocks, page_blocks, write=False)
        return now, round((now - start) / len(places))

    now, _ = mean(0, [0])
    now, sequential = mean(now, in_a_row)
    return sequential, mean(now, anywhere)[1]
