"""The order of the pages of a super-block, which is that of the runs of a mega-block (section 4)."""

from itertools import combinations
from math import inf

from memwalk.workloads.mbsm.query import Affinities
from memwalk.workloads.mbsm.super_block import Page


def run_order(pages: tuple[Page, ...], affinities: Affinities) -> tuple[Page, ...]:
    """Bring pages that are read together next to each other.

    Pages that share a column come first, then pairs by the greatest affinity of two of their columns: each pair is made
    neighbours while both pages have a free side. Chains of neighbours then follow each other as their first pages did.
    """
    chains = {number: [number] for number in range(len(pages))}
    for one, other in _pairs(pages, affinities):
        left, right = chains[one], chains[other]
        if left is right or one not in (left[0], left[-1]) or other not in (right[0], right[-1]):
            continue
        left = left if left[-1] == one else left[::-1]
        right = right if right[0] == other else right[::-1]
        chains |= dict.fromkeys(left + right, left + right)
    ordered = {number: None for chain in chains.values() for number in chain}
    return tuple(pages[number] for number in ordered)


def _pairs(pages: tuple[Page, ...], affinities: Affinities) -> list[tuple[int, int]]:
    """List the pairs of pages that are read together, the most often ones first, of these the nearest."""
    found = {pair: _affinity(pages[pair[0]], pages[pair[1]], affinities) for pair in combinations(range(len(pages)), 2)}
    wanted = [pair for pair, affinity in found.items() if affinity > 0]
    return sorted(wanted, key=lambda pair: (-found[pair], pair[1] - pair[0], pair))


def _affinity(one: Page, other: Page, affinities: Affinities) -> float:
    """Affinity of two pages: the greatest of two columns, one from each; infinite for parts of one column."""
    return max(inf if mine.column == theirs.column else affinities.between(mine.column, theirs.column) for mine in one for theirs in other)
