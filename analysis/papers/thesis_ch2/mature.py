"""Operations on mature trees: Figures 2.23 (Itanium 2) and 2.24 (simulation)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, less, no_more, series, speedup
from memwalk.analysis.papers.thesis_ch2.scans import long_scans, short_scans
from memwalk.analysis.papers.thesis_ch2.trees import JUMP_POINTERS, JUMP_POINTERS_IT2, PREFETCHING, PREFETCHING_IT2, measure


@measure("bt-fig2.23a-mature-search")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["search"], PREFETCHING_IT2, over="B+")


@measure("bt-fig2.23b-mature-insert")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["insert"], PREFETCHING_IT2, over="B+")


@measure("bt-fig2.23c-mature-delete")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["delete"], PREFETCHING_IT2, over="B+")


@measure("bt-fig2.23d-mature-scan-large")
def _(study: Study) -> pd.Series[float]:
    return speedup(long_scans(study["scan"]), JUMP_POINTERS_IT2, over="B+")


@measure("bt-fig2.23d-mature-scan-small")
def _(study: Study) -> pd.Series[float]:
    return speedup(short_scans(study["scan"]), JUMP_POINTERS_IT2, over="B+")


@measure("bt-mature-scan-larger")
def _(study: Study) -> Holds:
    return less(speedup(study["fresh"], JUMP_POINTERS_IT2, over="B+"), speedup(study["scan"], JUMP_POINTERS_IT2, over="B+"))


@measure("bt-fig2.24a-mature-search")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["search"], PREFETCHING, over="B+")


@measure("bt-fig2.24b-mature-insert")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["insert"], PREFETCHING, over="B+")


@measure("bt-fig2.24c-mature-delete")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["delete"], PREFETCHING, over="B+")


@measure("bt-fig2.24d-mature-scan-large")
def _(study: Study) -> pd.Series[float]:
    return speedup(long_scans(study["scan"]), JUMP_POINTERS, over="B+")


@measure("bt-fig2.24d-mature-scan-small")
def _(study: Study) -> pd.Series[float]:
    return speedup(short_scans(study["scan"]), JUMP_POINTERS, over="B+")


@measure("bt-pb-insert-better-csb")
def _(study: Study) -> Holds:
    return all_of(no_more(series(study["insert"], tree), series(study["insert"], "B+")) for tree in PREFETCHING)
