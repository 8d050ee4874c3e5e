"""Cache partitioning: Figure 4.19."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, falling, gained, series
from memwalk.analysis.papers.thesis_ch4.algorithms import CACHE, PREFETCHING, measure

SIZE = "workload.tuple_bytes"


def _sizes(study: Study) -> pd.DataFrame:
    return study.joined("size-20", "size-60", "size-100", "size-140")


@measure("hj-sim-cpart-slower", "hj-sum4-cpart-slower")
def _(study: Study) -> pd.Series[float]:
    panels = (_sizes(study), study["matches"], study["share"])
    return pd.concat([gained(panel, PREFETCHING, over=CACHE).reset_index(drop=True) for panel in panels], ignore_index=True)


@measure("hj-sim-fig4.19-trend")
def _(study: Study) -> Holds:
    return all_of(falling(series(_sizes(study), one), along=SIZE) for one in (*PREFETCHING, CACHE))
