"""What the measures of the PAX study share: their registry, the layouts, the axes of the sweeps."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Measures, lines, series

measure = Measures()

NSM, PAX, DSM = "NSM", "PAX", "DSM"

SELECTIVITY = "workload.selectivity"
PROJECTED, TESTED, DEGREE = "workload.projected", "workload.predicates", "workload.attributes"
"""Attributes projected, tested, and of the relation."""
SIZE, THRESHOLD = "workload.scale_factor", "workload.threshold"

XEON, ULTRASPARC, ALPHA, ITANIUM2 = "pentium2-xeon-400", "ultrasparc-iii", "alpha-21164", "itanium2-900"

L1_MISSES = "L1_misses"
"""Data misses of the first level, whose instruction cache is another."""
L2_MISSES, L3_MISSES = "L2_data_misses", "L3_data_misses"
STALLS, MEMORY_STALLS = "slots_dcache", "slots_dcache_memory"


def at(panel: pd.DataFrame, axis: str, value: float) -> pd.DataFrame:
    """Keep one value of an axis."""
    return panel[panel[axis] == value]


def per_record(panel: pd.DataFrame, layout: str, column: str = "cycles") -> pd.Series[float]:
    """Read a column of a layout per record of the relation."""
    return series(panel, layout, column, per="records")


def risen(values: pd.Series[float], along: str) -> float:
    """Subtract the first value along an axis from the last."""
    (line,) = lines(values, along)
    return float(line.iloc[-1] - line.iloc[0])


def largest_cache(machine: dict[str, object]) -> dict[str, int]:
    """Give the cache of a machine that is the last before memory."""
    caches = machine["caches"]
    assert isinstance(caches, list)
    found: dict[str, int] = caches[-1]
    return found
