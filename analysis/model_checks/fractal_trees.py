"""Widths of fractal trees: what goal G chooses by equation 3.1 against searches of all widths near the cheapest."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import rows, series
from memwalk.analysis.cost_models import fractal_tree
from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.model_checks.comparison import Check, ModelStudy

TOLERANCE = 0.10
"""What the chosen width may cost over the best one: goal G allows as much by the equation."""
PREFIXES = {"disk-first": ("nonleaf_lines", "leaf_lines"), "cache-first": ("node_lines",), "micro-indexing": ("subarray_lines",)}
"""Parameters that make a width, by scheme."""


def _widths(study: Study) -> Iterable[Check]:
    """Figure 3.13: the search time of the chosen width against the shortest."""
    panel, costs = study["widths"], study.costs("thesis-simulator")
    names = list(dict.fromkeys(str(name) for name in panel["variant"]))
    for scheme, parameters in PREFIXES.items():
        cycles = {name: float(series(panel, name).sum()) for name in names if name.startswith(f"{scheme} ")}
        point = rows(panel, next(iter(cycles))).iloc[0]
        chosen = fractal_tree.chosen_width(scheme, _page(point), costs)
        lines = (chosen.nonleaf_lines, chosen.leaf_lines) if len(parameters) == 2 else (chosen.leaf_lines,)
        (name,) = [name for name in cycles if _lines(rows(panel, name).iloc[0], parameters) == lines]
        yield Check("node widths (3.1)", f"{name} of {len(cycles)} widths is best", min(cycles.values()), cycles[name], TOLERANCE)


def _page(point: pd.Series[float]) -> IndexPage:
    page, line, key = (int(point[f"workload.{name}"]) for name in ("page_bytes", "line_bytes", "key_bytes"))
    return IndexPage(page, line, key)


def _lines(point: pd.Series[float], parameters: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(point[f"workload.{name}"]) for name in parameters)


# As published: the equation has every line of a page miss, and the tree of a million keys is not so much larger than L3.
STUDIES = (ModelStudy("fig-3.13", ("widths",), (), _widths),)
