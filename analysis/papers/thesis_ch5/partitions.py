"""The partition phase by the number of processors: Figures 5.11(a) and (b)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, at_most, differ, falling, flat, less, much_less, series, speedup
from memwalk.analysis.papers.thesis_ch5.register import measure

PREFETCHING, INSPECTOR = "cache prefetching", "inspector"
THREADS, PARTITIONS = "workload.threads", "workload.partitions"
WIDTH = 4
"""Slots of a cycle."""
USED = 4
"""Processors of the partition phase where the join phase has as many or more."""
ORDERS = 100
"""Orders of magnitude: two."""


def every(study: Study) -> pd.DataFrame:
    """Return the points of all numbers of processors."""
    return study.joined("1-and-2", "4-to-16", "32")


def together(study: Study) -> float:
    """Return the cycles of all processors of an inspector join's partition phase, where it has the most that it uses."""
    return float(series(study["4-to-16"], INSPECTOR, "slots_total")[USED]) / WIDTH


@measure("hj-insp-partition-overhead")
def _(study: Study) -> pd.Series[float]:
    return speedup(every(study), INSPECTOR, over=PREFETCHING)


@measure("hj-partition-flat-after-4cpu")
def _(study: Study) -> Holds:
    panel = every(study)

    def turns(one: str) -> Holds:
        times = series(panel, one)
        faster = falling(times[times.index <= USED], along=THREADS) & differ(float(times[USED]), float(times[2]))
        return faster & flat(times[times.index >= USED], along=THREADS)

    return all_of(turns(one) for one in (PREFETCHING, INSPECTOR))


@measure("hj-partition-aggregate-1e9")
def _(study: Study) -> Holds:
    cycles = together(study)
    return at_most(1e9, cycles) & less(cycles, 1e10)


@measure("hj-dup-check-cost")
def _(study: Study) -> Holds:
    panel = study["4-to-16"]
    partitions = float(panel[PARTITIONS].iloc[0])
    divide = float(study.machine("thesis-simulator")["core"]["divide_latency_cycles"])
    # Of each thread's counts.
    additions = USED * float(series(panel, INSPECTOR, "filters")[USED])
    return much_less(additions + USED * partitions * divide, together(study), times=ORDERS)
