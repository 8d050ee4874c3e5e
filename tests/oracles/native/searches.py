"""The searches that cachegrind watches on the host and memwalk simulates."""

from oracles.counts.kernels import KERNELS

WORKLOAD = KERNELS["search"]
SEARCHES = 20_000
COLUMNS = ("Ir", "Dr", "Dw", "D1mr", "D1mw", "DLmr", "DLmw")
"""Cachegrind's events: references and misses of the first (1) and last (L) level by instruction (I), read (r) and write (w)."""
