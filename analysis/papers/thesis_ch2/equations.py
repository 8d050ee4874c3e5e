"""What equations 2.1 to 2.11, Figure 2.2 and Tables 2.4 and 2.5 say, and where fields stand in nodes: no simulation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, falling, similar
from memwalk.analysis.cost_models import memory, scan, search
from memwalk.analysis.cost_models.layout import NodeLayout, TreeKind
from memwalk.analysis.papers.thesis_ch2.trees import CHUNK, ITANIUM2, SIMULATOR, TEN_MILLION, WIDTH, measure

LINE_WORDS = 16
WIDEST = 20
ONE_LINE, EIGHT_LINES = NodeLayout("b+", 1), NodeLayout("b+", 8)
WIDTHS = (1, 2, 4, 8, 16)

# Table 2.4: trees of ten million keys by node width, and Table 2.5: full trees by size.
LEVELS: dict[str, tuple[TreeKind, Iterable[int], Iterable[int]]] = {
    "bt-tab2.4-pb-w1": ("b+", [1], [TEN_MILLION]),
    "bt-tab2.4-pb-w2-3": ("b+", range(2, 4), [TEN_MILLION]),
    "bt-tab2.4-pb-w4-7": ("b+", range(4, 8), [TEN_MILLION]),
    "bt-tab2.4-pb-w8-16": ("b+", range(8, 17), [TEN_MILLION]),
    "bt-tab2.4-pcsb-w1": ("csb+", [1], [TEN_MILLION]),
    "bt-tab2.4-pcsb-w2-4": ("csb+", range(2, 5), [TEN_MILLION]),
    "bt-tab2.4-pcsb-w5-16": ("csb+", range(5, 17), [TEN_MILLION]),
    "bt-tab2.5-bplus-1e5": ("b+", [1], [100_000]),
    "bt-tab2.5-bplus-3e5-1e6": ("b+", [1], [300_000, 1_000_000]),
    "bt-tab2.5-bplus-3e6-1e7": ("b+", [1], [3_000_000, TEN_MILLION]),
    "bt-tab2.5-csb-1e5-3e5": ("csb+", [1], [100_000, 300_000]),
    "bt-tab2.5-csb-1e6-3e6": ("csb+", [1], [1_000_000, 3_000_000]),
    "bt-tab2.5-csb-1e7": ("csb+", [1], [TEN_MILLION]),
    "bt-tab2.5-p8b-1e5": ("b+", [8], [100_000]),
    "bt-tab2.5-p8b-3e5-1e7": ("b+", [8], [300_000, 1_000_000, 3_000_000, TEN_MILLION]),
    "bt-tab2.5-p5csb-1e5": ("csb+", [5], [100_000]),
    "bt-tab2.5-p5csb-3e5-1e7": ("csb+", [5], [300_000, 1_000_000, 3_000_000, TEN_MILLION]),
    "bt-ch1-bplus-levels-10m": ("b+", [1], [TEN_MILLION]),
    "bt-fig2.2-onelines-levels": ("b+", [1], [1000]),
    "bt-fig2.2b-levels": ("b+", [2], [1000]),
}


def levels(claim: str) -> pd.Series[float]:
    """Count the levels of a claim's trees by equation 2.1."""
    kind, widths, sizes = LEVELS[claim]
    return pd.Series([float(search.levels(NodeLayout(kind, width), keys)) for width in widths for keys in sizes])


for _claim in LEVELS:
    measure(_claim)(lambda _study, claim=_claim: levels(claim))  # type: ignore[misc]


# Figure 2.2: one search in a tree of 1000 keys, without TLB misses.


@measure("bt-fig2.2a-cycles")
def _(study: Study) -> float:
    return search.search_misses_cost(ONE_LINE, 1000, replace(study.costs(SIMULATOR), tlb=0), prefetched=False)


@measure("bt-fig2.2b-slowdown")
def _(study: Study) -> float:
    return search.wide_node_slowdown_percent(NodeLayout("b+", 2), 1000, replace(study.costs(SIMULATOR), tlb=0))


@measure("bt-fig2.2c-speedup")
def _(study: Study) -> float:
    return search.wide_node_speedup(NodeLayout("b+", 2), 1000, replace(study.costs(SIMULATOR), tlb=0))


# Section 2.2.2: the memory system, the best width, the space of wide nodes.


@measure("bt-norm-bandwidth-sim")
def _(study: Study) -> float:
    return memory.normalized_bandwidth(study.costs(SIMULATOR))


@measure("bt-norm-bandwidth-it2")
def _(study: Study) -> float:
    return memory.normalized_bandwidth(study.costs(ITANIUM2))


@measure("bt-tlb-reach")
def _(study: Study) -> float:
    tlb = study.machine(SIMULATOR)["dtlb"]
    return memory.tlb_reach_mib(tlb["levels"][-1]["entries"], tlb["page_bytes"])


