"""Widths of nodes by goal G and equation 3.1: Tables 3.1 and 3.2, and Figure 3.13, where they are compared with simulation."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Study, series
from memwalk.analysis.cost_models import MissCosts, fractal_tree
from memwalk.analysis.cost_models.fractal_tree import Width
from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.papers.thesis_ch3.register import measure

KIB = 1 << 10
PAGES = {kib: IndexPage(kib * KIB, line_bytes=64, key_bytes=4) for kib in (4, 8, 16, 32)}
"""Pages of the simulations (section 3.4.1), by KiB."""
ITANIUM2_PAGES = {kib: IndexPage(kib * KIB, line_bytes=128, key_bytes=8) for kib in (4, 8, 16, 32)}
"""Pages on Itanium 2 (section 3.5.1), by KiB."""
SIMULATOR, ITANIUM2 = "thesis-simulator", "itanium2-900"
TABLES = {"3.1": (SIMULATOR, PAGES), "3.2": (ITANIUM2, ITANIUM2_PAGES)}
COLUMNS = {
    "df-nonleaf": ("disk-first", fractal_tree.nonleaf_bytes),
    "df-leaf": ("disk-first", fractal_tree.leaf_bytes),
    "df-fanout": ("disk-first", fractal_tree.fan_out),
    "cf-node": ("cache-first", fractal_tree.leaf_bytes),
    "cf-fanout": ("cache-first", fractal_tree.fan_out),
    "mi-subarray": ("micro-indexing", fractal_tree.leaf_bytes),
    "mi-fanout": ("micro-indexing", fractal_tree.fan_out),
}
"""Scheme and model of a column; Table 3.2 has no cache-first trees."""

SCHEMES = {"df": "disk-first", "cf": "cache-first", "mi": "micro-indexing"}


def width_name(scheme: str, width: Width) -> str:
    """Name the series of a width, as `widths-*` of paper.yaml do."""
    return f"{scheme} {width.nonleaf_lines}+{width.leaf_lines}" if scheme == "disk-first" else f"{scheme} {width.leaf_lines}"


def over_best(panel: pd.DataFrame, scheme: str, page: IndexPage, costs: MissCosts) -> float:
    """Divide the search time of the chosen width by the shortest of all widths whose analytical cost is within 10% of the least."""
    tried = fractal_tree.within_slack(list(fractal_tree.WIDTHS[scheme](page, costs)))
    cycles = {width: float(series(panel, width_name(scheme, width)).sum()) for width in tried}
    return cycles[fractal_tree.chosen_width(scheme, page, costs)] / min(cycles.values())


for table, (machine, pages) in TABLES.items():
    for kib, page in pages.items():
        for column, (scheme, model) in COLUMNS.items():
            if not (table == "3.2" and scheme == "cache-first"):

                @measure(f"bt-tab{table}-{kib}kb-{column}")
                def _(study: Study, machine=machine, page=page, scheme=scheme, model=model) -> float:  # type: ignore[no-untyped-def]
                    return float(model(scheme, page, study.costs(machine)))

        for part, scheme in SCHEMES.items():
            if not (table == "3.2" and scheme == "cache-first"):

                @measure(f"bt-tab{table}-{kib}kb-{part}-cost")
                def _(study: Study, machine=machine, kib=kib, page=page, scheme=scheme) -> float:  # type: ignore[no-untyped-def]
                    return over_best(study[f"kb-{kib}"], scheme, page, study.costs(machine))


@measure("bt-fig3.13-within5")
def _(study: Study) -> pd.Series[float]:
    page, costs = PAGES[16], study.costs(SIMULATOR)
    return pd.Series({scheme: 100 * (over_best(study["widths"], scheme, page, costs) - 1) for scheme in fractal_tree.WIDTHS})


@measure("bt-ch3-criterion-G")
def _(study: Study) -> pd.Series[float]:
    chosen = [
        fractal_tree.slowdown_percent(scheme, page, study.costs(machine))
        for machine, pages in TABLES.values()
        for page in pages.values()
        for scheme in fractal_tree.WIDTHS
    ]
    return pd.Series(chosen)
