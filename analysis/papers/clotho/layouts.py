"""What the measures of Clotho share: their registry, the layouts, the axes of the sweeps."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Measures

measure = Measures()

NSM, DSM, PAX, CSM = LAYOUTS = ("NSM", "DSM", "PAX", "CSM")
WHOLE = (NSM, PAX)
"""Layouts whose pages hold whole records."""
ATTRIBUTES = 15
"""Of the relation of the microbenchmark."""

PAYLOAD, SELECTIVITY, QUERY, BLOCKS = "workload.payload", "workload.selectivity", "workload.query", "workload.blocks"
SECONDS = "seconds"


def with_payload(frame: pd.DataFrame, attributes: int) -> pd.DataFrame:
    """Keep queries of so many attributes."""
    return frame[frame[PAYLOAD] == attributes]
