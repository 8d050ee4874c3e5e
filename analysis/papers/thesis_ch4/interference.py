"""Joins whose caches are emptied again and again: Figure 4.18."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, less, series, similar
from memwalk.analysis.papers.thesis_ch4.algorithms import CACHE, PREFETCHING, measure


@measure("hj-sim-flush-prefetch-robust")
def _(study: Study) -> Holds:
    def slowdown(one: str) -> pd.Series[float]:
        return series(study["disturbed"], one) / float(series(study["alone"], one).iloc[0])

    partitioned = slowdown(CACHE)
    return all_of(similar(slowdown(one), 1.0) & less(slowdown(one), partitioned) for one in PREFETCHING)
