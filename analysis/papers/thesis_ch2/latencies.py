"""Settings of Itanium 2, and what they give when they are measured as the thesis measures them (Table 2.2, Figure 2.8)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, less, lines, never_rising, series
from memwalk.analysis.papers.thesis_ch2.trees import ITANIUM2, measure


@measure("bt-ch1-itanium2-miss")
def _(study: Study) -> pd.Series[float]:
    return series(study["chain"], "warm TLB", per="operations")


@measure("bt-ch1-max-outstanding")
def _(study: Study) -> float:
    return float(study.machine(ITANIUM2)["caches"][0]["mshrs"])


@measure("bt-fig2.8-tnext-min")
def _(study: Study) -> float:
    return float(_by_distance(study).min())


@measure("bt-fig2.8-monotone")
def _(study: Study) -> Holds:
    (line,) = lines(_by_distance(study), along="workload.distance_lines")
    return never_rising(line, along="workload.distance_lines") & less(line.iloc[-1], line.iloc[0])


def _by_distance(study: Study) -> pd.Series[float]:
    """Cycles per line that is prefetched so many lines ahead."""
    return series(study["array"], "pointer array", per="operations")
