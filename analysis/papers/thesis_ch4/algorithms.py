"""What the measures of chapter 4 share: their register, and the algorithms."""

from __future__ import annotations

from memwalk.analysis.claims import Measures

measure = Measures()

GROUP, PIPELINED = "group", "pipelined"
PREFETCHING = (GROUP, PIPELINED)
"""Algorithms that prefetch what hash codes lead to."""
CACHE = "cache partitioning"
ALL = ("GRACE", "simple", *PREFETCHING)
