"""What the measures of MBSM share: their registry, the layouts, the axes of the sweeps."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Measures

measure = Measures()

NSM, DSM, PAX, MBSM = LAYOUTS = ("NSM", "DSM", "PAX", "MBSM")
WHOLE = (NSM, PAX)
"""Layouts whose pages hold whole records."""

QUERY, TABLE, RUN = "workload.query", "workload.table", "workload.mbsm.run_pages"
BLOCK = "workload.run_pages"
"""Pages of a reading-block of Figure 3."""


def at(frame: pd.DataFrame, axis: str, place: object) -> pd.DataFrame:
    """Keep one place of an axis."""
    return frame[frame[axis] == place]
