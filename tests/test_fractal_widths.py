"""Widths of fractal trees: Tables 3.1 and 3.2, and plain counts of nodes, pages and entries."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.analysis.cost_models import MODELS, MissCosts, fractal_tree
from memwalk.analysis.cost_models.fractal_tree import WIDEST, Placement, Width
from memwalk.analysis.cost_models.index_page import LEAF_HEADER_BYTES, NONLEAF_HEADER_BYTES, PAGE_HEADER_BYTES, IndexPage

SIMULATOR, ITANIUM2 = MissCosts(full=250, next=15, tlb=30), MissCosts(full=189, next=24, tlb=32)
COSTS = st.builds(MissCosts, st.integers(50, 1000), st.integers(1, 100), st.integers(0, 200))
PAGES = st.builds(
    IndexPage,
    st.sampled_from([512, 1024, 2048, 4096]),
    line_bytes=st.sampled_from([64, 128]),
    key_bytes=st.sampled_from([4, 8, 20]),
    id_bytes=st.sampled_from([4, 8]),
)


@pytest.mark.parametrize(
    ("kib", "disk_first", "cache_first", "micro"),
    [
        (4, (64, 384, 470), (576, 497), (128, 496)),
        (8, (192, 256, 961), (576, 994), (192, 1008)),
        (16, (128, 768, 1995), (960, 2023), (320, 2032)),
        (32, (256, 832, 4017), (960, 4046), (320, 4064)),
    ],
)
def test_table_3_1(kib: int, disk_first: tuple[int, ...], cache_first: tuple[int, ...], micro: tuple[int, ...]) -> None:
    page = IndexPage(kib << 10)
    assert sizes("disk-first", page, SIMULATOR) == disk_first
    assert sizes("cache-first", page, SIMULATOR)[1:] == cache_first
    assert sizes("micro-indexing", page, SIMULATOR)[1:] == micro


@pytest.mark.parametrize(
    ("kib", "disk_first", "micro"),
    [
        (4, (128, 384, 310), (128, 320)),
        (8, (128, 640, 636), (384, 672)),
        (16, (256, 640, 1325), (384, 1344)),
        (32, (384, 896, 2664), (768, 2704)),
    ],
)
def test_table_3_2(kib: int, disk_first: tuple[int, ...], micro: tuple[int, ...]) -> None:
    page = IndexPage(kib << 10, line_bytes=128, key_bytes=8)
    assert sizes("disk-first", page, ITANIUM2) == disk_first
    assert sizes("micro-indexing", page, ITANIUM2)[1:] == micro


def sizes(scheme: str, page: IndexPage, costs: MissCosts) -> tuple[int, int, int]:
    models = (fractal_tree.nonleaf_bytes, fractal_tree.leaf_bytes, fractal_tree.fan_out)
    nonleaf, leaf, entries = (model(scheme, page, costs) for model in models)
    return nonleaf, leaf, entries


def test_equation_3_1_by_hand() -> None:
    # Three levels, non-leaf nodes of 2 lines, leaves of 5: 2 (250 + 15) + 250 + 60.
    assert fractal_tree.in_page_search_cost(3, 2, 5, SIMULATOR) == 840
    given = {"levels": 3, "nonleaf_lines": 2, "leaf_lines": 5, "full": 250, "next": 15, "tlb": 0}
    assert MODELS["in-page-search-cost"](given) == 840
    assert MODELS["fractal-fan-out"]({"scheme": "disk-first", "page_bytes": 4096, "full": 250, "next": 15, "tlb": 30}) == 470


@given(PAGES, st.integers(1, 8), st.integers(1, 8))
def test_in_page_trees_hold_what_a_bulkload_does(page: IndexPage, nonleaf: int, leaf: int) -> None:
    children = (nonleaf * page.line_bytes - NONLEAF_HEADER_BYTES) // (page.key_bytes + page.offset_bytes)
    fitting = [
        (leaves, -levels)
        for leaves in range(2, page.node_lines + 1)
        for levels in range(2, 9)
        if fits(page, leaves, levels, children=children, nonleaf=nonleaf, leaf=leaf)
    ]
    most, levels = max(fitting, default=(0, 0))
    assert fractal_tree.in_page_tree(page, nonleaf, leaf) == (-levels, most)


def fits(page: IndexPage, leaves: int, levels: int, *, children: int, nonleaf: int, leaf: int) -> bool:
    if children < 2:
        return False
    nodes, lines = ["leaf"] * leaves, leaves * leaf
    for _ in range(levels - 1):
        nodes = ["node" for _ in range(0, len(nodes), children)]
        lines += len(nodes) * nonleaf
    return len(nodes) == 1 and (lines + 1) * page.line_bytes <= page.page_bytes


@given(PAGES, COSTS, st.sampled_from(list(fractal_tree.WIDTHS)))
def test_goal_g_takes_the_most_entries_near_the_cheapest(page: IndexPage, costs: MissCosts, scheme: str) -> None:
    widths = list(fractal_tree.WIDTHS[scheme](page, costs))
    if not widths:
        with pytest.raises(ValueError, match=f"{scheme}: no width fits in a page of {page.page_bytes} bytes"):
            fractal_tree.chosen_width(scheme, page, costs)
        return
    chosen = fractal_tree.chosen_width(scheme, page, costs)
    cheapest = min(width.cost for width in widths)
    for width in widths:
        near = 10 * width.cost <= 11 * cheapest
        assert not (near and width.fan_out > chosen.fan_out)
        assert not (near and width.fan_out == chosen.fan_out and width.cost < chosen.cost)
    assert chosen in widths
    assert cheapest <= chosen.cost <= Fraction(11, 10) * cheapest
    assert 0 <= fractal_tree.slowdown_percent(scheme, page, costs) <= 10


@given(PAGES, COSTS)
def test_all_disk_first_widths_are_tried(page: IndexPage, costs: MissCosts) -> None:
    tried = {(width.nonleaf_lines, width.leaf_lines) for width in fractal_tree.disk_first_widths(page, costs)}
    room = {(w, x) for w in range(1, WIDEST + 1) for x in range(1, WIDEST + 1) if w + 2 * x <= page.node_lines}
    assert tried == {(w, x) for w, x in room if page.in_page_children(w) > 1}
    for width in fractal_tree.disk_first_widths(page, costs):
        levels, leaves = fractal_tree.in_page_tree(page, width.nonleaf_lines, width.leaf_lines)
        assert width.fan_out == leaves * ((width.leaf_lines * page.line_bytes - LEAF_HEADER_BYTES) // (page.key_bytes + page.id_bytes))
        assert width.cost == levels * costs.full + ((levels - 1) * (width.nonleaf_lines - 1) + width.leaf_lines - 1) * costs.next


@given(PAGES, st.integers(1, 8))
def test_a_micro_index_takes_as_many_entries_as_fit(page: IndexPage, lines: int) -> None:
    found = page.micro_index(lines)
    whole_lines = next(keys for keys in count(1) if keys * page.key_bytes % page.line_bytes == 0)
    sub_array = lines * page.line_bytes // page.key_bytes

    def lines_of(size: int) -> int:
        return next(line for line in count() if line * page.line_bytes >= size)

    def end(entries: int) -> int:
        head = lines_of(PAGE_HEADER_BYTES + len(range(0, entries, sub_array)) * page.key_bytes)
        return (head + lines_of(entries * page.key_bytes)) * page.line_bytes + entries * page.id_bytes

    most = max(n for n in range(0, page.page_bytes, whole_lines) if end(n) <= page.page_bytes)
    if found is None:
        assert most == 0
        return
    assert found.entries == most
    assert found.sub_arrays == len(range(0, found.entries, sub_array))
    assert found.head_lines == lines_of(PAGE_HEADER_BYTES + found.sub_arrays * page.key_bytes)
    assert (found.key_lines, found.pointer_lines) == (lines, lines_of(sub_array * page.id_bytes))


@given(st.integers(1, 200), st.integers(2, 70))
def test_a_page_takes_a_full_subtree_and_spreads_the_rest(nodes: int, children: int) -> None:
    placement = Placement(nodes, children)
    subtree = [1]
    while sum(subtree) + subtree[-1] * children <= nodes:
        subtree.append(subtree[-1] * children)
    assert placement.levels == len(subtree)
    assert placement.underflow == nodes - sum(subtree)
    assert placement.share == Fraction(nodes - sum(subtree), subtree[-1] * children)


@pytest.mark.parametrize(
    ("page", "lines"), [(IndexPage(512, 64), 1), (IndexPage(1024, 64), 1), (IndexPage(1024, 64), 2), (IndexPage(4096, 64), 2)]
)
@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_pages_of_searches_are_those_of_a_placed_tree(page: IndexPage, lines: int, levels: int) -> None:
    placement = Placement(page.node_lines // lines, page.cache_first_children(lines))
    keys = page.cache_first_entries(lines) * placement.children ** (levels - 1)
    assert fractal_tree.cache_first_levels(page, lines, keys) == levels
    assert fractal_tree.cache_first_pages(page, lines, keys) == mean_pages(placement, levels)


def mean_pages(placement: Placement, levels: int) -> Fraction:
    """Place every non-leaf node of a full tree, and count the pages on the ways to all leaf parents."""
    visited = [(0, 0, 1)]  # in-page level, place within that level of its page, pages from the root on
    for _ in range(levels - 2):
        children: list[tuple[int, int, int]] = []
        for depth, place, pages in visited:
            for child in range(placement.children):
                number = place * placement.children + child
                if depth + 1 < placement.levels or (depth + 1 == placement.levels and number < placement.underflow):
                    children.append((depth + 1, number, pages))
                else:
                    children.append((0, 0, pages + 1))
        visited = children
    ways = Fraction(sum(pages for *_, pages in visited), len(visited))
    return ways + (1 if levels > 1 else 0)


def test_widths_are_compared_with_tlb_misses_of_pages() -> None:
    page, free = IndexPage(4096), MissCosts(250, 15, 0)
    with_tlb, without = (
        {width.leaf_lines: width.cost for width in fractal_tree.cache_first_widths(page, costs, 1_000_000)} for costs in (SIMULATOR, free)
    )
    for lines, cost in with_tlb.items():
        assert cost - without[lines] == 30 * fractal_tree.cache_first_pages(page, lines, 1_000_000)


def test_of_equal_fan_outs_the_cheaper_one() -> None:
    dear, cheap = Width(2, 2, 100, Fraction(105)), Width(1, 1, 100, Fraction(100))
    assert fractal_tree.within_slack([dear, cheap, Width(3, 3, 500, Fraction(111))]) == [dear, cheap]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"page_bytes": 5000}, "page_bytes is 5000; it is a power of two"),
        ({"page_bytes": 128}, "page_bytes is 128; with lines of 64 bytes a page has at least 256"),
        ({"page_bytes": 4096, "line_bytes": 16}, "line_bytes is 16; a header and an entry take 26"),
        ({"page_bytes": 4096, "key_bytes": 0}, "key_bytes is 0; it is a positive number of bytes"),
        ({"page_bytes": 1 << 23}, "page_bytes is 8388608; offsets of 2 bytes reach 4194304"),
    ],
)
def test_pages_that_cannot_be(given: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IndexPage(**given)


def test_unknown_schemes_and_empty_trees_are_told() -> None:
    with pytest.raises(ValueError, match="scheme 'disk_first'; did you mean `disk-first`"):
        fractal_tree.chosen_width("disk_first", IndexPage(4096), SIMULATOR)
    with pytest.raises(ValueError, match="0 keys: a tree holds at least one"):
        fractal_tree.cache_first_pages(IndexPage(4096), 9, 0)
    with pytest.raises(ValueError, match="sub_array_lines is 0; a sub-array has at least one line"):
        IndexPage(4096).micro_index(0)
