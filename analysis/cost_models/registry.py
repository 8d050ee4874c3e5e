"""The cost models by name, for claims, checks and notebooks.

A model is called with plain values: a parameter that is a dataclass, such as :class:`NodeLayout` or :class:`MissCosts`, is
given by its fields (``kind``, ``node_lines``, ``line_words``, ``jump_pointers``; ``full``, ``next``, ``tlb``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

from memwalk.analysis.cost_models import (
    bloom,
    clotho,
    fractal_tree,
    hash_join,
    memory,
    page_layout,
    scan,
    search,
    super_block,
    table_scan,
    table_space,
)
from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.cost_models.layout import NodeLayout
from memwalk.simcore.validation import nearest

_COMPOSITES: dict[str, type] = {
    "layout": NodeLayout,
    "costs": memory.MissCosts,
    "page": IndexPage,
    "table": table_scan.Table,
    "constants": table_scan.Constants,
}


@dataclass(frozen=True)
class Model:
    """A cost model: what it is called, where it is published, what it returns."""

    name: str
    source: str
    unit: str
    function: Callable[..., float | Fraction]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the plain values the model takes."""
        names: list[str] = []
        for name in inspect.signature(self.function).parameters:
            composite = _COMPOSITES.get(name)
            names += [f.name for f in fields(composite)] if composite else [name]
        return tuple(names)

    def __call__(self, values: Mapping[str, Any]) -> float:
        """Evaluate; ``values`` may hold more than the model takes. Raises ValueError naming a parameter left out."""
        arguments = {
            name: _composite(self.name, _COMPOSITES[name], values) if name in _COMPOSITES else values[name]
            for name, parameter in inspect.signature(self.function).parameters.items()
            if _given(self.name, name, parameter, values)
        }
        return float(self.function(**arguments))


def _given(model: str, name: str, parameter: inspect.Parameter, values: Mapping[str, Any]) -> bool:
    if name in _COMPOSITES or name in values:
        return True
    if parameter.default is inspect.Parameter.empty:
        raise ValueError(f"cost model {model!r}: parameter {name!r} is missing")
    return False


def _composite(model: str, composite: type, values: Mapping[str, Any]) -> Any:
    given = {f.name: values[f.name] for f in fields(composite) if f.name in values}
    for field in fields(composite):
        if field.name not in given and field.default is MISSING:
            raise ValueError(f"cost model {model!r}: parameter {field.name!r} is missing")
    return composite(**given)


