"""Hash joins on disks: Figures 4.10 and 4.25 to 4.27.

The thesis's *main busy*, *main io stall* and *main total* are ``cpu_seconds``, ``io_seconds`` and ``seconds``; *worker io stall* is the
time of the busiest disk.
"""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, clearly_less, falling, from_where_on, less, much_less, series, similar, speedup
from memwalk.analysis.papers.thesis_ch4.algorithms import GROUP, PIPELINED, PREFETCHING, measure
from memwalk.analysis.papers.thesis_ch4.partitions import PARTITIONS

DISKS = "storage.disks"
TOTAL, BUSY, WORKER = "seconds", "cpu_seconds", "io_busiest_seconds"
JOINS = ("memory-100", "memory-20", "disk-100", "disk-20")
PARTITIONING = ("into-57", "of-20-bytes", "into-250")
LARGER = (("memory-20", "memory-100"), ("disk-20", "disk-100"), ("of-20-bytes", "into-57"), ("into-250", "into-57"))
"""Panels of which the first has more work for the processor in each page that it reads."""


def bound_by_processor(phase: pd.DataFrame) -> float:
    """Find the number of disks from which on the busiest takes less time than the processor."""
    return from_where_on(series(phase, "GRACE", WORKER) < series(phase, "GRACE", BUSY), DISKS)


def gains(study: Study, names: tuple[str, ...], one: str | tuple[str, ...]) -> pd.Series[float]:
    """Return how many times as fast as GRACE an algorithm is, or several, in each of some panels."""
    return pd.concat([speedup(study[name], one, over="GRACE", column=TOTAL).reset_index(drop=True) for name in names], ignore_index=True)


@measure("hj-cpu-bound-partition-and-mem-join")
def _(study: Study) -> pd.Series[float]:
    return pd.Series({name: bound_by_processor(study[name]) for name in ("partition", "memory")})


@measure("hj-cpu-bound-disk-join")
def _(study: Study) -> float:
    return bound_by_processor(study["disk"])


@measure("hj-io-bound-upto")
def _(study: Study) -> float:
    return min(bound_by_processor(study[name]) for name in ("partition", "memory", "disk")) - 1


@measure("hj-intro-cpu-bound-disks")
def _(study: Study) -> pd.Series[float]:
    return pd.Series({name: bound_by_processor(study[name]) for name in ("memory", "disk")})


@measure("hj-partitions-57")
def _(study: Study) -> pd.Series[float]:
    return study["partition"][PARTITIONS]


@measure("hj-partitions-57-113")
def _(study: Study) -> pd.Series[float]:
    return study.joined("into-57", "of-20-bytes")[PARTITIONS]


@measure("hj-main-busy-flat")
def _(study: Study) -> Holds:
    return all_of(_flat_while_total_falls(study[name]) for name in ("partition", "memory", "disk"))


def _flat_while_total_falls(phase: pd.DataFrame) -> Holds:
    busy, total = series(phase, "GRACE", BUSY), series(phase, "GRACE", TOTAL)
    return similar(busy, float(busy.iloc[0])) & clearly_less(float(total.iloc[-1]), float(total.iloc[0]))


@measure("hj-worker-io-stall-falls")
def _(study: Study) -> Holds:
    return all_of(_falls(series(study[name], "GRACE", WORKER)) for name in ("partition", "memory", "disk"))


def _falls(worker: pd.Series[float]) -> Holds:
    return falling(worker, along=DISKS) & much_less(float(worker.iloc[-1]), float(worker.iloc[0]))


@measure("hj-io-join-group")
def _(study: Study) -> pd.Series[float]:
    return gains(study, JOINS, GROUP)


@measure("hj-io-join-swp")
def _(study: Study) -> pd.Series[float]:
    return gains(study, JOINS, PIPELINED)


@measure("hj-io-fig4.25a-group")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("memory-100",), GROUP)


@measure("hj-io-fig4.25a-swp")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("memory-100",), PIPELINED)


@measure("hj-io-fig4.25b-group")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("memory-20",), GROUP)


@measure("hj-io-fig4.25b-swp")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("memory-20",), PIPELINED)


@measure("hj-io-fig4.26a-group")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("disk-100",), GROUP)


@measure("hj-io-fig4.26a-swp")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("disk-100",), PIPELINED)


@measure("hj-sum4-io-join")
@measure("hj-concl-io-join")
def _(study: Study) -> pd.Series[float]:
    return gains(study, JOINS, PREFETCHING)


@measure("hj-io-partition-group")
def _(study: Study) -> pd.Series[float]:
    return gains(study, PARTITIONING, GROUP)


@measure("hj-io-partition-swp")
def _(study: Study) -> pd.Series[float]:
    return gains(study, PARTITIONING, PIPELINED)


@measure("hj-io-fig4.27a-group")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("into-57",), GROUP)


@measure("hj-io-fig4.27a-swp")
def _(study: Study) -> pd.Series[float]:
    return gains(study, ("into-57",), PIPELINED)


@measure("hj-sum4-io-partition")
@measure("hj-concl-io-partition")
def _(study: Study) -> pd.Series[float]:
    return gains(study, PARTITIONING, PREFETCHING)


@measure("hj-io-20B-tuples-per-page")
def _(study: Study) -> float:
    # What the join reads of either relation, and the tuples in it; its output goes nowhere.
    large, small = (tuples_per_block(study[name]) for name in ("memory-100", "memory-20"))
    return small / large


def tuples_per_block(phase: pd.DataFrame) -> float:
    """Return the probe tuples of a join for each block that it reads."""
    return float(series(phase, "GRACE", "operations", per="io_blocks").iloc[0])


@measure("hj-io-worker-stall-same")
def _(study: Study) -> Holds:
    return all_of(_same_disks_less_work(study[name], one) for name in (*JOINS, *PARTITIONING) for one in PREFETCHING)


def _same_disks_less_work(phase: pd.DataFrame, one: str) -> Holds:
    same = similar(series(phase, one, WORKER), series(phase, "GRACE", WORKER))
    return same & clearly_less(series(phase, one, BUSY), series(phase, "GRACE", BUSY))


@measure("hj-io-speedup-larger-20B")
def _(study: Study) -> Holds:
    return all_of(less(gains(study, (fewer,), one), gains(study, (more,), one)) for more, fewer in LARGER for one in PREFETCHING)
