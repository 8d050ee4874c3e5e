"""Indexes in pages: what goal G chooses by equation 3.1 against sweeps of widths, and the pages that searches read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import rows
from memwalk.analysis.cost_models import fractal_tree
from memwalk.analysis.cost_models.fractal_tree import in_page_tree
from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.cost_models.page_accesses import search_page_reads
from memwalk.analysis.model_checks.comparison import Check, ModelStudy, is_best

TOLERANCE = 0.10
"""What the chosen width may cost over the best one: goal G allows as much by the equation."""
READS_TOLERANCE = 0.02
"""What the pages that searches read may differ from those of keys that are drawn evenly."""
PAGE_SIZES = ("kb-4", "kb-8", "kb-16", "kb-32")
"""Panels of bulkloaded trees, by page size."""


@dataclass(frozen=True)
class Widths:
    """The widths that a scheme's searches are swept over: those near the cheapest by the equation, and far from it."""

    scheme: str
    variant: str
    """Of Figure 3.13, which lays the scheme down; its width is swept."""
    swept: dict[str, tuple[int, ...]]
    """Lines by the parameters that make a width."""

    def study(self) -> ModelStudy:
        """Sweep them in pages of 16 KB, as Figure 3.13 does those near the cheapest."""
        sweeps = tuple(f"workload.{name}={list(lines)}" for name, lines in self.swept.items())
        return ModelStudy("fig-3.13", ("widths",), sweeps, self.look, (self.variant,))

    def look(self, study: Study) -> Iterable[Check]:
        """Compare the search time of the chosen width with the shortest."""
        points = [point for _, point in study["widths"].iterrows()]
        cycles = pd.Series({_named(_lines(point, self.swept)): float(point["cycles"]) for point in points})
        width = fractal_tree.chosen_width(self.scheme, _page(points[0]), study.costs("thesis-simulator"))
        chosen = _named((width.nonleaf_lines, width.leaf_lines) if len(self.swept) == 2 else (width.leaf_lines,))
        yield is_best(
            "node widths (3.1)", f"{self.scheme} {chosen} of {len(cycles)} widths is best", cycles, chosen, TOLERANCE, unit="cycles"
        )


WIDTHS = (
    Widths("disk-first", "disk-first 2+12", {"nonleaf_lines": (1, 2, 4, 8, 24), "leaf_lines": (2, 4, 6, 8, 12, 24)}),
    Widths("cache-first", "cache-first 15", {"node_lines": (1, 2, 4, 5, 7, 8, 9, 15, 32)}),
    Widths("micro-indexing", "micro-indexing 5", {"subarray_lines": (1, 2, 3, 4, 5, 8, 16, 32)}),
)


def _page_reads(study: Study) -> Iterable[Check]:
    """Figure 3.26: pages that searches read from an empty pool."""
    for panel in PAGE_SIZES:
        for variant in ("arrays", "disk-first"):
            point = rows(study[panel], variant).iloc[0]
            page, keys, searches = _page(point), int(point["workload.keys"]), int(point["workload.operations"])
            predicted = search_page_reads(keys, _fan_out(variant, page, point), searches)
            yield Check(
                "page reads", f"{variant}, {page.page_bytes >> 10} KB", predicted, float(point["pages_read"]), READS_TOLERANCE, unit="pages"
            )


def _fan_out(variant: str, page: IndexPage, point: pd.Series[float]) -> int:
    if variant == "arrays":
        return page.array_entries
    nonleaf, leaf = _lines(point, ("nonleaf_lines", "leaf_lines"))
    return in_page_tree(page, nonleaf, leaf)[1] * page.leaf_entries(leaf)


def _page(point: pd.Series[float]) -> IndexPage:
    page, line, key = (int(point[f"workload.{name}"]) for name in ("page_bytes", "line_bytes", "key_bytes"))
    return IndexPage(page, line, key)


def _lines(point: pd.Series[float], parameters: Iterable[str]) -> tuple[int, ...]:
    return tuple(int(point[f"workload.{name}"]) for name in parameters)


def _named(lines: tuple[int, ...]) -> str:
    return "+".join(map(str, lines))


# As published: the equation has every line of a page miss, and the tree of a million keys is not so much larger than L3.
STUDIES = (
    *(widths.study() for widths in WIDTHS),
    ModelStudy("fig-3.26", PAGE_SIZES, (), _page_reads, ("arrays", "disk-first")),
)
