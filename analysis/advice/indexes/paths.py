"""Which lines of an index a search touches, and with how many entries beside the one it looks for it shares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil

from memwalk.analysis.advice.indexes.candidates import SLOT_BYTES, Candidate
from memwalk.analysis.cost_models.binary_search import steps
from memwalk.analysis.cost_models.fractal_tree import in_page_tree
from memwalk.analysis.cost_models.popular_lines import Shared


def leaf_path(candidate: Candidate) -> tuple[Shared, ...]:
    """Return the lines, from those that every search in the page touches to those of the entry."""
    return tuple(_PATHS[candidate.structure.name](candidate))


def path_above(candidate: Candidate, level: int, keys: int) -> tuple[Shared, ...]:
    """Return the lines in pages of a level above the leaves, from those that every search in the page touches to those of its child.

    These pages are as full as leaf pages, but the root's; a cache-first tree has all levels of its nodes here.
    """
    if candidate.structure.name == "cache-first":
        assert candidate.width is not None
        lines = candidate.width.leaf_lines
        return tuple(Shared(lines, keys / nodes) for nodes in candidate.inner_nodes(keys))
    below = keys / candidate.pages(keys)[level] / candidate.entries
    return tuple(Shared(part.lines, part.entries * below) for part in leaf_path(candidate))


def _slotted(candidate: Candidate) -> Iterator[Shared]:
    page = candidate.page
    yield from _binary(candidate, SLOT_BYTES)
    yield from _binary(candidate, page.key_bytes + page.id_bytes)


def _array(candidate: Candidate) -> Iterator[Shared]:
    yield from _binary(candidate, candidate.page.key_bytes)
    yield Shared(1, candidate.page.line_bytes / candidate.page.id_bytes)


def _binary(candidate: Candidate, bytes_each: int) -> Iterator[Shared]:
    """Search in so many bytes for each entry: each step is on one of twice as many lines as the one before, up to all of them."""
    entries = float(candidate.entries)
    for lines in steps(candidate.entries * bytes_each / candidate.page.line_bytes):
        yield Shared(lines, entries)
        entries /= 2


def _micro_index(candidate: Candidate) -> Iterator[Shared]:
    assert candidate.width is not None
    found = candidate.page.micro_index(candidate.width.leaf_lines)
    assert found is not None
    yield Shared(found.head_lines, candidate.entries)
    yield Shared(found.key_lines + found.pointer_lines, candidate.entries / found.sub_arrays)


def _disk_first(candidate: Candidate) -> Iterator[Shared]:
    page, width = candidate.page, candidate.width
    assert width is not None
    levels, leaves = in_page_tree(page, width.nonleaf_lines, width.leaf_lines)
    nodes, children = [leaves], page.in_page_children(width.nonleaf_lines)
    for _ in range(levels - 1):
        nodes.append(ceil(nodes[-1] / children))
    for count in reversed(nodes[1:]):
        yield Shared(width.nonleaf_lines, candidate.entries / count)
    yield Shared(width.leaf_lines, candidate.entries / leaves)


def _cache_first(candidate: Candidate) -> Iterator[Shared]:
    assert candidate.width is not None
    lines = candidate.width.leaf_lines
    yield Shared(lines, candidate.entries / (candidate.page.node_lines // lines))


_PATHS: dict[str, Callable[[Candidate], Iterator[Shared]]] = {
    "slotted": _slotted,
    "array": _array,
    "micro-index": _micro_index,
    "disk-first": _disk_first,
    "cache-first": _cache_first,
}