@measure("bt-avg-childptr-pos")
def _(_study: Study) -> pd.Series[float]:
    return pd.Series([search.mean_pointer_position(NodeLayout("b+", width)) for width in WIDTHS])


@measure("bt-wopt-analytic-sim")
def _(study: Study) -> float:
    return search.optimal_width("b+", TEN_MILLION, study.costs(SIMULATOR), WIDEST)


@measure("bt-wopt-le-B")
def _(study: Study) -> pd.Series[float]:
    kinds: tuple[TreeKind, ...] = ("b+", "csb+")
    return pd.Series([float(search.optimal_width(kind, TEN_MILLION, study.costs(SIMULATOR), WIDEST)) for kind in kinds])


@measure("bt-fig2.10-wopt-pcsb-it2-computed")
def _(study: Study) -> float:
    return search.optimal_width("csb+", TEN_MILLION, study.costs(ITANIUM2), WIDEST)


@measure("bt-nonleaf-count")
def _(_study: Study) -> Holds:
    layouts = [NodeLayout("b+", width) for width in WIDTHS]
    counted = pd.Series([float(search.nonleaf_nodes(layout, TEN_MILLION)) for layout in layouts])
    return similar(counted, pd.Series([search.nonleaf_nodes_approximate(layout, TEN_MILLION) for layout in layouts]))


@measure("bt-space-wide-nodes")
def _(_study: Study) -> Holds:
    widths = pd.Index(range(1, 17), name=WIDTH)
    lines = pd.Series([float(search.index_lines(NodeLayout("b+", width), TEN_MILLION)) for width in widths], index=widths)
    return falling(lines, along=WIDTH)


# Sections 2.3.4, 2.4.3 and 2.4.9: jump-pointer arrays, prefetching distance, chunks.


@measure("bt-jpa-space-overhead")
def _(_study: Study) -> float:
    return scan.jump_pointer_overhead(EIGHT_LINES)


@measure("bt-chunk-half-full")
def _(_study: Study) -> pd.Series[float]:
    chunks = pd.Index([3, 4, 5, 6], name=CHUNK)
    return pd.Series([scan.chunk_fill_after_split_percent(lines, LINE_WORDS) for lines in chunks], index=chunks)


@measure("bt-chunk-line-pointers")
def _(_study: Study) -> float:
    return scan.chunk_line_pointers(LINE_WORDS)


@measure("bt-d-sim")
def _(study: Study) -> float:
    return scan.prefetch_distance(8, study.costs(SIMULATOR))


@measure("bt-d-it2")
def _(study: Study) -> float:
    return scan.prefetch_distance(4, study.costs(ITANIUM2))


@measure("bt-fig2.25a-d-unrounded")
def _(study: Study) -> float:
    return scan.prefetch_distance_unrounded(8, study.costs(SIMULATOR))


@measure("bt-c-sim")
def _(study: Study) -> float:
    return scan.chunk_lines(LINE_WORDS, study.costs(SIMULATOR))


@measure("bt-c-it2")
def _(study: Study) -> float:
    return scan.chunk_lines(LINE_WORDS, study.costs(ITANIUM2))


# Sections 1.4.1, 2.4.3, 2.4.5, 2.4.7 and 2.6: what fits into nodes.


@measure("bt-ch1-bplus-fanout")
def _(_study: Study) -> float:
    return ONE_LINE.children


@measure("bt-layout-bplus-nonleaf")
def _(_study: Study) -> float:
    return ONE_LINE.nonleaf_keys


@measure("bt-layout-p8-nonleaf")
def _(_study: Study) -> float:
    return EIGHT_LINES.nonleaf_keys


@measure("bt-layout-pe8-leaf")
def _(_study: Study) -> float:
    return NodeLayout("b+", 8, jump_pointers="external").leaf_pairs


@measure("bt-layout-pi8-leafparent")
def _(_study: Study) -> float:
    return NodeLayout("b+", 8, jump_pointers="internal").leaf_parent_children


@measure("bt-layout-csb-nonleaf")
def _(_study: Study) -> float:
    return NodeLayout("csb+", 1).nonleaf_keys


@measure("bt-occupancy-60-70-equal")
def _(_study: Study) -> Holds:
    return alike(search.leaf_pairs_at_fill(ONE_LINE, 0.6), search.leaf_pairs_at_fill(ONE_LINE, 0.7))


@measure("bt-split-leaf-half-empty")
def _(_study: Study) -> pd.Series[float]:
    return pd.Series([search.empty_after_split_percent(layout) for layout in (ONE_LINE, EIGHT_LINES)])


@measure("bt-sum2-fanout-csb")
def _(_study: Study) -> pd.Series[float]:
    return pd.Series([search.fan_out_increase(layout) for layout in (NodeLayout("csb+", 1), EIGHT_LINES)])
