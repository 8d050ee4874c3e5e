"""Both phases together: Figure 5.11(d).

A phase's time is the cycles of all processors that work in it, for each tuple of its probe relation: both phases' relations differ in size.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from memwalk.analysis.claims import Study, series
from memwalk.analysis.papers.thesis_ch5.algorithms import ENHANCED, GRACE, INSPECTOR, OTHERS, PREFETCHING
from memwalk.analysis.papers.thesis_ch5.partitions import PREFETCHING as ONE_FILTER
from memwalk.analysis.papers.thesis_ch5.partitions import THREADS, USED
from memwalk.analysis.papers.thesis_ch5.processors import COUNTS, CPUS
from memwalk.analysis.papers.thesis_ch5.register import measure

PARTITIONED = {GRACE: GRACE, INSPECTOR: INSPECTOR} | dict.fromkeys(OTHERS, ONE_FILTER)
"""The partition phase of an algorithm: both kinds of cache partitioning have that of prefetching."""
RIVALS = (PREFETCHING, ENHANCED)
"""Those that speed-ups of both phases are given over, besides GRACE."""
MANY = (8, 16, 32)
PARTITIONS = 16
"""Of a partition phase on 4 processors, if the join phase has no more."""
PROBE = "workload.probe_tuples"


@measure("hj-insp-total-8plus")
def _(study: Study) -> pd.Series[float]:
    return _gained_on(study, MANY, RIVALS)


@measure("hj-insp-total-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return _gained_on(study, COUNTS, [GRACE])


@measure("hj-insp-total-vs-grace-32")
def _(study: Study) -> pd.Series[float]:
    return _gained_on(study, MANY[-1:], [GRACE])


def _gained_on(study: Study, counts: Iterable[int], rivals: Iterable[str]) -> pd.Series[float]:
    """Compare the inspector join's time with rivals' on some numbers of processors."""
    return pd.Series([_on(study, one, count) / _on(study, INSPECTOR, count) for one in rivals for count in counts])


def _on(study: Study, one: str, count: int) -> float:
    """Add up both phases of a join phase on as many processors; the partition phase has at most 4, and a multiple of their partitions."""
    panel = study["partition-1-and-2" if count < USED else "partition-4" if count <= PARTITIONS else "partition-4-for-32"]
    return _joining(study[f"cpus-{count}"], one) + _partitioning(panel[panel[THREADS] == min(count, USED)], one)


def _joining(panel: pd.DataFrame, one: str) -> float:
    return _per_probe_tuple(panel, one, CPUS)


def _partitioning(panel: pd.DataFrame, one: str) -> float:
    return _per_probe_tuple(panel, PARTITIONED[one], THREADS)


def _per_probe_tuple(panel: pd.DataFrame, one: str, working: str) -> float:
    """Return the cycles of all working processors, for each probe tuple, of a panel's one point."""
    return float((series(panel, one) * series(panel, one, working) / series(panel, one, PROBE)).iloc[0])
