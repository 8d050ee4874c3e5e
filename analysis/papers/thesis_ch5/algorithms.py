"""What the measures of chapter 5 share: their register, and the algorithms."""

from __future__ import annotations

from memwalk.analysis.claims import Measures

measure = Measures()

GRACE, PREFETCHING, PARTITIONING, ENHANCED, INSPECTOR = "GRACE", "prefetching", "cache partitioning", "enhanced partitioning", "inspector"
OTHERS = (PREFETCHING, PARTITIONING, ENHANCED)
"""Those that the inspector join is compared with, but for GRACE."""
ALL = (GRACE, *OTHERS, INSPECTOR)
