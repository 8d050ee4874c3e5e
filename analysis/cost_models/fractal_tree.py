"""Node widths of fractal prefetching B+-trees and of micro-indexing: goal G with equation 3.1 (thesis section 3.3.3).

G: the largest page fan-out whose search costs no more than 1.1 times the cheapest; of equal fan-outs the cheaper one. Only misses
count: all lines of a node are prefetched at once. How disk-first trees, cache-first trees and micro-indexing read it:
docs/decisions/037-widths-of-fractal-trees.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil

from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.cost_models.memory import MissCosts
from memwalk.simcore.validation import nearest

SLACK = Fraction(11, 10)
"""What the search of the chosen width may cost, over the cheapest."""
WIDEST = 32
"""Lines of the widest node that is tried, as in the thesis."""
CACHE_FIRST_KEYS = 100_000_000
"""Keys of the tree that cache-first widths are chosen for, inferred from Table 3.1: 98.25 to 102 million give its widths."""


@dataclass(frozen=True)
class Width:
    """A choice of widths: what a page holds then, and what a search costs in misses."""

    leaf_lines: int
    """Lines of a leaf node; those of a sub-array of keys with micro-indexing."""
    nonleaf_lines: int
    """Lines of a non-leaf node; those of header and micro-index with micro-indexing."""
    fan_out: int
    """Entries of a full page."""
    cost: Fraction
    """Cycles of a search, by which widths are compared."""


def in_page_search_cost(levels: int, nonleaf_lines: int, leaf_lines: int, costs: MissCosts) -> float:
    """Return the cycles of a search through an in-page tree (equation 3.1)."""
    return float((levels - 1) * _node_cost(nonleaf_lines, costs) + _node_cost(leaf_lines, costs))


def in_page_tree(page: IndexPage, nonleaf_lines: int, leaf_lines: int) -> tuple[int, int]:
    """Return the levels of the in-page tree with the most leaf nodes, and how many those are; (0, 0) if a page has no room for any.

    A tree has a root and two leaf nodes at least, so two levels or more; of trees with as many leaf nodes the lowest.
    """
    children = page.in_page_children(nonleaf_lines)
    levels, leaves = 1, 1
    while children > 1:
        most = min(children**levels, page.node_lines // leaf_lines)
        taken = partial(_lines, levels=levels + 1, children=children, nonleaf_lines=nonleaf_lines, leaf_lines=leaf_lines)
        more = bisect_right(range(1, most + 1), page.node_lines, key=taken)
        if more <= leaves:
            break
        levels, leaves = levels + 1, more
    return (levels, leaves) if leaves > 1 else (0, 0)


def disk_first_widths(page: IndexPage, costs: MissCosts) -> Iterator[Width]:
    """List what disk-first trees of all widths give."""
    for nonleaf, leaf in product(range(1, WIDEST + 1), repeat=2):
        levels, leaves = in_page_tree(page, nonleaf, leaf)
        if leaves:
            yield Width(leaf, nonleaf, leaves * page.leaf_entries(leaf), Fraction(in_page_search_cost(levels, nonleaf, leaf, costs)))


@dataclass(frozen=True)
class Placement:
    """Which nodes below a page's top node lie in its page (section 3.3.4), by the nodes that a page has room for."""

    nodes: int
    children: int

    @property
    def levels(self) -> int:
        """Levels of the largest full subtree that a page holds."""
        levels, below = 0, self.nodes
        while below >= self.children**levels:
            below -= self.children**levels
            levels += 1
        return levels

    @property
    def underflow(self) -> int:
        """Nodes that still have room behind that subtree."""
        subtree: int = sum(self.children**level for level in range(self.levels))
        return self.nodes - subtree

    @property
    def share(self) -> Fraction:
        """Part of the nodes of the next level that lie in the page, spread evenly."""
        return Fraction(self.underflow, self.children**self.levels)


def cache_first_pages(page: IndexPage, node_lines: int, keys: int) -> Fraction:
    """Return the mean number of pages that a search visits in a full cache-first tree.

    A node that does not lie in its parent's page is the top of one, or, if its children are leaves, in an overflow page. Leaves have
    pages of their own.
    """
    levels = cache_first_levels(page, node_lines, keys)
    return sum(_tops(page, node_lines, levels - 2), Fraction(1)) + (1 if levels > 1 else 0)


def cache_first_node_pages(page: IndexPage, node_lines: int, nodes: Sequence[int]) -> int:
    """Return the pages of the non-leaf nodes of a cache-first tree with so many of them in each level, the root first."""
    *tops, (overflow, _) = wanted_node_pages(page, node_lines, nodes)
    return ceil(sum(count for count, _ in tops)) + ceil(overflow)


