"""Building a super-block for a workload (sections 3.3, 3.4 and 4.2)."""

from collections.abc import Iterable, Sequence

from memwalk.workloads.mbsm.placement import Cluster, LargestFirst
from memwalk.workloads.mbsm.query import Affinities, Query
from memwalk.workloads.mbsm.run_order import run_order
from memwalk.workloads.mbsm.super_block import Share, SuperBlock
from memwalk.workloads.tables.schema import Table

AFFINITY_THRESHOLD = 4
"""Columns that more than so many of the queries read together are placed together (section 6.2)."""
MOST_PAGES = 17
"""Upper bound of a super-block, p (section 4.2)."""


def construct(table: Table, queries: Sequence[Query], most_pages: int, threshold: float = AFFINITY_THRESHOLD) -> SuperBlock:
    """Build the super-block of 1 to ``most_pages`` pages with the least score; of equal ones that with fewer pages."""
    candidates = [super_block_of(table, queries, pages, threshold) for pages in range(1, most_pages + 1)]
    return min(candidates, key=lambda candidate: candidate.score(queries))


def super_block_of(
    table: Table, queries: Sequence[Query], pages: int, threshold: float = AFFINITY_THRESHOLD, *, split: bool = True
) -> SuperBlock:
    """Build a super-block of ``pages`` pages; without ``split`` every column stays on one page (section 3.2)."""
    affinities = Affinities(table.names, queries)
    largest = -(-table.bytes // pages)
    clusters = [_cluster(table, columns, queries) for columns in _merged(table, affinities.above(threshold), largest)]

    def weight(readers: frozenset[int]) -> float:
        return sum(queries[number].weight for number in sorted(readers))

    placed = LargestFirst(clusters, largest if split else table.bytes, weight).place(pages)
    named = (tuple(Share(table.names[column], size) for column, size in page) for page in placed)
    return SuperBlock(run_order(tuple(named), affinities))


def _merged(table: Table, pairs: Iterable[tuple[str, str]], largest: int) -> list[tuple[int, ...]]:
    """Merge the columns of each pair, in turn; a merger of more than ``largest`` bytes is undone.

    Returns columns by their places in the schema, those that were merged together.
    """
    place = {name: number for number, name in enumerate(table.names)}
    cluster: dict[int, tuple[int, ...]] = {number: (number,) for number in range(len(table.columns))}
    for one, other in pairs:
        united = tuple(sorted({*cluster[place[one]], *cluster[place[other]]}))
        if sum(table.columns[column].bytes for column in united) <= largest:
            cluster |= dict.fromkeys(united, united)
    return list(dict.fromkeys(cluster.values()))


def _readers(columns: Sequence[str], queries: Sequence[Query]) -> frozenset[int]:
    """Give the numbers of the queries that read any of the columns."""
    return frozenset(number for number, query in enumerate(queries) if query.reads(columns))


def _cluster(table: Table, columns: tuple[int, ...], queries: Sequence[Query]) -> Cluster:
    """Describe merged columns for their placement."""
    names = [table.names[column] for column in columns]
    return Cluster(tuple((column, table.columns[column].bytes) for column in columns), _readers(names, queries))
