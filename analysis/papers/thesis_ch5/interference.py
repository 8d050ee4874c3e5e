"""Joins whose caches are emptied again and again: Figure 5.14."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Study, series
from memwalk.analysis.papers.thesis_ch5.algorithms import ENHANCED, INSPECTOR, PARTITIONING, PREFETCHING
from memwalk.analysis.papers.thesis_ch5.register import measure


@measure("hj-fig5.14-prefetching")
def _(study: Study) -> pd.Series[float]:
    return _loss(study, PREFETCHING)


@measure("hj-fig5.14-cpart")
def _(study: Study) -> pd.Series[float]:
    return _loss(study, PARTITIONING)


@measure("hj-fig5.14-safety-net")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([_loss(study, one) for one in (ENHANCED, INSPECTOR)], ignore_index=True)


@measure("hj-fig5.14-improvement")
def _(study: Study) -> pd.Series[float]:
    original = _loss(study, PARTITIONING)
    return pd.concat([original / _loss(study, one) for one in (ENHANCED, INSPECTOR)], ignore_index=True)


def _loss(study: Study, one: str) -> pd.Series[float]:
    """Say by how much longer, in %, an algorithm takes than when nobody disturbs it."""
    return 100 * (series(study["disturbed"], one) / float(series(study["alone"], one).iloc[0]) - 1)
