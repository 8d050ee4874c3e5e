"""What join phases are swept over: Figures 4.11, 4.13 and 4.14, and on Itanium 2 4.21 and 4.23."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from memwalk.analysis.claims import Study, speedup

SIZE, PROBE, SHARE = "workload.tuple_bytes", "workload.probe_tuples", "workload.match_share"
GROUP_SIZE, DISTANCE = "workload.group_size", "workload.prefetch_distance"
TUNED = (("group", "by G", GROUP_SIZE), ("distance", "by D", DISTANCE))
"""Panels in which a parameter is tuned, with their variants and axes."""
PROBING = "slots_in_probe"
"""The time of what is tuned: the loop that probes (section 4.7.3)."""


def sizes(study: Study) -> pd.DataFrame:
    """Return the points of all tuple sizes."""
    return study.joined("size-20", "size-60", "size-100", "size-140")


def panels(study: Study) -> list[pd.DataFrame]:
    """Return all points of a figure, by what is swept."""
    return [sizes(study), study["matches"], study["share"]]


def speedups(study: Study, of: str | Sequence[str], over: str) -> pd.Series[float]:
    """Return the speed-ups at all points of a figure."""
    return pd.concat([speedup(panel, of, over).reset_index(drop=True) for panel in panels(study)], ignore_index=True)
