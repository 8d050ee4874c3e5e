"""Joins on Itanium 2: Figures 4.21, 4.22 and 4.24; tuning, Figure 4.23, is measured as on the simulator."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, clearly_less, in_order, less, ratio, rising, series, similar, speedup
from memwalk.analysis.papers.thesis_ch4.algorithms import CACHE, GROUP, PIPELINED, PREFETCHING, measure
from memwalk.analysis.papers.thesis_ch4.partitions import PARTITIONS
from memwalk.analysis.papers.thesis_ch4.sweeps import panels, sizes, speedups


@measure("hj-it2-join-group-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, GROUP, over="GRACE")


@measure("hj-it2-join-swp-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, PIPELINED, over="GRACE")


@measure("hj-it2-join-group-vs-cpart")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, GROUP, over=CACHE)


@measure("hj-it2-join-swp-vs-cpart")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, PIPELINED, over=CACHE)


@measure("hj-concl-group-vs-swp-it2")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, GROUP, over=PIPELINED)


@measure("hj-it2-join-group-over-swp")
def _(study: Study) -> Holds:
    return all_of(clearly_less(series(panel, GROUP), series(panel, PIPELINED)) for panel in panels(study))


@measure("hj-it2-instr-order")
def _(study: Study) -> Holds:
    counts = {one: _instructions(study, one) for one in ("GRACE", GROUP, PIPELINED, CACHE)}
    return in_order(counts["GRACE"], counts[GROUP], counts[PIPELINED]) & less(counts["GRACE"], counts[CACHE])


@measure("hj-fig4.22-swp-over-group")
def _(study: Study) -> pd.Series[float]:
    return 100 * (ratio(_instructions(study, PIPELINED), _instructions(study, GROUP)) - 1)


@measure("hj-fig4.22-cpart-over-grace")
def _(study: Study) -> pd.Series[float]:
    return 100 * (ratio(_instructions(study, CACHE), _instructions(study, "GRACE")) - 1)


def _instructions(study: Study, one: str) -> pd.Series[float]:
    return series(sizes(study), one, "instructions")


@measure("hj-it2-partition-group-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["partition"], GROUP, over="GRACE")


@measure("hj-it2-partition-swp-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["partition"], PIPELINED, over="GRACE")


@measure("hj-it2-partition-grace-degrades")
def _(study: Study) -> Holds:
    def level(one: str) -> Holds:
        times = series(study["partition"], one)
        return similar(times, float(times.min()))

    return rising(series(study["partition"], "GRACE"), along=PARTITIONS) & all_of(level(one) for one in PREFETCHING)


@measure("hj-it2-partition-l3-misses")
def _(study: Study) -> Holds:
    grace = study["partition"]
    references = series(grace, "GRACE", "L1_accesses")
    same = alike(references, float(references.iloc[0]))
    return rising(series(grace, "GRACE", "L3_misses"), along=PARTITIONS) & same