def wanted_node_pages(page: IndexPage, node_lines: int, nodes: Sequence[int]) -> list[tuple[Fraction, Fraction]]:
    """List the pages of these nodes that searches want alike: how many they are, and which share of the searches visits one of them.

    The root's page comes first. Tops have a page each, and parents of leaves that do not lie in their parent's page fill overflow pages,
    which are last.
    """
    *above, parents = nodes
    root = (Fraction(1), Fraction(1))
    if not above:
        return [root]
    *own, left = _tops(page, node_lines, len(nodes) - 1)
    tops = [(count * share, share) for count, share in zip(above[1:], own, strict=True)]
    return [root, *tops, (parents * left / (page.node_lines // node_lines), left)]


def _tops(page: IndexPage, node_lines: int, levels: int) -> Iterator[Fraction]:
    """List which share of the nodes of each level below the root does not lie in its parent's page."""
    placement = Placement(page.node_lines // node_lines, page.cache_first_children(node_lines))
    below_top = {0: Fraction(1)}  # with what probability a path is so many levels below the top of its page
    for _ in range(levels):
        moved = {0: Fraction(0)}
        for depth, probability in below_top.items():
            stays = Fraction(depth + 1 < placement.levels) or (placement.share if depth + 1 == placement.levels else Fraction(0))
            moved[depth + 1] = probability * stays
            moved[0] += probability * (1 - stays)
        yield moved[0]
        below_top = moved


def cache_first_levels(page: IndexPage, node_lines: int, keys: int) -> int:
    """Return the levels of nodes of a full cache-first tree."""
    if keys < 1:
        raise ValueError(f"{keys} keys: a tree holds at least one")
    levels, capacity = 1, page.cache_first_entries(node_lines)
    while capacity < keys:
        levels, capacity = levels + 1, capacity * page.cache_first_children(node_lines)
    return levels


def cache_first_widths(page: IndexPage, costs: MissCosts, keys: int = CACHE_FIRST_KEYS) -> Iterator[Width]:
    """List what cache-first trees of all widths give: a node of every level is fetched, and a TLB miss comes with each page."""
    for lines in range(1, min(WIDEST, page.node_lines) + 1):
        if page.cache_first_children(lines) > 1:
            misses = cache_first_levels(page, lines, keys) * _node_cost(lines, costs)
            cost = misses + cache_first_pages(page, lines, keys) * costs.tlb
            yield Width(lines, lines, page.node_lines // lines * page.cache_first_entries(lines), cost)


def micro_index_widths(page: IndexPage, costs: MissCosts) -> Iterator[Width]:
    """List what sub-arrays of all widths give: header and micro-index come at once, then a sub-array of keys with its pointers."""
    for lines in range(1, min(WIDEST, page.node_lines) + 1):
        found = page.micro_index(lines)
        if found is not None and found.sub_arrays > 1:
            cost = sum(_node_cost(part, costs) for part in (found.head_lines, found.key_lines + found.pointer_lines))
            yield Width(lines, found.head_lines, found.entries, Fraction(cost))


WIDTHS = {"disk-first": disk_first_widths, "cache-first": cache_first_widths, "micro-indexing": micro_index_widths}
"""What there is to choose from, by scheme."""


def chosen_width(scheme: str, page: IndexPage, costs: MissCosts) -> Width:
    """Choose a scheme's width by goal G. Raises ValueError for an unknown scheme, or if no width fits in the page."""
    if scheme not in WIDTHS:
        raise ValueError(f"scheme {scheme!r}; {nearest(scheme, WIDTHS)}")
    near = within_slack(list(WIDTHS[scheme](page, costs)))
    if not near:
        raise ValueError(f"{scheme}: no width fits in a page of {page.page_bytes} bytes with lines of {page.line_bytes}")
    return max(near, key=lambda width: (width.fan_out, -width.cost))


def within_slack(widths: list[Width]) -> list[Width]:
    """Keep the widths whose search costs at most 1.1 times the cheapest."""
    cheapest = min((width.cost for width in widths), default=Fraction(0))
    return [width for width in widths if width.cost <= SLACK * cheapest]


def slowdown_percent(scheme: str, page: IndexPage, costs: MissCosts) -> float:
    """Return by how much a search of the chosen width costs more than the cheapest, in %."""
    cheapest = min(width.cost for width in WIDTHS[scheme](page, costs))
    return float(100 * (chosen_width(scheme, page, costs).cost / cheapest - 1))


def leaf_bytes(scheme: str, page: IndexPage, costs: MissCosts) -> int:
    """Return the bytes of the chosen leaf node, or sub-array."""
    return chosen_width(scheme, page, costs).leaf_lines * page.line_bytes


def nonleaf_bytes(scheme: str, page: IndexPage, costs: MissCosts) -> int:
    """Return the bytes of the chosen non-leaf node, or of header and micro-index."""
    return chosen_width(scheme, page, costs).nonleaf_lines * page.line_bytes


def fan_out(scheme: str, page: IndexPage, costs: MissCosts) -> int:
    """Return the entries of a full page of the chosen width."""
    return chosen_width(scheme, page, costs).fan_out


def _node_cost(lines: int, costs: MissCosts) -> Fraction:
    return costs.full + (lines - 1) * Fraction(costs.next)


def _lines(leaves: int, levels: int, children: int, nonleaf_lines: int, leaf_lines: int) -> int:
    """Lines of an in-page tree."""
    lines, nodes = leaves * leaf_lines, leaves
    for _ in range(levels - 1):
        nodes = -(-nodes // children)
        lines += nodes * nonleaf_lines
    return lines
