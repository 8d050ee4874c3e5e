"""Placing columns on pages so that no page gets much more than others: scheduling on parallel machines (section 3.2).

Both rules put each piece on a page that has least so far. Pieces in any order give at most twice the least possible maximum,
the largest first at most 4/3 of it (Graham).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from heapq import heapreplace
from typing import NamedTuple, TypeAlias


class Cluster(NamedTuple):
    """Columns that are placed together, by their places in the schema, and bytes per record of each; what reads any of them."""

    columns: tuple[tuple[int, int], ...]
    readers: frozenset[int]

    @property
    def bytes(self) -> int:
        """Bytes per record of all columns."""
        return sum(size for _, size in self.columns)


Page: TypeAlias = tuple[tuple[int, int], ...]
"""What is on a page: clusters, or columns, by their numbers, and bytes per record of each."""
Pages: TypeAlias = tuple[Page, ...]
"""What is on each page, pages sorted: their numbers mean nothing yet."""

WIDTH = 4096
"""Partial placements followed at a time. The tables of TPC-H have at most 672 on up to 17 pages, so that none is left out."""


def page_bytes(page: Page) -> int:
    """Bytes per record of a page."""
    return sum(size for _, size in page)


def loads_in_order(sizes: Iterable[int], pages: int) -> list[int]:
    """Give the loads of the pages after placing ``sizes`` as they come, each on a page that has least."""
    loads = [0] * pages
    for size in sizes:
        heapreplace(loads, loads[0] + size)
    return loads


def loads_largest_first(sizes: Iterable[int], pages: int) -> list[int]:
    """Give the loads of the pages after placing ``sizes`` largest first, each on a page that has least."""
    return loads_in_order(sorted(sizes, reverse=True), pages)


@dataclass(frozen=True)
class LargestFirst:
    """Clusters in pieces of ``largest`` bytes and what is left, placed largest first, each piece on a page that has least.

    The rule leaves open which of equally large pieces goes first, and on which of equally loaded pages. All choices are
    followed side by side, up to `WIDTH` of the cheapest by the sum of ``cost`` over the pages, given the readers of each.
    Clusters of the same size and readers are interchangeable: placements in which they change places are one.
    """

    clusters: Sequence[Cluster]
    largest: int
    cost: Callable[[frozenset[int]], float]

    def place(self, pages: int) -> Pages:
        """Place all clusters, and give the columns of each page; of equally cheap placements the first by the schema is taken."""
        placed: set[Pages] = {((),) * pages}
        for _ in range(sum(-(-size // self.largest) for size in self._sizes)):
            longer = {self._canonical(step) for state in placed for step in self._steps(state)}
            placed = longer if len(longer) <= WIDTH else set(sorted(longer, key=lambda state: (self._costs(state), state))[:WIDTH])
        least = min(map(self._costs, placed))
        return min(self._by_schema(state) for state in placed if self._costs(state) == least)

    def _costs(self, pages: Pages) -> float:
        return sum(map(self._page_cost, pages))

    @cached_property
    def _page_cost(self) -> Callable[[Page], float]:
        return cache(lambda page: self.cost(frozenset[int]().union(*(self.clusters[number].readers for number, _ in page))))

    @cached_property
    def _sizes(self) -> list[int]:
        return [cluster.bytes for cluster in self.clusters]

    @cached_property
    def _alike(self) -> list[list[int]]:
        """For each cluster those that it is interchangeable with, itself included."""
        kinds = [(size, cluster.readers) for size, cluster in zip(self._sizes, self.clusters, strict=True)]
        return [[number for number, other in enumerate(kinds) if other == kind] for kind in kinds]

    @cached_property
    def _unique(self) -> dict[int, int]:
        """Clusters that no other one is interchangeable with; they keep their numbers."""
        return {number: number for number, alike in enumerate(self._alike) if len(alike) == 1}

    def _steps(self, pages: Pages) -> Iterator[Pages]:
        """Give what may follow.

        When the largest pieces are enough for all pages that have least, each of these gets one: whichever goes to the first
        of them. Else each of these pieces gets a page of its own: the first piece, whichever.
        """
        left = self._sizes.copy()
        for page in pages:
            for number, size in page:
                left[number] -= size
        piece = min(max(left), self.largest)
        loads = [sum(size for _, size in page) for page in pages]
        least = min(loads)
        free = [number for number, load in enumerate(loads) if load == least]
        having = [number for number, size in enumerate(left) if min(size, self.largest) == piece]
        if sum(left[number] // piece for number in having) >= len(free):
            states = {(self._alike[number][0], left[number], left[number] < self._sizes[number] and number): number for number in having}
            choices = [(free[0], number) for number in states.values()]
        else:
            choices = [(at, having[0]) for at in {pages[at]: at for at in free}.values()]
        for at, number in choices:
            yield (*pages[:at], _united(pages[at], number, piece), *pages[at + 1 :])

    def _canonical(self, pages: Pages) -> Pages:
        """Sort the pages, and number interchangeable clusters in the order in which they then come.

        Pages with most clusters come first, as those with one say least about it.
        """
        concerned = [page for page in pages if any(number not in self._unique for number, _ in page)]
        if not concerned:
            return tuple(sorted(pages))
        numbers = self._unique
        for page in sorted(concerned, key=lambda page: (-len(page), sorted((self._alike[number][0], size) for number, size in page), page)):
            numbers = self._numbered(page, numbers)
        return tuple(sorted(tuple(sorted((numbers[number], size) for number, size in page)) for page in pages))

    def _by_schema(self, pages: Pages) -> Pages:
        """Give the columns of each page, interchangeable clusters numbered so that pages have the first in the schema first."""
        numbers = self._unique
        ordered: list[Page] = []
        left = [page for page in pages if page]
        while left:
            ways = [self._numbered(page, numbers) for page in left]
            columns, at = min((self._columns(page, way), at) for at, (page, way) in enumerate(zip(left, ways, strict=True)))
            ordered.append(columns)
            numbers = ways[at]
            del left[at]
        return tuple(ordered)

    def _numbered(self, page: Page, numbers: dict[int, int]) -> dict[int, int]:
        """Give clusters that have no number yet the first that is left among those of interchangeable ones."""
        missing = sorted((size, number) for number, size in page if number not in numbers)
        if not missing:
            return numbers
        new = numbers.copy()
        for _, number in missing:
            alike = self._alike[number]
            new[number] = alike[sum(other in new for other in alike)]
        return new

    def _columns(self, page: Page, numbers: dict[int, int]) -> Page:
        clusters = [(self.clusters[numbers[number]].columns, size) for number, size in page]
        return tuple(sorted((column, min(size, most)) for columns, size in clusters for column, most in columns))


def _united(page: Page, cluster: int, piece: int) -> Page:
    """Put a piece of a cluster on a page; parts of one cluster become one."""
    sizes = dict(page)
    sizes[cluster] = sizes.get(cluster, 0) + piece
    return tuple(sorted(sizes.items()))
