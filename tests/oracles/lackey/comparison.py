"""What cachegrind counts of a program, and what memwalk counts of the program's Lackey trace.

Two rules of cachegrind's are not memwalk's. A modification is one read to it, and a read and a write to memwalk: that changes
no miss, since the write finds its line. An access that crosses into the next line is at most one miss to it, and up to two
to memwalk: that is why counts may differ by TOLERANCE.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
"""Cachegrind's names: references and misses of the first (1) and last (L) level by instruction (I), read (r) and write (w)."""
TOLERANCE = 0.01
"""Largest relative difference of a count."""


def cachegrind_machine() -> dict[str, Any]:
    """The thesis's simulator with the caches that `run_valgrind.py` has cachegrind simulate."""
    machine = load_machine("thesis-simulator").native()
    del machine["caches"][1]
    machine["instruction_cache"] = {"size_bytes": 32768, "line_bytes": 64, "ways": 8, "replacement": "lru"}
    return machine


def reference_counts(row: Mapping[str, str]) -> dict[str, int]:
    """Cachegrind's counts in terms of memwalk's, which do not tell read misses from write misses."""
    events = {name: int(row[name]) for name in EVENTS}
    return {
        "instructions": events["Ir"],
        "instruction cache misses": events["I1mr"],
        "first-level data misses": events["D1mr"] + events["D1mw"],
        "last-level misses": events["ILmr"] + events["DLmr"] + events["DLmw"],
    }


def trace_counts(trace: Path) -> dict[str, int]:
    """Memwalk's counts of a trace that was imported with instruction fetches."""
    counted = native.count(trace, cachegrind_machine())
    first, last = counted["caches"]
    return {
        "instructions": counted["instructions"],
        "instruction cache misses": counted["instruction_cache"]["misses"],
        "first-level data misses": first["misses"],
        "last-level misses": last["misses"],
    }
