"""The algorithms of chapter 5's join phase, as its figures name them."""

from __future__ import annotations

GRACE, PREFETCHING, PARTITIONING, ENHANCED, INSPECTOR = "GRACE", "prefetching", "cache partitioning", "enhanced partitioning", "inspector"
OTHERS = (PREFETCHING, PARTITIONING, ENHANCED)
"""Those that the inspector join is compared with, but for GRACE."""
ALL = (GRACE, *OTHERS, INSPECTOR)
