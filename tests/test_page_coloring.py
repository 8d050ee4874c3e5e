"""Frames that keep off the cache sets of page table and descriptors: what a search finds, and where it waits."""

from pathlib import Path
from typing import Any

import pytest
from index_workloads import DELETIONS, DISK_FIRST, INSERTIONS
from machines import THESIS

from memwalk.simcore.engines import native

WAY_BYTES = 256 << 10
"""Of its L3, 2 MB in 8 ways."""
SEARCHES: dict[str, Any] = {
    "kernel": "disk-index",
    "operation": "search",
    "page_bytes": 16384,
    "keys": 2_000_000,
    "operations": 3000,
    "caches": "warm",
    "warm_up": 15_000,
}


def run(**change: Any) -> tuple[dict[str, Any], int]:
    """Give what a run says besides time, and how often page table and descriptors were in no cache."""
    found = native.simulate(THESIS, SEARCHES | change)
    control = [row for row in found["breakdown"] if row["segment"] in {"page table", "frame descriptors"} and row["phase"] == "search"]
    return {name: found[name] for name in ("workload", "events", "instructions")}, sum(row["served"][-1] for row in control)


@pytest.mark.parametrize("structure", ["slotted", "array", "micro-index", "disk-first", "cache-first"])
def test_control_structures_stay_in_the_cache_that_frames_keep_off(structure: str) -> None:
    anywhere, misses = run(structure=structure)
    colored, left = run(structure=structure, coloring_way_bytes=WAY_BYTES)
    assert colored["workload"].pop("kept_off_bytes") > 0
    assert colored == anywhere
    assert left == 0
    assert misses > 10, "else the test says nothing"


def test_frames_lie_anywhere_if_control_structures_take_more_than_half_of_a_way() -> None:
    work = SEARCHES | {"structure": "array", "page_bytes": 2048}
    colored = native.simulate(THESIS, work | {"coloring_way_bytes": WAY_BYTES})
    assert colored["workload"].pop("kept_off_bytes") == 0, "the result says so"
    assert colored == native.simulate(THESIS, work)


@pytest.mark.parametrize(
    "work",
    [
        INSERTIONS | DISK_FIRST | {"fill": 1.0},
        DELETIONS,
        INSERTIONS | {"maturity": "mature", "structure": "cache-first", "node_lines": 9},
        SEARCHES,
    ],
    ids=["insertions", "deletions", "insertions into a mature tree", "searches by threads"],
)
def test_frames_that_keep_off_change_addresses_alone(work: dict[str, Any], tmp_path: Path) -> None:
    """Also where pages are divided, in mature trees and among threads; and a trace is its run."""
    work = work | {"keys": 50_000, "operations": 2000, "threads": 3 if work is SEARCHES else 1}
    work = work | ({"warm_up": 2000} if work["caches"] == "warm" else {})
    machine = THESIS | {"cores": work["threads"]} if work["threads"] > 1 else THESIS
    colored = work | {"coloring_way_bytes": WAY_BYTES}
    ran = native.simulate(machine, colored)
    did = {name: count for name, count in ran["workload"].items() if name != "kept_off_bytes"}
    anywhere = native.simulate(machine, work)
    assert (did, ran["events"]) == (anywhere["workload"], anywhere["events"])
    trace = tmp_path / "trace.parquet"
    native.record(colored, trace)
    assert native.replay(trace, machine) == ran
