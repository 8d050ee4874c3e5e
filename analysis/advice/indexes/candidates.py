"""What there is to choose from: an index and a page size, with the widths that suit the machine, and how its pages are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from memwalk.analysis.advice.indexes.task import FILL, IndexTask
from memwalk.analysis.cost_models.binary_search import steps
from memwalk.analysis.cost_models.fractal_tree import (
    Width,
    cache_first_levels,
    cache_first_node_pages,
    cache_first_pages,
    chosen_width,
    in_page_search_cost,
    in_page_tree,
    wanted_node_pages,
)
from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.cost_models.memory import MissCosts
from memwalk.analysis.cost_models.page_accesses import tree_pages
from memwalk.simcore.errors import UserError

SLOT_BYTES = 2
"""Of an entry in a slotted page, besides itself."""


@dataclass(frozen=True)
class Structure:
    """An index, by the kernel's name."""

    name: str
    does: str
    """What a search does in its pages, for the reader."""
    moves: str
    """What an insertion does there besides."""
    scheme: str | None = None
    """Its widths in the cost models; None if it has none to choose."""


_MOVES_HALF_A_PAGE = "an insertion moves half of a page's entries on average"
_MOVES_HALF_A_NODE = "an insertion moves half of a node's entries on average"

STRUCTURES = (
    Structure(
        "slotted", "it looks at slots and entries in turn, and waits for a line at almost every step", "an insertion moves slots only"
    ),
    Structure("array", "it searches an array of keys, and waits for a line at almost every step", _MOVES_HALF_A_PAGE),
    Structure(
        "micro-index",
        "it finds the part of the keys to search in a small index, and fetches each part at once",
        _MOVES_HALF_A_PAGE,
        "micro-indexing",
    ),
    Structure("disk-first", "its pages hold trees of nodes that are fetched at once", _MOVES_HALF_A_NODE, "disk-first"),
    Structure("cache-first", "it is a tree of nodes that are fetched at once, placed in pages", _MOVES_HALF_A_NODE, "cache-first"),
)
CONSCIOUS = frozenset(structure.name for structure in STRUCTURES if structure.scheme)
"""Indexes whose pages are made for the caches."""
WITHOUT_LATCHES = frozenset({"cache-first"})
"""Indexes that are changed by one thread alone, with pins: nodes have parents in other pages, for whose changes there are no latches."""


