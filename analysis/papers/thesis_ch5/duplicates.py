"""Several build tuples of one key, on 8 processors: Figure 5.15(a)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, from_where_on, greatest, growth, less, series, speedup, up_to_where
from memwalk.analysis.papers.thesis_ch5.algorithms import ENHANCED, INSPECTOR, PREFETCHING
from memwalk.analysis.papers.thesis_ch5.register import measure

DUPLICATES = "workload.duplicates"


@measure("hj-dup-stationary-best-until")
def _(study: Study) -> float:
    times = study["duplicates"]
    others = pd.concat([series(times, one) for one in (ENHANCED, PREFETCHING)], axis=1).min(axis=1)
    return up_to_where(series(times, INSPECTOR) <= others, DUPLICATES)


@measure("hj-dup-enhcpart-better-at")
def _(study: Study) -> float:
    times = study["duplicates"]
    return from_where_on(series(times, ENHANCED) < series(times, INSPECTOR), DUPLICATES)


@measure("hj-dup-prefetch-suffers")
def _(study: Study) -> Holds:
    """Compare what it loses with what enhanced cache partitioning does."""
    times = study["duplicates"]
    grown = {one: growth(series(times, one), along=DUPLICATES) for one in (ENHANCED, PREFETCHING)}
    return less(grown[ENHANCED], grown[PREFETCHING])


@measure("hj-fig5.15-enhanced-over-inspector")
def _(study: Study) -> pd.Series[float]:
    return speedup(greatest(study["duplicates"], DUPLICATES), ENHANCED, over=INSPECTOR)
