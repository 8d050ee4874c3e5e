"""Cost of a cold search: equations 2.1 to 2.7, and Figure 2.2's worked example.

Only memory accesses count. The tree is full but for its root; no part of it is in a cache or a TLB. The sums over the
positions of pointers are exact (equation 2.6), not the approximation of equation 2.7.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from memwalk.analysis.cost_models.layout import NodeLayout, TreeKind
from memwalk.analysis.cost_models.memory import MissCosts


def levels(layout: NodeLayout, keys: int) -> int:
    """Levels h (equation 2.1) of a full tree of ``keys`` entries, leaves included.

    Counted in integers, so that exact powers of the fan-out are not lost to rounding.
    """
    if keys < 1:
        raise ValueError(f"{keys} keys: a tree holds at least one")
    height, capacity = 1, layout.leaf_pairs
    while capacity < keys:
        capacity *= layout.children_at(height)
        height += 1
    return height


def root_children(layout: NodeLayout, keys: int) -> int:
    """Children r (equation 2.4) of the root, or entries of a root that is a leaf."""
    below_one_child = 1
    for level in range(levels(layout, keys) - 1):
        below_one_child *= layout.leaf_pairs if level == 0 else layout.children_at(level)
    return -(-keys // below_one_child)


def nonleaf_nodes(layout: NodeLayout, keys: int) -> int:
    """Non-leaf nodes of a full tree of ``keys`` entries."""
    nodes, total = -(-keys // layout.leaf_pairs), 0
    for level in range(1, levels(layout, keys)):
        nodes = -(-nodes // layout.children_at(level))
        total += nodes
    return total


def nonleaf_nodes_approximate(layout: NodeLayout, keys: int) -> float:
    """N / (f (f - 1)), the level above the leaves alone (section 2.2.2)."""
    return keys / (layout.children * layout.leaf_pairs)


def index_lines(layout: NodeLayout, keys: int) -> int:
    """Cache lines of a full tree of ``keys`` entries, leaves included."""
    return layout.node_lines * (-(-keys // layout.leaf_pairs) + nonleaf_nodes(layout, keys))


def level_cost(layout: NodeLayout, keys: int, level: int, costs: MissCosts) -> Fraction:
    """cost(l) of equation 2.6, in cycles; ``level`` 0 is the leaves. Raises ValueError for a level the tree lacks."""
    height = levels(layout, keys)
    if not 0 <= level < height:
        raise ValueError(f"level {level}: the tree has levels 0 to {height - 1}")
    full = layout.leaf_pairs if level == 0 else layout.children_at(level)
    visited = root_children(layout, keys) if level == height - 1 else full
    lines = layout.lines_to_tuple if level == 0 else partial(layout.lines_to_child, level=level)
    mean = Fraction(sum(lines(i) for i in range(1, visited + 1)), visited)
    return costs.tlb + costs.full + (mean - 1) * Fraction(costs.next)


def cold_search_cost(layout: NodeLayout, keys: int, costs: MissCosts) -> float:
    """Total cost of equation 2.2, in cycles."""
    return float(sum(level_cost(layout, keys, level, costs) for level in range(levels(layout, keys))))


def level_cost_approximate(node_lines: int, costs: MissCosts) -> float:
    """Equation 2.7: a level below the root, with the pointer at three quarters of the node; cycles."""
    return costs.tlb + costs.full + (0.75 * node_lines - 1) * costs.next


def mean_pointer_position(layout: NodeLayout) -> float:
    """Mean position of the followed pointer in a full non-leaf node, as a fraction of the node (for equation 2.7).

    A node of a CSB+-tree has one pointer for all children, its last word.
    """
    if layout.kind == "csb+":
        return 1 - 0.5 / layout.words
    words = sum(layout.pointer_slots + i - Fraction(1, 2) for i in range(1, layout.pointer_slots + 1))
    return float(Fraction(words, layout.pointer_slots * layout.words))


def optimal_width(kind: TreeKind, keys: int, costs: MissCosts, widest: int, line_words: int = 16) -> int:
    """Find the width from 1 to ``widest`` lines with the cheapest cold search; the narrower of equals (section 2.2.2)."""
    if widest < 1:
        raise ValueError(f"widest is {widest}; a node has one line at least")
    return min(range(1, widest + 1), key=lambda width: cold_search_cost(NodeLayout(kind, width, line_words), keys, costs))


def search_misses_cost(layout: NodeLayout, keys: int, costs: MissCosts, *, prefetched: bool) -> float:
    """Cycles of Figure 2.2: every line of one node per level, one after the other or pipelined; no TLB misses."""
    per_node = costs.full + (layout.node_lines - 1) * costs.next if prefetched else layout.node_lines * costs.full
    return levels(layout, keys) * per_node


def wide_node_speedup(layout: NodeLayout, keys: int, costs: MissCosts) -> float:
    """One-line nodes over wide prefetched nodes, in the time of Figure 2.2's searches."""
    one_line = NodeLayout(layout.kind, 1, layout.line_words)
    before = search_misses_cost(one_line, keys, costs, prefetched=False)
    return before / search_misses_cost(layout, keys, costs, prefetched=True)


def wide_node_slowdown_percent(layout: NodeLayout, keys: int, costs: MissCosts) -> float:
    """How much longer Figure 2.2's search takes with wide nodes that are not prefetched, in %."""
    one_line = NodeLayout(layout.kind, 1, layout.line_words)
    before = search_misses_cost(one_line, keys, costs, prefetched=False)
    return 100 * (search_misses_cost(layout, keys, costs, prefetched=False) / before - 1)


def fan_out_increase(layout: NodeLayout) -> float:
    """Children of a non-leaf node over those of a one-line B+ node (section 2.6)."""
    return layout.children / NodeLayout("b+", 1, layout.line_words).children


def empty_after_split_percent(layout: NodeLayout) -> float:
    """Empty slots of the two leaves that a full leaf and one more pair are split into, in % (section 2.4.7)."""
    return 100 * (1 - (layout.leaf_pairs + 1) / (2 * layout.leaf_pairs))


def leaf_pairs_at_fill(layout: NodeLayout, fill: float) -> int:
    """Pairs bulkloaded into a leaf: the fill factor times its slots, truncated (section 2.4.5)."""
    # The rounding keeps 0.7 x 10 at 7 although the product of the nearest doubles is a little less.
    return int(round(fill * layout.leaf_pairs, 9))
