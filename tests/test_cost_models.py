"""The cost models give the numbers that the thesis prints, and agree with a node-by-node count."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.analysis.cost_models import MODELS, MissCosts, NodeLayout, TreeKind, bloom, hash_join, model, scan, search
from memwalk.analysis.cost_models.memory import miss_costs, normalized_bandwidth, tlb_reach_mib
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine

SIMULATOR = MissCosts(full=250, next=15, tlb=30)
ITANIUM2 = MissCosts(full=189, next=24, tlb=32)
SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
TREES = st.builds(
    NodeLayout,
    st.sampled_from(["b+", "csb+"]),
    st.integers(1, 20),
    jump_pointers=st.sampled_from(["none", "external", "internal"]),
)


@pytest.mark.parametrize(
    ("kind", "heights"),
    [
        ("b+", [8, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4]),
        ("csb+", [7, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]),
    ],
)
def test_levels_by_width_are_table_2_4(kind: TreeKind, heights: list[int]) -> None:
    assert [search.levels(NodeLayout(kind, w), 10_000_000) for w in range(1, 17)] == heights


@pytest.mark.parametrize(
    ("layout", "heights"),
    [
        (NodeLayout("b+", 1), [6, 7, 7, 8, 8]),
        (NodeLayout("csb+", 1), [5, 5, 6, 6, 7]),
        (NodeLayout("b+", 8), [3, 4, 4, 4, 4]),
        (NodeLayout("csb+", 5), [3, 4, 4, 4, 4]),
    ],
)
def test_levels_by_size_are_table_2_5(layout: NodeLayout, heights: list[int]) -> None:
    assert [search.levels(layout, keys) for keys in SIZES] == heights


@pytest.mark.parametrize(
    ("kind", "costs", "width"),
    [("b+", SIMULATOR, 8), ("csb+", SIMULATOR, 5), ("b+", ITANIUM2, 4), ("csb+", ITANIUM2, 2)],
)
def test_optimal_widths(kind: TreeKind, costs: MissCosts, width: int) -> None:
    assert search.optimal_width(kind, 10_000_000, costs, widest=20) == width


def test_node_layouts_are_section_2_4_3s() -> None:
    line, wide, csb = NodeLayout("b+", 1), NodeLayout("b+", 8), NodeLayout("csb+", 1)
    assert (line.nonleaf_keys, line.children, line.leaf_pairs) == (7, 8, 7)
    assert (wide.nonleaf_keys, wide.children, wide.leaf_pairs) == (63, 64, 63)
    assert (csb.nonleaf_keys, csb.children, csb.leaf_pairs) == (14, 15, 7)
    assert NodeLayout("b+", 8, jump_pointers="external").leaf_pairs == 62
    internal = NodeLayout("b+", 8, jump_pointers="internal")
    assert (internal.children, internal.leaf_parent_children, internal.leaf_pairs) == (64, 63, 63)


def test_keys_stand_before_pointers() -> None:
    two = NodeLayout("b+", 2)
    assert [two.lines_to_child(i) for i in (1, 16)] == [2, 2]
    eight = NodeLayout("b+", 8)
    assert [eight.lines_to_child(i) for i in (1, 16, 17, 64)] == [5, 5, 6, 8]
    assert NodeLayout("csb+", 5).lines_to_child(1) == 5


def test_cold_search_by_hand() -> None:
    # p8B+, 10M keys: four levels; the root has ceil(1e7 / (63 * 64^2)) = 39 children, 16 of them on line 5, 16 on
    # line 6, 7 on line 7; full nodes average line 6.5, leaves (63 tupleIDs: 15 on the last line) 409 / 63.
    layout = NodeLayout("b+", 8)
    assert search.root_children(layout, 10_000_000) == 39
    root = 280 + ((16 * 5 + 16 * 6 + 7 * 7) / 39 - 1) * 15
    inner = 280 + 5.5 * 15
    leaf = 280 + ((16 * 5 + 16 * 6 + 16 * 7 + 15 * 8) / 63 - 1) * 15
    assert search.cold_search_cost(layout, 10_000_000, SIMULATOR) == pytest.approx(root + 2 * inner + leaf)


def test_figure_2_2() -> None:
    one, two = NodeLayout("b+", 1), NodeLayout("b+", 2)
    costs = MissCosts(full=250, next=15, tlb=0)
    assert search.levels(one, 1000) == 4
    assert search.levels(two, 1000) == 3
    before = search.search_misses_cost(one, 1000, costs, prefetched=False)
    assert before == 1000
    assert search.search_misses_cost(two, 1000, costs, prefetched=False) == 1500
    assert before / search.search_misses_cost(two, 1000, costs, prefetched=True) == pytest.approx(1.26, abs=0.005)


def test_scan_parameters() -> None:
    assert (scan.prefetch_distance(8, SIMULATOR), scan.prefetch_distance(4, ITANIUM2)) == (3, 2)
    assert (scan.chunk_lines(16, SIMULATOR), scan.chunk_lines(16, ITANIUM2)) == (3, 1)
    assert scan.jump_pointer_overhead(NodeLayout("b+", 8)) == 1 / 128
    assert scan.chunk_slots(3, 16) == 46
    assert normalized_bandwidth(SIMULATOR) == pytest.approx(16.7, abs=0.05)
    assert normalized_bandwidth(ITANIUM2) == pytest.approx(7.9, abs=0.05)
    assert tlb_reach_mib(128, 16 << 10) == 2


def test_fill_is_truncated() -> None:
    line = NodeLayout("b+", 1)
    assert [search.leaf_pairs_at_fill(line, fill) for fill in (0.6, 0.7, 0.8, 0.9, 1.0)] == [4, 4, 5, 6, 7]


@given(TREES, st.integers(1, 2_000_000))
def test_levels_match_a_bulkload(layout: NodeLayout, keys: int) -> None:
    nodes, height, nonleaf = math.ceil(keys / layout.leaf_pairs), 1, 0
    root = keys
    while nodes > 1:
        root, nodes, height = nodes, math.ceil(nodes / layout.children_at(height)), height + 1
        nonleaf += nodes
    assert search.levels(layout, keys) == height
    assert search.root_children(layout, keys) == root
    assert search.nonleaf_nodes(layout, keys) == nonleaf


@given(TREES, st.integers(2, 20_000_000))
def test_a_search_costs_between_one_line_and_all_lines_a_level(layout: NodeLayout, keys: int) -> None:
    height = search.levels(layout, keys)
    cost = search.cold_search_cost(layout, keys, SIMULATOR)
    assert height * 280 <= cost <= height * (280 + (layout.node_lines - 1) * 15)


@given(st.integers(1, 20))
def test_equation_2_7_approximates_a_full_level(width: int) -> None:
    layout = NodeLayout("b+", width)
    exact = float(search.level_cost(layout, 20_000_000, 1, SIMULATOR))
    assert abs(search.level_cost_approximate(width, SIMULATOR) - exact) <= SIMULATOR.next


@given(TREES, st.integers(1, 1000))
def test_wider_nodes_take_no_more_lines_of_non_leaf_nodes(layout: NodeLayout, thousands: int) -> None:
    keys = thousands * 1000
    wider = NodeLayout(layout.kind, 2 * layout.node_lines, jump_pointers=layout.jump_pointers)
    # Up to the root, which need not be full.
    assert search.nonleaf_nodes(wider, keys) * 2 <= search.nonleaf_nodes(layout, keys) + 2


def test_models_are_called_with_plain_values() -> None:
    cost = model("cold-search-cost")
    assert cost.parameters == ("kind", "node_lines", "line_words", "jump_pointers", "keys", "full", "next", "tlb")
    given = {"kind": "b+", "node_lines": 8, "keys": 10_000_000, "full": 250, "next": 15, "tlb": 30, "page_bytes": 1}
    assert cost(given) == search.cold_search_cost(NodeLayout("b+", 8), 10_000_000, SIMULATOR)
    assert all(entry.source and entry.unit for entry in MODELS.values())


def test_mistakes_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="`level`; did you mean `levels`"):
        model("level")
    with pytest.raises(ValueError, match="parameter 'keys' is missing"):
        model("levels")({"kind": "b+", "node_lines": 8})
    with pytest.raises(ValueError, match="parameter 'kind' is missing"):
        model("levels")({"keys": 10})
    with pytest.raises(ValueError, match="tree kind 'b'"):
        NodeLayout("b", 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="levels 0 to 3"):
        search.level_cost(NodeLayout("b+", 8), 10_000_000, 4, SIMULATOR)


STAGES = st.lists(st.floats(1, 500), min_size=2, max_size=6)


@given(STAGES)
def test_the_group_is_the_smallest_whose_other_tuples_take_a_miss_in_every_stage(stages: list[float]) -> None:
    def hides(group: int) -> bool:
        others = [(group - 1) * max(stage, SIMULATOR.next) for stage in stages[1:]]
        return min((group - 1) * stages[0], *others) >= SIMULATOR.full - 1e-6

    chosen = hash_join.group_size(stages, SIMULATOR)
    assert hides(chosen)
    assert not hides(chosen - 1)


@given(STAGES)
def test_the_distance_is_the_smallest_whose_iterations_take_a_miss(stages: list[float]) -> None:
    def hides(distance: int) -> bool:
        total = max(stages[0] + stages[-1], SIMULATOR.next) + sum(max(stage, SIMULATOR.next) for stage in stages[1:-1])
        return distance * total >= SIMULATOR.full - 1e-6

    chosen = hash_join.prefetch_distance(stages, SIMULATOR)
    assert hides(chosen)
    assert not hides(chosen - 1)


def test_a_first_stage_of_no_time_is_hidden_by_a_distance_and_by_no_group() -> None:
    # Section 4.5.4: what software-pipelined prefetching can do and group prefetching cannot.
    with pytest.raises(ValueError, match="first stage takes no time"):
        hash_join.group_size([0, 20, 20], SIMULATOR)
    assert hash_join.prefetch_distance([0, 20, 20], SIMULATOR) == math.ceil(250 / 40)


@pytest.mark.parametrize(("stages", "message"), [([10], "1 stages"), ([10, -1], "no negative time")])
def test_stages_that_cannot_be_are_refused(stages: list[float], message: str) -> None:
    for chosen in (hash_join.group_size, hash_join.prefetch_distance):
        with pytest.raises(ValueError, match=message):
            chosen(stages, SIMULATOR)


@given(st.floats(0.0001, 0.5), st.integers(1, 8))
def test_bits_per_key_give_the_false_positives_that_were_asked_for(rate: float, hashes: int) -> None:
    assert bloom.false_positive_rate(bloom.bits_per_key(rate, hashes), hashes) == pytest.approx(rate, rel=1e-9)


def test_a_filter_of_that_many_bits_has_those_false_positives() -> None:
    # Hash functions are draws: equation 5.2 is their mean.
    keys, hashes = 20_000, bloom.HASHES
    bits = round(keys * bloom.bits_per_key(0.05))
    draw = np.random.default_rng(1)
    held = np.zeros(bits, dtype=bool)
    held[draw.integers(0, bits, keys * hashes)] = True
    found = held[draw.integers(0, bits, (200_000, hashes))].all(axis=1).mean()
    assert found == pytest.approx(0.05, rel=0.05)


def test_sub_partitions_and_their_tables_fill_the_cache() -> None:
    # Pages of 8 KB with 75 tuples and 20 bytes of table for each, in half of 2 MB: 9692 bytes a page.
    pages = hash_join.sub_partition_pages(8192, 75, 20, 1 << 20)
    assert pages == 108
    assert pages * (8192 + 75 * 20) <= 1 << 20 < (pages + 1) * (8192 + 75 * 20)
    with pytest.raises(ValueError, match="cache_bytes is 0"):
        hash_join.sub_partition_pages(8192, 75, 20, 0)


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("record-overhead", {"page_layout": "dsm"}, "page_layout 'dsm'; "),
        ("aligned-lines-per-record", {"page_layout": "paxx", "attribute_bytes": 4, "line_bytes": 32}, "did you mean `pax`"),
        ("offsets-per-record", {"page_layout": "x", "variable": 2}, "known here: nsm, pax"),
        ("bloom-bits-per-key", {"false_positives": 1.0}, "false_positives is 1.0; a rate is above 0 and below 1"),
        ("bloom-individual-rate", {"false_positives": 2, "sub_partitions": 1}, "false_positives is 2; a rate is above 0 and below 1"),
        ("optimal-width", {"kind": "b+", "keys": 10, "widest": 0}, "widest is 0; a node has one line at least"),
        ("prefetch-distance", {"node_lines": 0}, "node_lines is 0; it is 1 at least"),
        ("prefetch-distance-unrounded", {"node_lines": 0}, "node_lines is 0; it is 1 at least"),
        ("chunk-lines", {"line_words": 1}, "line_words is 1; it is 2 at least"),
        ("overhead-share", {"tuple_bytes": 0, "overhead_bytes": 16}, "tuple_bytes is 0; a tuple has a positive number of bytes"),
    ],
)
def test_values_that_a_model_does_not_cover_are_told(name: str, given: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        MODELS[name]({"full": 250, "next": 15, "tlb": 30, **given})


@pytest.mark.parametrize(
    ("machine", "said"),
    [("zen4-ddr4", "cost models need one memory latency, but zen4-ddr4 simulates its DRAM"), ("zen4-cxl", "several memories")],
)
def test_memory_without_one_latency_is_told(machine: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        miss_costs(load_machine(machine).native())


def test_tiny_rates_have_filters() -> None:
    assert bloom.bits_per_key(1e-60) == pytest.approx(3e20)


def test_the_pointer_of_a_csb_node_is_its_last_word() -> None:
    assert search.mean_pointer_position(NodeLayout("csb+", 1)) == 15.5 / 16
    assert search.mean_pointer_position(NodeLayout("b+", 8)) == pytest.approx(0.75)