_ALL = (
    Model("levels", "equation 2.1", "levels", search.levels),
    Model("root-children", "equation 2.4", "children", search.root_children),
    Model("level-cost", "equations 2.3, 2.5, 2.6", "cycles", search.level_cost),
    Model("level-cost-approximate", "equation 2.7", "cycles", search.level_cost_approximate),
    Model("cold-search-cost", "equation 2.2", "cycles", search.cold_search_cost),
    Model("optimal-width", "section 2.2.2", "lines", search.optimal_width),
    Model("mean-pointer-position", "equation 2.7", "fraction", search.mean_pointer_position),
    Model("search-misses-cost", "Figure 2.2", "cycles", search.search_misses_cost),
    Model("wide-node-speedup", "Figure 2.2", "x", search.wide_node_speedup),
    Model("wide-node-slowdown", "Figure 2.2", "%", search.wide_node_slowdown_percent),
    Model("fan-out-increase", "section 2.6", "x", search.fan_out_increase),
    Model("nonleaf-nodes", "section 2.2.2", "nodes", search.nonleaf_nodes),
    Model("nonleaf-nodes-approximate", "section 2.2.2", "nodes", search.nonleaf_nodes_approximate),
    Model("index-lines", "section 2.2.2", "lines", search.index_lines),
    Model("empty-after-split", "section 2.4.7", "%", search.empty_after_split_percent),
    Model("leaf-pairs-at-fill", "section 2.4.5", "pairs", search.leaf_pairs_at_fill),
    Model("normalized-bandwidth", "section 2.2.2, equations 2.10, 2.11", "misses", memory.normalized_bandwidth),
    Model("tlb-reach", "section 2.2.2", "MiB", memory.tlb_reach_mib),
    Model("prefetch-distance", "equations 2.8, 2.11", "leaves", scan.prefetch_distance),
    Model("prefetch-distance-unrounded", "section 2.4.9", "leaves", scan.prefetch_distance_unrounded),
    Model("chunk-lines", "equations 2.9, 2.11", "lines", scan.chunk_lines),
    Model("chunk-line-pointers", "section 2.3.4", "pointers", scan.chunk_line_pointers),
    Model("chunk-fill-after-split", "section 2.3.4", "%", scan.chunk_fill_after_split_percent),
    Model("jump-pointer-overhead", "section 2.3.4", "fraction", scan.jump_pointer_overhead),
    Model("node-children", "section 2.4.3", "children", lambda layout: layout.children),
    Model("leaf-parent-children", "section 2.4.3", "children", lambda layout: layout.leaf_parent_children),
    Model("node-keys", "section 2.4.3", "keys", lambda layout: layout.nonleaf_keys),
    Model("leaf-pairs", "section 2.4.3", "pairs", lambda layout: layout.leaf_pairs),
    Model("in-page-search-cost", "fractal trees, equation 3.1", "cycles", fractal_tree.in_page_search_cost),
    Model("fractal-leaf-bytes", "fractal trees, goal G of section 3.3.3", "bytes", fractal_tree.leaf_bytes),
    Model("fractal-nonleaf-bytes", "fractal trees, goal G of section 3.3.3", "bytes", fractal_tree.nonleaf_bytes),
    Model("fractal-fan-out", "fractal trees, goal G of section 3.3.3", "entries", fractal_tree.fan_out),
    Model("fractal-slowdown", "fractal trees, goal G of section 3.3.3", "%", fractal_tree.slowdown_percent),
    Model("group-size", "hash joins, equation 4.1", "tuples", hash_join.group_size),
    Model("pipeline-distance", "hash joins, equation 4.2", "iterations", hash_join.prefetch_distance),
    Model("sub-partition-pages", "inspector joins, equation 5.1", "pages", hash_join.sub_partition_pages),
    Model("bloom-false-positives", "inspector joins, equation 5.2", "fraction", bloom.false_positive_rate),
    Model("bloom-bits-per-key", "inspector joins, Table 5.2", "bits", bloom.bits_per_key),
    Model("bloom-individual-rate", "inspector joins, equation 5.6", "fraction", bloom.individual_rate),
    Model("bloom-megabytes", "inspector joins, equations 5.3, 5.4", "MB", bloom.filter_megabytes),
    Model("bloom-space-increase", "inspector joins, equation 5.5", "x", bloom.space_increase),
    Model("abstraction-savings", "row and column stores, equation 13", "bytes", table_scan.abstraction_savings),
    Model("pages-stored", "row and column stores, equations 14, 15", "pages", table_scan.pages_stored),
    Model("pages-scanned", "row and column stores, equation 7", "pages", table_scan.pages_scanned),
    Model("prefetch-pages", "row and column stores, equation 8", "pages", table_scan.prefetch_pages),
    Model("prefetch-mib", "row and column stores, section 3.1", "MiB", table_space.prefetch_mib),
    Model("random-ios", "row and column stores, equation 9", "I/Os", table_scan.random_ios),
    Model("scan-total", "row and column stores, equations 1-12", "units", table_scan.scan_total),
    Model("scan-io", "row and column stores, equations 1, 4, 10", "units", table_scan.scan_io),
    Model("scan-iteration", "row and column stores, equations 2, 5, 11", "units", table_scan.scan_iteration),
    Model("scan-reconstruction", "row and column stores, equations 3, 6, 12", "units", table_scan.scan_reconstruction),
    Model("scan-iteration-share", "row and column stores, section 4.2", "%", table_scan.scan_iteration_share),
    Model("scan-ratio", "row and column stores, equations 1-12", "x", table_scan.scan_ratio),
    Model("scan-crossing", "row and column stores, equations 1-12", "columns or units", table_scan.scan_crossing),
    Model("scan-unit", "row and column stores, section 3.3.2", "ns", table_scan.unit_ns),
    Model("scan-seconds", "row and column stores, equations 1-12", "s", table_scan.scan_seconds),
    Model("tuple-header", "row and column stores, section 2.1", "bytes", table_space.tuple_header),
    Model("iteration-over-io", "row and column stores, section 4.3.1", "x", table_scan.iteration_over_io),
    Model("stored-bytes", "row and column stores, Figure 1", "bytes", table_space.stored_bytes),
    Model("generated-rows", "row and column stores, section 3.1", "rows", table_space.generated_rows),
    Model("tuples-saved", "row and column stores, section 3.3.2", "tuples", table_space.tuples_saved),
    Model("overhead-share", "row and column stores, sections 2.1, 3.3.2", "%", table_space.overhead_share),
    Model("aligned-lines-per-record", "page layouts, section 2.1", "lines", page_layout.aligned_lines_per_record),
    Model("record-overhead", "page layouts, section 4.1", "bytes", page_layout.record_overhead),
    Model("tag-excess", "page layouts, section 4.1", "bytes", page_layout.tag_excess),
    Model("offsets-per-record", "page layouts, section 3.2", "offsets", page_layout.offsets_per_record),
    Model("largest-first-ratio", "MBSM, section 3.2", "x", super_block.largest_first_ratio),
    Model("in-order-ratio", "MBSM, section 3.2", "x", super_block.in_order_ratio),
    Model("record-number-bytes", "MBSM, section 6.1", "bytes", super_block.record_number_bytes),
    Model("a-pages-in-c-page", "Clotho, Figure 3", "A-pages", clotho.a_pages_in_c_page),
    Model("c-page-utilization", "Clotho, Figure 3", "x", clotho.c_page_utilization),
    Model("a-page-records", "Clotho, Figure 5", "records", clotho.a_page_records),
    Model("every-page-selectivity", "Clotho, section 7.2.1", "%", clotho.every_page_selectivity_percent),
    Model("band-records", "Clotho, Figure 5", "records", clotho.band_records),
    Model("column-scan-blocks", "Clotho, Figure 5", "blocks", clotho.column_scan_blocks),
    Model("column-scan-reads", "Clotho, Figure 5", "reads", clotho.column_scan_reads),
    Model("a-page-accesses", "Clotho, Figure 5", "accesses", clotho.a_page_accesses),
    Model("drawn-parallel-blocks", "Clotho, Figure 6", "blocks", clotho.drawn_parallel_blocks),
    Model("device-parallel-blocks", "Clotho, section 5.4", "blocks", clotho.device_parallel_blocks),
    Model("a-page-efficiency", "Clotho, Figure 11", "%", clotho.a_page_efficiency),
    Model("efficient-page", "Clotho, Figure 11", "KiB", clotho.efficient_page),
)

MODELS: dict[str, Model] = {model.name: model for model in _ALL}
"""Every cost model, by name."""


def model(name: str) -> Model:
    """Find the model called ``name``. Raises ValueError with the nearest name for an unknown one."""
    if name in MODELS:
        return MODELS[name]
    raise ValueError(f"there is no cost model `{name}`; {nearest(name, MODELS)}")
