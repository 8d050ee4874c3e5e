"""Frames that keep off the cache sets of page table and descriptors: what a search finds, and where it waits."""

from typing import Any

import pytest

from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

SIMULATOR = load_machine("thesis-simulator").native()
WAY_BYTES = 256 << 10
"""Of its L3, 2 MB in 8 ways."""
SEARCHES: dict[str, Any] = {
    "kernel": "disk-index",
    "operation": "search",
    "page_bytes": 16384,
    "keys": 2_000_000,
    "operations": 3000,
    "caches": "warm",
    "warm_up": 30_000,
}


def run(**change: Any) -> tuple[dict[str, Any], int]:
    """Give what a run says besides time, and how often page table and descriptors were in no cache."""
    found = native.simulate(SIMULATOR, SEARCHES | change)
    control = [row for row in found["breakdown"] if row["segment"] in {"page table", "frame descriptors"} and row["phase"] == "search"]
    return {name: found[name] for name in ("workload", "events", "instructions")}, sum(row["served"][-1] for row in control)


@pytest.mark.parametrize("structure", ["slotted", "array", "micro-index", "disk-first", "cache-first"])
def test_control_structures_stay_in_the_cache_that_frames_keep_off(structure: str) -> None:
    anywhere, misses = run(structure=structure)
    colored, left = run(structure=structure, coloring_way_bytes=WAY_BYTES)
    assert colored == anywhere
    assert left == 0
    assert misses > 10, "else the test says nothing"


def test_frames_lie_anywhere_if_control_structures_take_more_than_half_of_a_way() -> None:
    work = SEARCHES | {"structure": "array", "page_bytes": 2048}
    colored = native.simulate(SIMULATOR, work | {"coloring_way_bytes": WAY_BYTES})
    assert colored == native.simulate(SIMULATOR, work)
