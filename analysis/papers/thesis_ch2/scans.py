"""Range scans: Figures 2.16, 2.17 and 2.25, and what section 2.6 says of them."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    alike,
    all_of,
    differ,
    falling,
    flat,
    from_where_on,
    less,
    not_worse,
    series,
    slightly_less,
    speedup,
)
from memwalk.analysis.papers.thesis_ch2.trees import (
    CHUNK,
    DISTANCE,
    EXTERNAL,
    FILL,
    INTERNAL,
    JUMP_POINTERS,
    JUMP_POINTERS_IT2,
    PREFETCHING,
    RANGE,
    WIDE,
    measure,
)


def long_scans(panel: pd.DataFrame) -> pd.DataFrame:
    """Keep scans of at least 1000 tupleIDs."""
    return panel[panel[RANGE] >= 1000]


def short_scans(panel: pd.DataFrame) -> pd.DataFrame:
    """Keep scans of at most 100 tupleIDs."""
    return panel[panel[RANGE] <= 100]


# Figure 2.16: Itanium 2.


@measure("bt-fig2.16a-wide-scan-speedup")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["range"], "p4B+", over="B+")


@measure("bt-fig2.16a-jpa-scan-large")
def _(study: Study) -> pd.Series[float]:
    return speedup(long_scans(study["range"]), JUMP_POINTERS_IT2, over="B+")


@measure("bt-fig2.16a-jpa-scan-small")
def _(study: Study) -> pd.Series[float]:
    return speedup(short_scans(study["range"]), JUMP_POINTERS_IT2, over="B+")


@measure("bt-fig2.16c-jpa-scan-occupancy")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], JUMP_POINTERS_IT2, over="B+")


# Figure 2.17: simulation.


@measure("bt-fig2.17a-jpa-scan-speedup", "bt-sum2-scan-max")
def _(study: Study) -> pd.Series[float]:
    return speedup(long_scans(study["range"]), JUMP_POINTERS, over="B+")


@measure("bt-fig2.17a-wide-scan-speedup")
def _(study: Study) -> pd.Series[float]:
    return speedup(long_scans(study["range"]), WIDE, over="B+")


@measure("bt-fig2.17a-jpa-extra")
def _(study: Study) -> pd.Series[float]:
    return speedup(long_scans(study["range"]), JUMP_POINTERS, over=WIDE)


@measure("bt-fig2.17a-pe-eq-pi")
def _(study: Study) -> Holds:
    scans = long_scans(study["range"])
    return alike(series(scans, EXTERNAL), series(scans, INTERNAL))


@measure("bt-fig2.17a-scan10-order")
def _(study: Study) -> Holds:
    scans = study["range"]
    ten = scans[scans[RANGE] == 10]
    wide = series(ten, WIDE)
    return slightly_less(wide, series(ten, "B+")) & all_of(less(wide, series(ten, tree)) for tree in JUMP_POINTERS)


@measure("bt-fig2.17a-jpa-crossover")
def _(study: Study) -> float:
    return from_where_on(speedup(study["range"], JUMP_POINTERS, over=WIDE) >= 1, along=RANGE)


@measure("bt-fig2.17c-jpa-scan-occupancy")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], JUMP_POINTERS, over="B+")


@measure("bt-fig2.17c-trend")
def _(study: Study) -> Holds:
    fill = study["fill"]
    return falling(speedup(fill[fill[FILL] >= 0.7], PREFETCHING, over="B+"), along=FILL)


# Figure 2.25: prefetching distance and chunk size.


@measure("bt-fig2.25a-d-order")
def _(study: Study) -> Holds:
    scans = long_scans(study["distance"])
    times = series(scans, EXTERNAL)
    one, two = times.xs(1, level=DISTANCE), times.xs(2, level=DISTANCE)
    return less(two, one) & differ(two, one) & flat(series(scans[scans[DISTANCE] >= 2], EXTERNAL), along=DISTANCE)


@measure("bt-fig2.25bc-c-order")
def _(study: Study) -> Holds:
    return all_of(not_worse(series(study[name], EXTERNAL), along=CHUNK) for name in ("chunk-scan", "chunk-insert"))
