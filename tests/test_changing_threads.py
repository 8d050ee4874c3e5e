"""Threads that insert into one index in pages, or delete from it: latches of pages, storage, and what they wait for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from index_workloads import DELETIONS, DISK_FIRST, INSERTIONS, SCANS_AND_INSERTIONS
from machines import ZEN4
from storage_pages import pages_of

from memwalk.simcore.engines import native
from memwalk.simcore.storage.timed_pages import PageSpec

FEW_FRAMES = {"pool_frames": 100}


def test_what_cores_change_goes_from_one_to_the_other() -> None:
    """Where caches know nothing of each other, eight cores insert as fast as eight alone, but for latches.

    Coherent ones fetch what others wrote. Pins are written by all; versions, and lines of pages, by who changes them.
    """
    work = INSERTIONS | {"keys": 11_000, "operations": 4400, "caches": "warm", "warm_up": 11_000}
    alone = native.simulate(ZEN4, work)
    for latching, slower in (("pessimistic", (2.0, 4.0)), ("optimistic", (1.03, 1.3))):
        eight = work | {"latching": latching, "threads": 8}
        coherent, apart = native.simulate(ZEN4, eight), native.simulate(ZEN4 | {"coherence": None}, eight)
        assert apart["workload"] == coherent["workload"]
        assert apart["workload"]["page_splits"] == alone["workload"]["page_splits"] > 20
        assert 1.0 < 8 * apart["cycles"] / alone["cycles"] < 1.7, "there are few pages"
        assert slower[0] < coherent["cycles"] / apart["cycles"] < slower[1]
        moved = {row["segment"]: 0 for row in coherent["breakdown"]}
        for row in coherent["breakdown"]:
            moved[row["segment"]] += row["slots"]["dcache"]["other_cores"]
        assert moved["level 0 (leaf pages)"] > 0
        assert moved["page buffer"] < 0.01 * sum(moved.values()), "each thread has its own"


def test_who_inserts_into_one_page_waits_for_the_others() -> None:
    """All insertions go into one page, whose latch one thread has at a time: several are no faster than one."""
    one_page = INSERTIONS | {"keys": 100, "operations": 400, "page_bytes": 32768, "caches": "warm", "warm_up": 100}
    for latching in ("pessimistic", "optimistic"):
        work = one_page | {"latching": latching}
        alone, four = (native.simulate(ZEN4, work | {"threads": threads}) for threads in (1, 4))
        assert four["cycles"] > 0.8 * alone["cycles"]
        assert four["slots"]["barrier"] > 0.5 * four["slots"]["busy"]


def test_who_reads_in_vain_reads_again() -> None:
    """Searches for keys of one page, which others change: some are in vain, and all are done again.

    Searches alone are never in vain. With a pool of few frames, readings that have asked for a page are counted only.
    """
    few = INSERTIONS | {"keys": 400, "operations": 2000, "caches": "empty", "latching": "optimistic", "threads": 8, "search_share": 0.7}
    readings = native.simulate(ZEN4, few)["readings"]
    assert 0.02 < readings["in_vain"] / readings["ended"] < 0.6
    assert readings["repeated"] == readings["in_vain"]
    searches = {name: value for name, value in few.items() if name not in ("search_share", "upward_moves")} | {"operation": "search"}
    assert "readings" not in native.simulate(ZEN4, searches), "nobody changes anything"
    assert "readings" not in native.simulate(ZEN4, few | {"latching": "pessimistic"}), "pages are held"
    assert "readings" not in native.simulate(ZEN4, few | {"threads": 1}), "nobody else changes anything"
    paging = native.simulate(ZEN4, few | {"keys": 100_000, "pool_frames": 128})["readings"]
    assert paging["in_vain"] > paging["repeated"], "pages come once"


def test_changed_pages_go_to_disks(tmp_path: Path) -> None:
    """Four threads keep four disks busy; all that the pool reads and writes is done by them."""
    cycles = {}
    for threads in (1, 4):
        folder = tmp_path / str(threads)
        folder.mkdir()
        pages = pages_of(folder, spec=PageSpec(8), disks=4)
        work = INSERTIONS | FEW_FRAMES | {"operations": 600, "threads": threads}
        run = native.simulate(ZEN4, work, storage=pages)
        left = run["workload"]
        assert run["pages"]["reads"] == left["pages_read"] > 100
        assert run["pages"]["writes"] == left["pages_written"] > 100
        cycles[threads] = run["cycles"]
    assert cycles[4] < 0.6 * cycles[1]


@pytest.mark.parametrize(
    "work", [INSERTIONS, INSERTIONS | DISK_FIRST, DELETIONS, SCANS_AND_INSERTIONS], ids=["array", "disk-first", "slotted", "scans"]
)
@pytest.mark.parametrize("latching", ["pessimistic", "optimistic"])
def test_nobody_waits_for_ever(tmp_path: Path, work: dict[str, Any], latching: str) -> None:
    """Few frames change pages all the time, while threads wait for disks and hold pages above those that they split."""
    pages = pages_of(tmp_path, spec=PageSpec(4), disks=2)
    few = {"page_bytes": 2048, "pool_frames": 128, "threads": 8, "operations": 1200, "fill": 1.0, "latching": latching}
    run = native.simulate(ZEN4, work | few, storage=pages)
    assert run["workload"]["operations"] == 1200
    assert (run["workload"]["page_splits"] > 100) == (work["operation"] != "delete")


def test_who_scans_among_insertions_reads_pages_again() -> None:
    """The more of the operations insert into pages that others scan, the more readings are in vain; with latches nobody reads so."""
    small = SCANS_AND_INSERTIONS | {"keys": 3000, "operations": 2000, "range": 100, "threads": 8, "latching": "optimistic"}
    readings = [native.simulate(ZEN4, small | {"insert_share": share})["readings"] for share in (0.01, 0.5)]
    few, many = (one["in_vain"] / one["ended"] for one in readings)
    assert many > 5 * few
    assert "readings" not in native.simulate(ZEN4, small | {"latching": "pessimistic"})


def test_natively_one_thread_changes_an_index() -> None:
    with pytest.raises(native.SpecError, match="2, which change one index; natively only one thread can"):
        native.run_native(INSERTIONS | {"threads": 2}, repetitions=1, evict_bytes=0)
    measured = native.run_native(INSERTIONS | {"latching": "optimistic"}, repetitions=1, evict_bytes=0)
    assert measured["workload"]["page_splits"] == native.simulate(ZEN4, INSERTIONS)["workload"]["page_splits"]
