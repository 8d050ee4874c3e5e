"""Placing pieces on pages so that no page gets much more than others: scheduling on parallel machines (section 3.2).

Both rules put each piece on a page that has least so far. Pieces in any order give at most twice the least possible maximum,
the largest first at most 4/3 of it (Graham).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapreplace
from itertools import product, takewhile
from typing import TypeAlias

Piece: TypeAlias = tuple[tuple[int, int], ...]
"""What is placed as a whole: columns by their place in the schema, and bytes per record of each."""
Pages: TypeAlias = tuple[Piece, ...]
"""What is on each page, pages sorted: their numbers mean nothing yet."""

WIDTH = 4096
"""Partial placements followed at a time. The tables of TPC-H have at most 2688 on up to 17 pages, so that none is left out."""


def piece_bytes(piece: Piece) -> int:
    """Bytes per record of a piece, or of a page."""
    return sum(size for _, size in piece)


def loads_in_order(sizes: Iterable[int], pages: int) -> list[int]:
    """Give the loads of the pages after placing ``sizes`` as they come, each on a page that has least."""
    loads = [0] * pages
    for size in sizes:
        heapreplace(loads, loads[0] + size)
    return loads


def loads_largest_first(sizes: Iterable[int], pages: int) -> list[int]:
    """Give the loads of the pages after placing ``sizes`` largest first, each on a page that has least."""
    return loads_in_order(sorted(sizes, reverse=True), pages)


def place_largest_first(pieces: Sequence[Piece], pages: int, cost: Callable[[Piece], float]) -> Pages:
    """Place pieces largest first, each on a page that has least, at the least sum of ``cost`` over the pages.

    The rule leaves open which of equally large pieces goes first, and on which of equally loaded pages. All choices are
    followed side by side, up to `WIDTH` of the cheapest; of equally cheap results the first in the order of the schema is taken.
    """
    placed: set[tuple[Pages, tuple[Piece, ...]]] = {(((),) * pages, tuple(sorted(pieces, key=lambda piece: (-piece_bytes(piece), piece))))}
    for _ in pieces:
        longer = {step for state in placed for step in _steps(*state)}
        ranked = sorted(longer, key=lambda state: (sum(map(cost, state[0])), state))
        placed = set(ranked[:WIDTH])
    return min(placed, key=lambda state: (sum(map(cost, state[0])), state))[0]


def _steps(pages: Pages, left: tuple[Piece, ...]) -> Iterator[tuple[Pages, tuple[Piece, ...]]]:
    """Give what may follow: each of the largest pieces left, on each of the pages that have least.

    Where equal pages are as many as these pieces, each takes one piece in the end, whatever the order: one step stands for all.
    """
    largest, least = piece_bytes(left[0]), min(map(piece_bytes, pages))
    first = list(takewhile(lambda piece: piece_bytes(piece) == largest, left))
    free = [number for number, page in enumerate(pages) if piece_bytes(page) == least]
    if len(first) <= len(free) and len({pages[number] for number in free}) == 1:
        first, free = first[:1], free[:1]
    for (at, piece), number in product(enumerate(first), free):
        yield tuple(sorted((*pages[:number], _united(pages[number], piece), *pages[number + 1 :]))), (*left[:at], *left[at + 1 :])


def _united(page: Piece, piece: Piece) -> Piece:
    """Put a piece on a page; parts of one column become one."""
    sizes = dict(page)
    for column, size in piece:
        sizes[column] = sizes.get(column, 0) + size
    return tuple(sorted(sizes.items()))
