"""Insertions and deletions: Figures 2.18 to 2.22, and what section 2.6 says of them."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    MAGNITUDE,
    Holds,
    Study,
    alike,
    all_of,
    clearly_less,
    falling,
    greatest,
    less,
    much_less,
    no_more,
    reduced,
    rising,
    series,
    smallest,
    speedup,
)
from memwalk.analysis.papers.thesis_ch2.trees import (
    EXTERNAL,
    FILL,
    INTERNAL,
    JUMP_POINTERS,
    KEYS,
    OPERATIONS,
    PREFETCHING,
    PREFETCHING_IT2,
    WIDE,
    measure,
)


def not_full(panel: pd.DataFrame) -> pd.DataFrame:
    """Keep trees that are bulkloaded to less than 100%."""
    return panel[panel[FILL] < 1]


# Figures 2.18 and 2.19: insertions.


@measure("bt-fig2.18a-insert-notfull")
def _(study: Study) -> pd.Series[float]:
    return speedup(not_full(study["fill"]), PREFETCHING_IT2, over="B+")


@measure("bt-fig2.19a-insert-notfull")
def _(study: Study) -> pd.Series[float]:
    return speedup(not_full(study["fill"]), PREFETCHING, over="B+")


@measure("bt-fig2.19a-three-equal")
def _(study: Study) -> Holds:
    fill = not_full(study["fill"])
    equal = all_of(alike(series(fill, tree), series(fill, WIDE)) for tree in JUMP_POINTERS)
    return equal & all_of(clearly_less(series(fill, tree), series(fill, "B+")) for tree in PREFETCHING)


@measure("bt-fig2.19b-full-comparable")
def _(study: Study) -> Holds:
    panels = [study[name] for name in ("size", "insertions")]
    return all_of(no_more(series(panel, tree), series(panel, "B+")) for panel in panels for tree in PREFETCHING)


@measure("bt-fig2.19b-insert-1e5-keys")
def _(study: Study) -> pd.Series[float]:
    return speedup(smallest(study["size"], KEYS), PREFETCHING, over="B+")


@measure("bt-fig2.19c-pb-pi-1e5-insertions")
def _(study: Study) -> pd.Series[float]:
    return speedup(greatest(study["insertions"], OPERATIONS), (WIDE, INTERNAL), over="B+")


@measure("bt-fig2.19c-pe-1e5-insertions")
def _(study: Study) -> pd.Series[float]:
    return speedup(greatest(study["insertions"], OPERATIONS), EXTERNAL, over="B+")


# Figures 2.20 and 2.21: splits. What the former shows is how many insertions cause any.
SPLITTING = "splitting_insertions"


@measure("bt-fig2.20-splits-trend")
def _(study: Study) -> Holds:
    size, insertions = study["size"], study["insertions"]
    fewer = all_of(less(_splits(panel, tree), _splits(panel, "B+")) for panel in (size, insertions) for tree in PREFETCHING)
    ends = (smallest(size, KEYS), greatest(insertions, OPERATIONS))
    many_fewer = all_of(much_less(_splits(end, tree), _splits(end, "B+")) for end in ends for tree in PREFETCHING)
    by_size = falling(speedup(size, PREFETCHING, over="B+", column=SPLITTING), along=KEYS)
    return fewer & many_fewer & by_size & rising(speedup(insertions, PREFETCHING, over="B+", column=SPLITTING), along=OPERATIONS)


@measure("bt-fig2.20-splits-1e5-keys")
def _(study: Study) -> pd.Series[float]:
    return reduced(smallest(study["size"], KEYS), PREFETCHING, over="B+", column=SPLITTING)


@measure("bt-fig2.20-splits-1e5-insertions")
def _(study: Study) -> pd.Series[float]:
    return reduced(greatest(study["insertions"], OPERATIONS), PREFETCHING, over="B+", column=SPLITTING)


@measure("bt-fig2.21b-chunk-splits")
def _(study: Study) -> Holds:
    largest = greatest(study["size"], KEYS)
    return much_less(series(largest, EXTERNAL, "chunk_splits"), series(largest, "p8eB+ 100%", "chunk_splits"), times=MAGNITUDE**2)


@measure("bt-fig2.21c-full-chunks-1e5")
def _(study: Study) -> Holds:
    return less(series(study["many"], "p8eB+ 100%"), series(study["many"], "B+"))


def _splits(panel: pd.DataFrame, tree: str) -> pd.Series[float]:
    return series(panel, tree, SPLITTING)


# Figure 2.22: deletions.


@measure("bt-fig2.22-delete-it2")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([speedup(study[name], PREFETCHING_IT2, over="B+") for name in ("itanium2-fill", "itanium2-size")])


@measure("bt-fig2.22-delete-sim")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([speedup(study[name], PREFETCHING, over="B+") for name in ("fill", "size")])


@measure("bt-deletion-search-dominated")
def _(study: Study) -> Holds:
    deletion, search = study["size"], study["search"]
    return all_of(less(series(deletion, tree), 2 * series(search, tree)) for tree in ("B+", *PREFETCHING))


# Section 2.6: all updates, on both platforms.


@measure("bt-sum2-update-over-b")
def _(study: Study) -> pd.Series[float]:
    simulated = ("insert-fill", "insert-size", "delete-fill", "delete-size")
    itanium2 = ("it2-insert-fill", "it2-insert-size", "it2-delete-fill", "it2-delete-size")
    speedups = [speedup(study[name], PREFETCHING, over="B+") for name in simulated]
    return pd.concat(speedups + [speedup(study[name], PREFETCHING_IT2, over="B+") for name in itanium2])