@dataclass(frozen=True)
class Candidate:
    """An index in pages of a size, with its widths."""

    structure: Structure
    page: IndexPage
    width: Width | None

    @property
    def parameters(self) -> dict[str, int]:
        """Its widths as the kernel takes them."""
        if self.width is None:
            return {}
        return {
            "micro-index": {"subarray_lines": self.width.leaf_lines},
            "disk-first": {"nonleaf_lines": self.width.nonleaf_lines, "leaf_lines": self.width.leaf_lines},
            "cache-first": {"node_lines": self.width.leaf_lines},
        }[self.structure.name]

    @property
    def entries(self) -> int:
        """Entries of a page as it is filled."""
        page = self.page
        slotted = (page.page_bytes - page.line_bytes) // (page.key_bytes + page.id_bytes + SLOT_BYTES)
        full = {"slotted": slotted, "array": page.array_entries}
        most = full[self.structure.name] if self.width is None else self.width.fan_out
        return max(int(most * FILL), 2)

    def pages(self, keys: int) -> list[int]:
        """Pages of each level, leaves first. A cache-first tree has one level above its leaf pages: pages of nodes."""
        found = tree_pages(keys, self.entries)
        if self.structure.name == "cache-first" and self.inner_nodes(keys):
            return [found[0], self._node_pages(keys)]
        return found

    def visited(self, keys: int) -> list[float]:
        """Pages of each of these levels that a search visits."""
        levels = len(self.pages(keys))
        if self.structure.name == "cache-first" and levels > 1:
            return [1.0, float(cache_first_pages(self.page, self._lines, keys)) - 1]
        return [1.0] * levels

    def wanted(self, keys: int) -> list[tuple[float, float]]:
        """List pages that searches want alike, leaves first and the root's last: how many there are, and how many of them a search visits.

        Of a cache-first tree, few pages of nodes of upper levels are wanted often, and many of lower ones are not.
        """
        pages = self.pages(keys)
        if self.structure.name == "cache-first" and len(pages) > 1:
            of_nodes = wanted_node_pages(self.page, self._lines, self.inner_nodes(keys)[::-1])
            return [(pages[0], 1.0), *((float(count), float(share)) for count, share in reversed(of_nodes) if share)]
        return list(zip(pages, self.visited(keys), strict=True))

    def search_cycles(self, keys: int, level: int, costs: MissCosts) -> float:
        """Cycles that a search waits for lines in the pages of a level, each miss taking what ``costs`` says."""
        pages = self.visited(keys)[level]
        if self.structure.name == "cache-first":
            nodes = 1 if level == 0 else cache_first_levels(self.page, self._lines, keys) - 1
            return nodes * (costs.full + (self._lines - 1) * costs.next) + pages * costs.tlb
        return pages * (self._in_page(costs) + costs.tlb)

    def scan_lines(self, tuples: int) -> float:
        """Lines that a scan reads of so many entries."""
        ids = self.page.id_bytes
        entry = self.page.key_bytes + ids
        each = {"slotted": entry + SLOT_BYTES, "array": ids, "micro-index": ids}.get(self.structure.name, entry)
        return tuples * each / self.page.line_bytes

    @property
    def moved_lines(self) -> float:
        """Lines that an insertion moves, on average half of what stands together."""
        name, page = self.structure.name, self.page
        if name == "slotted":
            return self.entries * SLOT_BYTES / 2 / page.line_bytes
        return page.node_lines / 2 if name in ("array", "micro-index") else self._lines / 2

    def _in_page(self, costs: MissCosts) -> float:
        """Cycles of a search in a page that is no cache-first tree's. Steps of a binary search wait for a line each."""
        page, name = self.page, self.structure.name
        touched: dict[str, Callable[[], float]] = {
            "slotted": lambda: _steps(self.entries * (page.key_bytes + page.id_bytes), page) + _steps(self.entries * SLOT_BYTES, page),
            "array": lambda: _steps(self.entries * page.key_bytes, page) + 1,
        }
        if name in touched:
            return touched[name]() * costs.full
        assert self.width is not None
        if name == "disk-first":
            levels, _ = in_page_tree(page, self.width.nonleaf_lines, self.width.leaf_lines)
            return in_page_search_cost(levels, self.width.nonleaf_lines, self.width.leaf_lines, costs)
        found = page.micro_index(self.width.leaf_lines)
        assert found is not None
        return sum(costs.full + (lines - 1) * costs.next for lines in (found.head_lines, found.key_lines, found.pointer_lines))

    @property
    def _lines(self) -> int:
        """Lines of a leaf node."""
        assert self.width is not None
        return self.width.leaf_lines

    def _node_pages(self, keys: int) -> int:
        """Pages of the non-leaf nodes of a cache-first tree."""
        return cache_first_node_pages(self.page, self._lines, self.inner_nodes(keys)[::-1])

    def inner_nodes(self, keys: int) -> list[int]:
        """Nodes of each level above the leaves of a cache-first tree, parents of leaves first."""
        nodes = ceil(keys / max(int(self.page.cache_first_entries(self._lines) * FILL), 1))
        children, levels = max(int(self.page.cache_first_children(self._lines) * FILL), 2), []
        while nodes > 1:
            nodes = ceil(nodes / children)
            levels.append(nodes)
        return levels


def left_out(task: IndexTask) -> frozenset[str]:
    """Return the indexes that cannot do what is asked: those that are changed and have no latches for it."""
    return WITHOUT_LATCHES if task.latches_changes else frozenset()


def candidates(task: IndexTask) -> Iterator[Candidate]:
    """List every index that can do what is asked, with every page size. Raises UserError for pages that a structure does not fit into."""
    for page_bytes in task.page_sizes:
        for structure in STRUCTURES:
            if structure.name in left_out(task):
                continue
            try:
                page = IndexPage(page_bytes, task.line_bytes, task.key_bytes)
                width = chosen_width(structure.scheme, page, task.costs) if structure.scheme else None
            except ValueError as error:
                raise UserError(f"--page-sizes {page_bytes}B, --key-bytes {task.key_bytes}: {error}") from None
            yield Candidate(structure, page, width)


def workload(candidate: Candidate, **others: Any) -> dict[str, Any]:
    """Write an index as the kernel takes it, and what is done to it."""
    page = candidate.page
    layout = {"page_bytes": page.page_bytes, "key_bytes": page.key_bytes, "line_bytes": page.line_bytes, "fill": FILL}
    return {"kernel": "disk-index", "structure": candidate.structure.name, **candidate.parameters, **layout, **others}


def _steps(size: float, page: IndexPage) -> float:
    """Lines that a binary search of so many bytes touches."""
    return sum(steps(size / page.line_bytes))
