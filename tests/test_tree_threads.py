"""Threads that search or scan one tree in memory: traces, this processor, and what cores that share the memory leave each other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from machines import ZEN4

from memwalk.simcore.engines import native

WIDE = {"kind": "b+", "node_lines": 8, "prefetch": True}
SEARCHES: dict[str, Any] = {"kernel": "index", "operation": "search", "tree": WIDE, "keys": 300_000, "operations": 3000, "caches": "empty"}
SCANS = SEARCHES | {"operation": "scan", "range": 20_000, "operations": 3, "tree": WIDE | {"jump_pointers": "external"}}
WORKLOADS = {
    "searches": SEARCHES,
    "warm searches for popular keys": SEARCHES | {"caches": "warm", "warm_up": 900, "skew": 0.9},
    "scans": SCANS,
}


@pytest.mark.parametrize("work", WORKLOADS.values(), ids=WORKLOADS)
def test_a_trace_of_threads_is_their_run(tmp_path: Path, work: dict[str, Any]) -> None:
    work = work | {"threads": 3}
    live = native.simulate(ZEN4, work)
    trace = tmp_path / "trace.parquet"
    native.record(work, trace)
    assert native.replay(trace, ZEN4) == live


@pytest.mark.parametrize("work", WORKLOADS.values(), ids=WORKLOADS)
def test_threads_on_this_processor_find_what_they_find_in_simulation(work: dict[str, Any]) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("threads natively take as many processors")
    work = work | {"threads": 2}
    ran = native.run_native(work, 2, 0)
    assert all(time > 0 for time in ran["times_ns"])
    assert ran["workload"] == native.simulate(ZEN4, work)["workload"]


def test_nobody_takes_lines_from_others() -> None:
    """Nothing is written: eight cores search eight times as fast as one, where memory has lines for all of them."""
    work = SEARCHES | {"operations": 4000, "caches": "warm", "warm_up": 20_000}
    alone, eight = (native.simulate(ZEN4, work | {"threads": threads}) for threads in (1, 8))
    assert 0.9 < 8 * eight["cycles"] / alone["cycles"] < 1.15
    assert eight["slots"]["barrier"] == 0


def test_wide_nodes_pay_until_memory_is_busy() -> None:
    """If a line takes the memory longer, nodes of 16 lines gain on one core what they lose on eight."""
    slow = ZEN4 | {"memory": ZEN4["memory"] | {"interval_cycles": 12}}
    cycles = {}
    for lines in (4, 16):
        for threads in (1, 8):
            work = SEARCHES | {
                "tree": WIDE | {"node_lines": lines},
                "keys": 2_000_000,
                "word_bytes": 8,
                "operations": 4000,
                "threads": threads,
            }
            cycles[lines, threads] = native.simulate(slow, work)["cycles"]
    assert cycles[16, 1] < 1.05 * cycles[4, 1]
    assert cycles[16, 8] > 1.2 * cycles[4, 8]
