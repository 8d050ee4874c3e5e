"""Threads that search, scan or change one index in pages through one buffer pool: what they find, where they wait, traces, storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from index_workloads import DELETIONS, DISK_FIRST, INSERTIONS
from machines import ZEN4
from storage_pages import pages_of

from memwalk.simcore.engines import native
from memwalk.simcore.storage.device import PARTS
from memwalk.simcore.storage.timed_pages import PageSpec

SEARCHES: dict[str, Any] = {
    "kernel": "disk-index",
    "operation": "search",
    "structure": "array",
    "page_bytes": 8192,
    "keys": 100_000,
    "operations": 2000,
    "caches": "empty",
}
SCANS = SEARCHES | {"operation": "scan", "operations": 4, "range": 40_000, "structure": "disk-first"}
FEW_FRAMES = {"pool_frames": 64}
OPTIMISTIC = {"latching": "optimistic"}
INSERTED, DELETED = INSERTIONS | {"operations": 1000}, DELETIONS | {"operations": 1000}
# Of so few pages some change while others read them.
READ_AND_INSERTED = INSERTIONS | {"keys": 40_000, "operations": 2000, "pool_frames": 48, "search_share": 0.5, "skew": 0.9}
WORKLOADS = {
    "searches in memory": SEARCHES,
    "searches": SEARCHES | FEW_FRAMES,
    "optimistic searches": SEARCHES | FEW_FRAMES | OPTIMISTIC,
    "optimistic searches for popular keys": SEARCHES | FEW_FRAMES | OPTIMISTIC | {"skew": 0.9, "caches": "warm", "warm_up": 500},
    "warm searches": SEARCHES | FEW_FRAMES | {"caches": "warm", "warm_up": 500},
    "scans": SCANS | FEW_FRAMES,
    "scans ahead": SCANS | {"pool_frames": 100, "distance_pages": 4},
    "optimistic scans ahead": SCANS | {"pool_frames": 100, "distance_pages": 4} | OPTIMISTIC,
    "insertions in memory": INSERTED,
    "insertions": INSERTED | FEW_FRAMES,
    "optimistic insertions among searches": READ_AND_INSERTED | OPTIMISTIC,
    "warm insertions into trees in pages": INSERTED | DISK_FIRST | FEW_FRAMES | {"caches": "warm", "warm_up": 500},
    "deletions": DELETED | FEW_FRAMES,
    "optimistic deletions": DELETED | FEW_FRAMES | OPTIMISTIC,
}


def searched(threads: int, machine: dict[str, Any] = ZEN4, **change: Any) -> dict[str, Any]:
    """Run searches in an index that the caches of each core hold."""
    work = {"keys": 10_000, "operations": 8000, "caches": "warm", "warm_up": 8000, "threads": threads}
    return native.simulate(machine, SEARCHES | work | change)


@pytest.mark.parametrize("work", WORKLOADS.values(), ids=WORKLOADS)
def test_a_trace_of_threads_is_their_run(tmp_path: Path, work: dict[str, Any]) -> None:
    work = work | {"threads": 3}
    live = native.simulate(ZEN4, work, observe={"counts": True})
    counted = live.pop("counts")
    trace = tmp_path / "trace.parquet"
    native.record(work, trace)
    assert native.replay(trace, ZEN4) == live
    assert native.count(trace, ZEN4) == counted


def test_pins_of_the_root_go_from_core_to_core() -> None:
    """Where caches are coherent, threads wait for the line of a pin count that all of them change; where they are not, for latches only."""
    apart = ZEN4 | {"coherence": None}
    alone, coherent, incoherent = searched(1), searched(8), searched(8, apart)
    assert 8 * incoherent["cycles"] < 1.5 * alone["cycles"]
    assert 8 * coherent["cycles"] > 4 * alone["cycles"]
    # Cycles under a latch, and the line's way: longer than without coherence.
    assert coherent["slots"]["barrier"] > 5 * incoherent["slots"]["barrier"] > 0

    rows: dict[str, int] = {}
    for row in coherent["breakdown"]:
        rows[row["segment"]] = rows.get(row["segment"], 0) + row["slots"]["dcache"]["other_cores"]
    of_pool = rows.pop("page table") + rows.pop("frame descriptors")
    assert of_pool > 50 * sum(rows.values()), "nobody writes into pages"


def test_who_reads_optimistically_waits_for_nobody() -> None:
    """Coherent caches each have what all read: eight threads search eight times as fast as one, as if no cache knew of others."""
    apart = ZEN4 | {"coherence": None}
    alone, coherent, incoherent = searched(1, **OPTIMISTIC), searched(8, **OPTIMISTIC), searched(8, apart, **OPTIMISTIC)
    assert 8 * coherent["cycles"] < 1.1 * alone["cycles"]
    assert coherent["cycles"] < 1.02 * incoherent["cycles"]
    assert coherent["slots"]["barrier"] == 0
    for row in coherent["breakdown"]:
        # Leaf pages come from the caches of others, once for each core.
        if row["segment"] in ("page table", "frame descriptors"):
            assert row["slots"]["dcache"]["other_cores"] == 0


def test_one_thread_pays_no_more_for_versions_than_for_pins() -> None:
    pinned, read = searched(1), searched(1, **OPTIMISTIC)
    assert read["workload"] == pinned["workload"]
    assert 0.95 < read["cycles"] / pinned["cycles"] < 1.05
    assert read["cycles"] != pinned["cycles"], "it does something else"


def stored(folder: Path, threads: int, **change: Any) -> dict[str, Any]:
    """Run searches whose pages are on four disks of 5 ms each."""
    folder.mkdir()
    pages = pages_of(folder, spec=PageSpec(16), disks=4)
    return native.simulate(ZEN4, SEARCHES | {"pool_frames": 130, "operations": 600, "threads": threads} | change, storage=pages)


def test_threads_keep_disks_busy_with_the_pages_of_one_pool(tmp_path: Path) -> None:
    runs = {threads: stored(tmp_path / str(threads), threads) for threads in (1, 2, 4, 8)}
    one = runs[1]
    for threads, run in runs.items():
        reads = run["pages"]["reads"]
        assert reads == run["workload"]["pages_read"]
        assert abs(reads - one["pages"]["reads"]) < 0.05 * one["pages"]["reads"], "what one thread has read is there for all"
        # Nobody waits in vain: as long as a page is read, who needs it waits.
        assert run["cycles"] * threads / one["cycles"] > 0.9 or threads > 4
        assert run["cycles"] < 1.02 * one["cycles"]
        for core in run.get("cores", [run]):
            wait = core["pages"]["wait"]
            assert set(wait) == set(PARTS)
    assert runs[4]["cycles"] < 0.5 * one["cycles"]
    assert runs[8]["cycles"] < runs[4]["cycles"]
    optimistic = stored(tmp_path / "optimistic", 4, **OPTIMISTIC)
    assert optimistic["workload"] == runs[4]["workload"]
    assert abs(optimistic["cycles"] / runs[4]["cycles"] - 1) < 0.05, "disks decide"


def test_a_pool_that_holds_everything_is_read_once(tmp_path: Path) -> None:
    """Four threads look for the same pages at the same time: each page is read once, and waited for by whoever needs it."""
    all_pages = native.simulate(ZEN4, SEARCHES)["workload"]
    pages = all_pages["leaf_pages"] + all_pages["inner_pages"]
    run = stored(tmp_path / "four", 4, pool_frames=pages + 20, operations=4000)
    assert run["pages"]["reads"] <= pages
    stops = sum(core["pages"]["stops"] for core in run["cores"])
    assert run["pages"]["reads"] < stops < 4 * run["pages"]["reads"]


@pytest.mark.parametrize("threads", [1, 4])
def test_pages_on_their_way_stay_in_their_frames(tmp_path: Path, threads: int) -> None:
    """Scans that ask 20 pages ahead, in the smallest pool: each page that is asked for is read once, and used."""
    pages = pages_of(tmp_path, spec=PageSpec(16), disks=4)
    work = SCANS | {"structure": "array", "distance_pages": 20, "pool_frames": 36 * threads, "threads": threads}
    run = native.simulate(ZEN4, work, storage=pages)
    assert run["workload"]["pages_read"] == pages.requests


def test_frames_that_threads_share_are_cooled_once_for_each_page(tmp_path: Path) -> None:
    """A device that takes no time changes nothing but for the lines of frames, which come cold: as many as pages have lines, and less."""
    work = SEARCHES | {"pool_frames": 64, "threads": 4}
    (tmp_path / "none").mkdir()
    quick = pages_of(tmp_path / "none", device=QUICK)
    live, timed = native.simulate(ZEN4, work), native.simulate(ZEN4, work, storage=quick)
    assert timed["workload"] == live["workload"]

    def from_memory(run: dict[str, Any]) -> int:
        return int(run["bus"]["fills"])

    lines = timed["pages"]["reads"] * (8192 // 64)
    assert from_memory(live) < from_memory(timed) < from_memory(live) + lines


QUICK = """\
schema_version: 1
description: a device that takes next to no time
source: made up for tests
kind: sequential-random
page_bytes: 8KiB
sequential_page: 0.001us
random_page: 0.001us
"""
