"""What the measures of simulated indexes share: names of series, axes, and series over several panels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from memwalk.analysis.claims import Study, series, speedup

SLOTTED, ARRAYS, MICRO, DISK_FIRST, CACHE_FIRST = "slotted", "arrays", "micro-indexing", "disk-first", "cache-first"
FRACTAL = (DISK_FIRST, CACHE_FIRST)
CACHE_SENSITIVE = (MICRO, *FRACTAL)
OF_PAGES = (SLOTTED, ARRAYS)
"""Disk-optimized trees."""

KEYS, FILL, RANGE, PAGE = "workload.keys", "workload.fill", "workload.range", "workload.page_bytes"
KB = (4, 8, 16, 32)
"""Sizes of pages; a panel of each is called by a prefix and the size."""
LARGE = 1_000_000
"""Keys of a large tree."""
FULL = 0.95
"""Trees of at least this fill are full, others 60% to 90%."""


def by_page(study: Study, prefix: str = "kb-") -> pd.DataFrame:
    """Give the panels of all page sizes as one."""
    return study.joined(*(f"{prefix}{kib}" for kib in KB))


def everywhere(frames: Sequence[pd.DataFrame], of: str | Sequence[str], over: str) -> pd.Series[float]:
    """Give the speed-ups of several sweeps, whose axes may differ, as one series."""
    return pd.concat([speedup(frame, of, over).reset_index(drop=True) for frame in frames], ignore_index=True)


def not_full(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep trees that are 60% to 90% full."""
    return frame[frame[FILL] < FULL]


def full(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep full trees."""
    return frame[frame[FILL] > FULL]


def large(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep trees of a million keys and more."""
    return frame[frame[KEYS] >= LARGE]


def of_pages(frame: pd.DataFrame, variant: str, kib: int, column: str = "cycles") -> pd.Series[float]:
    """Read a column of a variant in pages of so many KiB; the axis of page sizes is left out, so that two sizes can be compared."""
    found = series(frame[frame[PAGE] == kib << 10], variant, column)
    return found.droplevel(PAGE) if found.index.nlevels > 1 else found.reset_index(drop=True)
