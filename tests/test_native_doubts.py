"""What `memwalk native` and `memwalk run` say of numbers that are not what they look like."""

from pathlib import Path
from typing import Any

import pytest
from small_experiments import SCAN, experiment, rows

from memwalk.analysis import native
from memwalk.analysis.cli.tables import uncharged_pages
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.native_doubts import doubts

PAGES = "kernel: disk-index, structure: array, page_bytes: 2KiB, operation: search, keys: 5000, operations: 10, caches: empty"
SEARCH = "kernel: index, operation: search, tree: {kind: b+}, keys: 1000, operations: 50, caches: empty"
FASTER = "variants:\n  slow: {machine.memory.latency_cycles: 400cycles}\n  fast: {machine.memory.latency_cycles: 100cycles}\n"


def said(found: list[Row], **of_each: Any) -> list[str]:
    """Return what is doubtful about rows that take a millisecond for ten operations, and simulated one of 1 GHz."""
    outcome = {"operations": 10} | of_each.pop("workload", {})
    measured = {row.point.id: {"times_ns": [1e6, 1e6], "prefetches": True, "workload": outcome} | of_each for row in found}
    phases = [{"phase": "start"}, {"phase": "all"}]
    breakdown = [{"phase": "all", "slots": {"total": 4}}]
    one = {"phases": phases, "breakdown": breakdown, "slots": {"total": 4}, "cycles": 1000, "workload": outcome}
    compared = native.compare(found, measured, {row.point.id: one for row in found}, found[0].variant)
    return list(doubts(found, compared, measured))


def test_there_is_nothing_to_doubt(tmp_path: Path) -> None:
    assert said(rows(tmp_path, experiment(SEARCH)), processor_share=0.97) == []


def test_time_that_others_had_is_said(tmp_path: Path) -> None:
    """However steady it is."""
    (doubt,) = said(rows(tmp_path, experiment(SEARCH)), processor_share=0.6)
    assert doubt == "others had the processor for up to 40% of the time of search: they are timed, too"


def test_pages_that_come_are_copied_by_the_host_only(tmp_path: Path) -> None:
    found = rows(tmp_path, experiment(f"{PAGES}, pool_frames: 16"))
    (doubt,) = said(found, workload={"pages_read": 3})
    assert doubt.startswith("search: each page that comes into the pool is copied natively, and comes in no time in the simulation")
    assert said(found, workload={"pages_read": 0}) == []


def test_variants_that_are_one_program_are_named(tmp_path: Path) -> None:
    (doubt,) = said(rows(tmp_path, experiment(SEARCH, FASTER)))
    assert doubt.startswith("fast, slow are one workload on different machines: natively they are the same")
    assert said(rows(tmp_path, experiment(SEARCH, "variants:\n  many: {workload.keys: 2000}\n  few: {workload.keys: 1000}\n"))) == []


def test_calls_of_a_dbms_run_nowhere_natively(tmp_path: Path) -> None:
    called = "variants:\n  Shore: {dbms: shore-pentium2}\n  compiled: {dbms: compiled}\n"
    calls, same = said(rows(tmp_path, experiment(SCAN, called)))
    assert calls.startswith("calls of the DBMS of Shore, compiled take time in the simulation, and run nowhere natively")
    assert same.startswith("Shore, compiled are one workload on different machines")


def test_the_processors_share_of_one_thread_is_measured(tmp_path: Path) -> None:
    found = rows(tmp_path, experiment(SEARCH))
    (measured,) = native.run_natively(found, 1, lambda _: None).values()
    assert 0 < measured[native.BUSY] < 1.05


@pytest.mark.parametrize(
    ("frames", "read", "more", "warned"),
    [(16, 30, "", True), (16, 0, "", False), (0, 0, "", False), (50, 30, "", False), (16, 30, "storage: nvme-ssd\n", False)],
)
def test_pools_with_few_frames_and_no_storage_are_told(tmp_path: Path, frames: int, read: int, more: str, *, warned: bool) -> None:
    """Of 31 pages, 16 frames hold half."""
    found = rows(tmp_path, experiment(f"{PAGES}, pool_frames: {frames}", more))
    outcome = {"workload": {"leaf_pages": 30, "inner_pages": 1, "pages_read": read}}
    told = uncharged_pages(found, {found[0].point.id: outcome})
    assert [one.split(":")[0] for one in told] == ["warning"] * warned
    assert not warned or "in 1 of 1 row pages come without a `storage`" in told[0]


def test_cpuid_says_how_large_caches_are_where_the_system_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = [{"level": level, "size_bytes": size, "line_bytes": 64, "ways": 8} for level, size in ((1, 2**15), (3, 2**25))]
    monkeypatch.setattr(native.native, "host_processor", lambda: {"caches": caches})
    assert native.eviction_bytes(tmp_path) == 2 * 2**25
    monkeypatch.setattr(native.native, "host_processor", lambda: {"caches": []})
    assert native.eviction_bytes(tmp_path) == 2 * native.UNKNOWN_CACHE_BYTES
