"""The join phase on 1 to 32 processors: Figures 5.1, 5.10, 5.11(c) and 5.12.

Every processor joins as much, whatever their number: the cycles of a point are the aggregate time of a fixed amount of work.
"""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    all_of,
    clearly_less,
    from_where_on,
    in_order,
    less,
    much_less,
    no_more,
    series,
    share,
    similar,
    speedup,
)
from memwalk.analysis.papers.thesis_ch5.algorithms import ALL, ENHANCED, GRACE, INSPECTOR, OTHERS, PARTITIONING, PREFETCHING
from memwalk.analysis.papers.thesis_ch5.register import measure

CPUS = "machine.cores"
COUNTS = (1, 2, 4, 8, 16, 32)
FEW = 4
"""Fewer processors than these do not feel each other, the text says."""
SIGNIFICANT = 1.1


def _on(study: Study, *counts: int) -> pd.DataFrame:
    """Return the points of some numbers of processors."""
    return study.joined(*(f"cpus-{count}" for count in counts))


def _few(study: Study) -> pd.DataFrame:
    return _on(study, *(count for count in COUNTS if count < FEW))


def _alone(study: Study, one: str) -> float:
    return float(series(_on(study, 1), one).iloc[0])


def _growth(study: Study, one: str) -> pd.Series[float]:
    """Compare aggregate times with that of one processor."""
    return series(_on(study, *COUNTS), one) / _alone(study, one)


@measure("hj-fig5.1-order-vs-grace")
def _(study: Study) -> Holds:
    few = _few(study)
    return all_of(clearly_less(series(few, one), series(few, GRACE)) for one in (PREFETCHING, PARTITIONING))


@measure("hj-fig5.1-prefetch-worse-than-grace")
def _(study: Study) -> float:
    on_all = _on(study, *COUNTS)
    return from_where_on(series(on_all, PREFETCHING) > series(on_all, GRACE), CPUS)


@measure("hj-fig5.1-grace-suffers")
def _(study: Study) -> float:
    return from_where_on(_growth(study, GRACE) >= SIGNIFICANT, CPUS)


@measure("hj-fig5.10-linear-2cpu")
def _(study: Study) -> Holds:
    return all_of(_level(study, one, "itanium2") for one in ALL)


@measure("hj-bw-sufficient-2cpu")
def _(study: Study) -> Holds:
    return all_of(_level(study, one, platform) for one in ALL for platform in ("itanium2", "simulation"))


def _level(study: Study, one: str, platform: str) -> Holds:
    """Compare the aggregate time of two processors with that of one."""
    alone, both = (float(series(study[f"{platform}-{count}"], one).iloc[0]) for count in (1, 2))
    return similar(both, alone)


@measure("hj-bw-degrade-8cpu")
def _(study: Study) -> Holds:
    """Look at fewer than 4 and at 8 and more, between which the text says nothing."""

    def times(one: str, *counts: int) -> pd.Series[float]:
        return series(_on(study, *counts), one)

    few = all_of(similar(times(one, 1, 2), _alone(study, one)) for one in OTHERS)
    return few & all_of(clearly_less(_alone(study, one), times(one, 8, 16, 32)) for one in OTHERS)


@measure("hj-fig5.11c-order-small")
def _(study: Study) -> Holds:
    few = {one: series(_few(study), one) for one in ALL}
    return in_order(few[INSPECTOR], few[PREFETCHING], few[ENHANCED]) & no_more(few[ENHANCED], few[PARTITIONING])


@measure("hj-fig5.11c-enhanced-order")
def _(study: Study) -> Holds:
    on_all, on_most = _on(study, *COUNTS), _on(study, COUNTS[-1])
    better = less(series(on_all, ENHANCED), series(on_all, PARTITIONING))
    ahead = clearly_less(series(on_most, ENHANCED), series(on_most, PREFETCHING))
    return better & ahead & all_of(less(series(on_all, INSPECTOR), series(on_all, one)) for one in OTHERS)


@measure("hj-cpart-repartition-share")
def _(study: Study) -> pd.Series[float]:
    few = _few(study)
    shares = [100 * series(few, one, "slots_in_re-partition", "slots_total") for one in (PARTITIONING, ENHANCED)]
    return pd.concat(shares, ignore_index=True)


@measure("hj-enhanced-cpart-degrades-beyond-4")
def _(study: Study) -> float:
    """Find the last number of processors at which it takes no significantly longer."""
    fine = _growth(study, ENHANCED) < SIGNIFICANT
    return float(fine[fine].index.get_level_values(CPUS).max())


@measure("hj-insp-join-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedup(_on(study, *COUNTS), INSPECTOR, over=GRACE)


@measure("hj-insp-join-vs-grace-32")
def _(study: Study) -> pd.Series[float]:
    return speedup(_on(study, 32), INSPECTOR, over=GRACE)


@measure("hj-fig5.11c-over-prefetching")
def _(study: Study) -> pd.Series[float]:
    return speedup(_on(study, 8, 16, 32), INSPECTOR, over=PREFETCHING)


@measure("hj-fig5.11c-over-enhanced")
def _(study: Study) -> pd.Series[float]:
    return speedup(_on(study, *COUNTS), INSPECTOR, over=ENHANCED)


@measure("hj-ch5-group-approx-swp")
def _(study: Study) -> Holds:
    tried = _on(study, 1, 8)
    return similar(series(tried, "pipelined"), series(tried, PREFETCHING))


# Figure 5.12: every processor does the same, so that all stand for the first.


def _stalls(study: Study, one: str, count: int) -> float:
    return float(share(_on(study, count), one, "dcache").iloc[0])


@measure("hj-fig5.12-stall-growth")
def _(study: Study) -> Holds:
    grown = all_of(much_less(_stalls(study, one, 1), _stalls(study, one, 8)) for one in OTHERS)
    return grown & all_of(less(_stalls(study, INSPECTOR, 8), _stalls(study, one, 8)) for one in OTHERS)


@measure("hj-fig5.12c-stall-dominate-32")
def _(study: Study) -> Holds:
    best = all_of(less(series(_on(study, 32), INSPECTOR), series(_on(study, 32), one)) for one in OTHERS)
    return best & all_of(less(50.0, _stalls(study, one, 32)) for one in (*OTHERS, INSPECTOR))
