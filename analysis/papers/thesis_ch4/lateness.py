"""Prefetches that come too late and too early: Figure 4.14."""

from __future__ import annotations

from memwalk.analysis.claims import Holds, Study, clearly_less, falling, less, rising, series, smallest
from memwalk.analysis.papers.thesis_ch4.algorithms import measure
from memwalk.analysis.papers.thesis_ch4.sweeps import DISTANCE, GROUP_SIZE, PROBING

LATE, EARLY = "prefetches_late", "prefetches_unused"
FAR = 16
"""The distance that the thesis finds too far."""


@measure("hj-fig4.14-late-vs-early")
def _(study: Study) -> Holds:
    late, early = (series(study["group"], "by G", column) for column in (LATE, EARLY))
    return falling(late, along=GROUP_SIZE) & rising(early, along=GROUP_SIZE)


@measure("hj-fig4.14-d16")
def _(study: Study) -> Holds:
    groups, distances = study["group"], study["distance"]
    far, small = distances[distances[DISTANCE] == FAR], smallest(groups, GROUP_SIZE)
    too_early = less(series(far, "by D", LATE), series(far, "by D", EARLY))
    too_late = less(series(small, "by G", EARLY), series(small, "by G", LATE))
    far_is_slow = clearly_less(float(series(distances, "by D", PROBING).min()), series(far, "by D", PROBING))
    small_is_slow = clearly_less(float(series(groups, "by G", PROBING).min()), series(small, "by G", PROBING))
    return too_early & too_late & far_is_slow & small_is_slow
