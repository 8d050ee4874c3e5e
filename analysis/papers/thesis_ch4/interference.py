"""Joins whose caches are emptied again and again: Figure 4.18."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, less, series, similar
from memwalk.analysis.papers.thesis_ch4.algorithms import CACHE, PREFETCHING, measure


@measure("hj-sim-flush-prefetch-robust")
def _(study: Study) -> Holds:
    partitioned = _slowdown(study, CACHE)
    slowdowns = [_slowdown(study, one) for one in PREFETCHING]
    return all_of(similar(slowdown, 1.0) & less(slowdown, partitioned) for slowdown in slowdowns)


@measure("hj-fig4.18-cpart-degradation")
def _(study: Study) -> pd.Series[float]:
    return 100 * (_slowdown(study, CACHE) - 1)


@measure("hj-intro-cpart-degradation")
def _(study: Study) -> float:
    return float(100 * (_slowdown(study, CACHE).max() - 1))


def _slowdown(study: Study, one: str) -> pd.Series[float]:
    """Compare times at all intervals with that of an algorithm that nobody disturbs."""
    return series(study["disturbed"], one) / float(series(study["alone"], one).iloc[0])
