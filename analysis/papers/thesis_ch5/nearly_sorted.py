"""Sorted relations of which some tuples have changed places, on 8 processors: Figure 5.15(b)."""

from __future__ import annotations

from memwalk.analysis.claims import Holds, Study, alike, all_of, from_where_on, growth, less, rising, series, slightly_less, smallest
from memwalk.analysis.papers.thesis_ch5.algorithms import ENHANCED, INSPECTOR, PREFETCHING
from memwalk.analysis.papers.thesis_ch5.register import measure

DISPLACED = "workload.displaced"
SORT_MERGE = "sort-merge"
PERCENT = 100


@measure("hj-sorted-crossover")
def _(study: Study) -> float:
    times = study["sorted"]
    return PERCENT * from_where_on(series(times, INSPECTOR) < series(times, SORT_MERGE), DISPLACED)


@measure("hj-sorted-equal-at-0")
def _(study: Study) -> Holds:
    """Read "equally well" as equal, and the best as faster than both others."""
    times = smallest(study["sorted"], DISPLACED)
    both = (SORT_MERGE, INSPECTOR)
    best = all_of(less(series(times, one), series(times, other)) for one in both for other in (PREFETCHING, ENHANCED))
    return best & alike(series(times, SORT_MERGE), series(times, INSPECTOR))


@measure("hj-sorted-merge-rises")
def _(study: Study) -> Holds:
    """Compare what both pay from one end to the other: slightly is less than a tenth."""
    times = study["sorted"]
    grown = {one: growth(series(times, one), along=DISPLACED) for one in (SORT_MERGE, INSPECTOR)}
    pays_slightly = slightly_less(1.0, grown[INSPECTOR]) & less(grown[INSPECTOR], grown[SORT_MERGE])
    return rising(series(times, SORT_MERGE), along=DISPLACED) & pays_slightly
