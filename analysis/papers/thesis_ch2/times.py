"""Where the time goes (Figures 2.1 and 2.26), and larger latencies (Figure 2.27)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, greatest, growth, less, much_less, reduced, series, share, speedup
from memwalk.analysis.papers.thesis_ch2.trees import JUMP_POINTERS, LATENCY, RANGE, WIDE, measure

STALLS = "slots_dcache"


@measure("bt-fig2.1-search-dcache-stall")
def _(study: Study) -> pd.Series[float]:
    return share(study["search"], "B+", "dcache")


@measure("bt-fig2.1-scan-dcache-stall")
def _(study: Study) -> pd.Series[float]:
    return share(study["scan"], "B+", "dcache")


@measure("bt-fig2.1-csb-stall-removed", "bt-fig2.26a-csb-stall")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["search"], "CSB+", over="B+", column=STALLS)


@measure("bt-fig2.1-csb-search-speedup", "bt-fig2.26a-csb-speedup")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["search"], "CSB+", over="B+")


@measure("bt-fig2.1-csb-remaining-stall")
def _(study: Study) -> pd.Series[float]:
    return share(study["search"], "CSB+", "dcache")


@measure("bt-fig2.1-csb-scan-no-gain")
def _(study: Study) -> Holds:
    return alike(series(study["scan"], "CSB+"), series(study["scan"], "B+"))


@measure("bt-fig2.26a-pb-stall")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["search"], WIDE, over="B+", column=STALLS)


@measure("bt-fig2.26a-pb-speedup")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["search"], WIDE, over="B+")


@measure("bt-fig2.26a-tlb")
def _(study: Study) -> Holds:
    return much_less(series(study["search"], WIDE, "slots_dtlb"), series(study["search"], "B+", "slots_dtlb"))


@measure("bt-fig2.26b-jpa-stall")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["scan"], JUMP_POINTERS, over="B+", column=STALLS)


@measure("bt-fig2.26b-jpa-speedup")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["scan"], JUMP_POINTERS, over="B+")


@measure("bt-sum2-scan-hidden")
def _(study: Study) -> pd.Series[float]:
    return reduced(greatest(study["range"], RANGE), JUMP_POINTERS, over="B+", column=STALLS)


@measure("bt-fig2.27-degrade-order")
def _(study: Study) -> Holds:
    trees = [("search", WIDE), *(("scan", tree) for tree in JUMP_POINTERS)]
    return all_of(less(_slowdown(study[name], tree), _slowdown(study[name], "B+")) for name, tree in trees)


@measure("bt-fig2.27a-search-1000")
def _(study: Study) -> pd.Series[float]:
    return speedup(_at_1000(study["search"]), WIDE, over="B+")


@measure("bt-fig2.27a-search-1000-wide")
def _(study: Study) -> pd.Series[float]:
    return speedup(_at_1000(study["search"]), "p27B+", over="B+")


@measure("bt-fig2.27b-scan-1000-wide")
def _(study: Study) -> pd.Series[float]:
    return speedup(_at_1000(study["scan"]), ["p27eB+", "p27iB+"], over="B+")


@measure("bt-fig2.27b-scan-1000")
def _(study: Study) -> pd.Series[float]:
    return speedup(_at_1000(study["scan"]), JUMP_POINTERS, over="B+")


def _slowdown(panel: pd.DataFrame, tree: str) -> pd.Series[float]:
    """How many times longer it takes at T1 = 1000 than at 250."""
    return growth(series(panel, tree), along=LATENCY)


def _at_1000(panel: pd.DataFrame) -> pd.DataFrame:
    return panel[panel[LATENCY] == 1000]
