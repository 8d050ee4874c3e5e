"""The partition phase: Figures 4.1, 4.16 and 4.17."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, falling, flat, in_order, much_less, series, share, speedup
from memwalk.analysis.papers.thesis_ch4.algorithms import GROUP, PIPELINED, PREFETCHING, measure

PARTITIONS = "workload.partitions"


@measure("hj-fig4.1-partition-dcache-stall")
def _(study: Study) -> pd.Series[float]:
    return share(study["partition"], "GRACE", "dcache")


@measure("hj-sim-partition-prefetch-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["partition"], PREFETCHING, over="GRACE")


@measure("hj-sim-partition-trend")
def _(study: Study) -> Holds:
    panel = study["partition"]
    level = all_of(flat(series(panel, one), along=PARTITIONS) for one in PREFETCHING)
    return falling(speedup(panel, "simple", over="GRACE"), along=PARTITIONS) & level


@measure("hj-fig4.17-busy-order")
def _(study: Study) -> Holds:
    panel = study["partition"]
    busy = in_order(*(series(panel, one, "slots_busy") for one in ("GRACE", GROUP, PIPELINED)))
    stalls = {one: series(panel, one, "slots_dcache") for one in ("GRACE", *PREFETCHING)}
    return busy & all_of(much_less(stalls[one], stalls["GRACE"]) for one in PREFETCHING)
