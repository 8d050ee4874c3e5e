"""Both phases together: Figures 5.11(d) and 5.13, and what sections 5.1 and 5.7 say of them.

A phase's time is the cycles of all processors that work in it, for each tuple of its probe relation: both phases' relations differ in size.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, falling, less, ratio, series
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
PROBE, SHARE, BYTES = "workload.probe_tuples", "workload.match_share", "workload.tuple_bytes"
RATIO = "probe tuples for each build tuple"
FEW_MATCHES = 0.05
VARIED = ("matches", "share", "size-20", "size-100", "size-140")
SIZES = VARIED[2:]


@measure("hj-insp-total-8plus")
def _(study: Study) -> pd.Series[float]:
    return _gained_on(study, MANY, RIVALS)


@measure("hj-insp-total-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return _gained_on(study, COUNTS, [GRACE])


@measure("hj-insp-total-vs-grace-32")
def _(study: Study) -> pd.Series[float]:
    return _gained_on(study, MANY[-1:], [GRACE])


@measure("hj-insp-fig5.13")
def _(study: Study) -> pd.Series[float]:
    return _gained_where_varied(study)


@measure("hj-fig5.13-inspector-best")
def _(study: Study) -> Holds:
    best = _where_varied(study, INSPECTOR)
    return all_of(less(best, _where_varied(study, one)) for one in OTHERS)


@measure("hj-fig5.13c-downward")
def _(study: Study) -> Holds:
    """Compare times of a byte, as relations of all tuple sizes have as many."""
    times = {one: _where_varied(study, one, SIZES) for one in (*OTHERS, INSPECTOR)}
    return all_of(falling(time / time.index.get_level_values(BYTES), along=BYTES) for time in times.values())


@measure("hj-fig5.13b-join-share-5pct")
def _(study: Study) -> pd.Series[float]:
    panels = ["share"]
    shares = [100 * ratio(_joining_where_varied(study, one, panels), _where_varied(study, one, panels)) for one in (*OTHERS, INSPECTOR)]
    return pd.concat([share[_few_match(share)] for share in shares], ignore_index=True)


@measure("hj-insp-overall-8plus", "hj-sum5-speedup", "hj-concl-inspector")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([_gained_on(study, MANY, RIVALS), _gained_where_varied(study)], ignore_index=True)


def _gained_on(study: Study, counts: Iterable[int], rivals: Iterable[str]) -> pd.Series[float]:
    """Compare the inspector join's time with rivals' on some numbers of processors."""
    return pd.concat([ratio(_on(study, one, count), _on(study, INSPECTOR, count)) for one in rivals for count in counts], ignore_index=True)


def _gained_where_varied(study: Study) -> pd.Series[float]:
    gained = [ratio(_where_varied(study, one), _where_varied(study, INSPECTOR)) for one in RIVALS]
    return pd.concat([one[~_few_match(one)] for one in gained], ignore_index=True)


def _few_match(values: pd.Series[float]) -> pd.Series[bool]:
    return pd.Series(values.index.get_level_values(SHARE) == FEW_MATCHES, index=values.index)


def _on(study: Study, one: str, count: int) -> pd.Series[float]:
    """Add up both phases of a join phase on as many processors; the partition phase has at most 4, and a multiple of their partitions."""
    panel = study["partition-1-and-2" if count < USED else "partition-4" if count <= PARTITIONS else "partition-4-for-32"]
    return _joining(study[f"cpus-{count}"], one) + _partitioning(panel[panel[THREADS] == min(count, USED)], one)


def _where_varied(study: Study, one: str, panels: Iterable[str] = VARIED) -> pd.Series[float]:
    """Add up both phases at all places of some panels."""
    partitioning = _places(_partitioning(study[f"partition-{name}"], one) for name in panels)
    return _joining_where_varied(study, one, panels) + partitioning


def _joining_where_varied(study: Study, one: str, panels: Iterable[str]) -> pd.Series[float]:
    return _places(_joining(study[name], one) for name in panels)


def _places(parts: Iterable[pd.Series[float]]) -> pd.Series[float]:
    """Put panels behind each other; a place that several have is one."""
    values = pd.concat(parts)
    return values[~values.index.duplicated()]


def _joining(panel: pd.DataFrame, one: str) -> pd.Series[float]:
    return _per_probe_tuple(panel, one, CPUS, "workload.build_tuples")


def _partitioning(panel: pd.DataFrame, one: str) -> pd.Series[float]:
    return _per_probe_tuple(panel, PARTITIONED[one], THREADS, "workload.tuples")


def _per_probe_tuple(panel: pd.DataFrame, one: str, working: str, build: str) -> pd.Series[float]:
    """Return the cycles of all working processors, for each probe tuple, by what Figure 5.13 varies."""

    def column(name: str) -> pd.Series[float]:
        return series(panel, one, name)

    varied = {BYTES: column(BYTES), RATIO: column(PROBE) / column(build), SHARE: column(SHARE)}
    times = column("cycles") * column(working) / column(PROBE)
    return pd.Series(times.to_numpy(), index=pd.MultiIndex.from_arrays([of.to_numpy() for of in varied.values()], names=list(varied)))
