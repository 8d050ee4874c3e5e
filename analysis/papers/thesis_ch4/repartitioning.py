"""Cache partitioning: Figure 4.19."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, falling, gained, series
from memwalk.analysis.papers.thesis_ch4.algorithms import CACHE, PREFETCHING, measure
from memwalk.analysis.papers.thesis_ch4.sweeps import SIZE, panels, sizes


@measure("hj-sim-cpart-slower", "hj-sum4-cpart-slower")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([gained(panel, PREFETCHING, over=CACHE).reset_index(drop=True) for panel in panels(study)], ignore_index=True)


@measure("hj-sim-fig4.19-trend")
def _(study: Study) -> Holds:
    return all_of(falling(series(sizes(study), one), along=SIZE) for one in (*PREFETCHING, CACHE))
