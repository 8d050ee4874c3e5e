"""Advice on indexes that several cores insert into, or that are read optimistically: plain runs of the kernel, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from index_advice import NAMES, NOTHING, advise, an_advice, by_name, ranked, seconds, several, simulate_few, task, thesis

from memwalk.analysis.advice.indexes.candidates import Candidate, workload
from memwalk.analysis.advice.indexes.page_intervals import exchange_interval_seconds, page_interval_seconds
from memwalk.analysis.advice.indexes.predict import predict
from memwalk.analysis.advice.indexes.rank import IndexAdvice, advice
from memwalk.analysis.advice.indexes.reasons import reasons
from memwalk.analysis.advice.indexes.simulate import OPERATIONS, simulate, simulated_frames
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.advice.indexes.warm_up import cache_filling, pool_filling
from memwalk.analysis.experiments.simulation import StorageRun
from memwalk.analysis.experiments.simulation import simulate as simulate_point
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.system import System

INSERTING: dict[Operation, float] = {**NOTHING, "insert": 1.0}
INSERTIONS = OPERATIONS["insert"]
KEYS = 40_000
"""So few that the whole index is simulated, and so many that caches of the small machine do not hold it."""
SOME = 4096 * 70
"""Memory for most of its pages, with 16 frames for each of four cores."""
LEFT_OUT = "cache-first is left out: its nodes have parents in other pages, and insertions by several cores have no latches for these."


def inserting(cores: int, **given: Any) -> IndexTask:
    return several(cores, **({"keys": KEYS, "mix": INSERTING} | given))


def advised(candidate: Candidate, asked: IndexTask) -> IndexAdvice:
    return advice(candidate, asked, partial(simulate, candidate, task=asked))


def plain(candidate: Candidate, asked: IndexTask) -> Statistics:
    """Run the kernel as the advice should, on the device if memory does not hold all pages."""
    frames = simulated_frames(candidate, asked)
    run = workload(candidate, operation="insert", keys=asked.keys, operations=OPERATIONS["insert"], pool_frames=frames, caches="warm")
    run |= {"threads": asked.cores, "latching": "optimistic" if asked.optimistic else "pessimistic"}
    run["warm_up"] = pool_filling(candidate, "insert", asked, frames) if frames else cache_filling(candidate, "insert", asked)
    return simulate_point(dict(asked.machine), run, storage=StorageRun(None, System(asked.device)) if frames else None)


@pytest.mark.nightly
@pytest.mark.parametrize(("optimistic", "names"), [(True, {"array", "disk-first"}), (False, {"slotted", "micro-index"})])
def test_insertions_in_memory_take_what_a_plain_run_of_the_kernel_takes(names: set[str], *, optimistic: bool) -> None:
    asked = inserting(4, coherent=True, optimistic=optimistic)
    assert asked.simulated_keys == KEYS
    width = asked.machine["core"]["issue_width"]
    known = by_name(asked)
    assert set(known) == NAMES - {"cache-first"}
    found, costs = {}, {}
    for name in names:
        candidate = known[name]
        run, cost = plain(candidate, asked), simulate(candidate, "insert", asked)
        slots = run["slots"]
        assert cost.cycles == pytest.approx(slots["total"] / width / INSERTIONS)
        # Nothing that cores do is left out: each is as long under way as all of them, but that some end a few operations earlier.
        assert cost.cycles == pytest.approx(4 * run["cycles"] / INSERTIONS, rel=0.05)
        assert cost.transfer_cycles == pytest.approx(slots["dcache"]["other_cores"] / width / INSERTIONS)
        # Waits for others are for latches, whose words are these: of chains, of CLOCK, and of pages.
        latches = sum(row["slots"]["barrier"] for row in run["breakdown"] if row["segment"] in ("page table", "frame descriptors"))
        assert 0 < latches == slots["barrier"]
        assert cost.latch_cycles == pytest.approx(latches / width / INSERTIONS)
        found[name] = run["cycles"]
        costs[name] = cost
    told = sorted(names, key=lambda name: advice(known[name], asked, lambda _: costs[name]).simulated_seconds)
    assert told == sorted(names, key=lambda name: found[name])


@pytest.mark.nightly
def test_cores_whose_caches_are_apart_wait_for_latches_only() -> None:
    alone, apart, coherent = (inserting(cores, coherent=together) for cores, together in ((1, False), (4, False), (4, True)))
    optimistic = replace(coherent, optimistic=True)
    array = by_name(alone)["array"]
    of_one, of_apart, of_coherent, of_optimistic = (simulate(array, "insert", asked) for asked in (alone, apart, coherent, optimistic))
    assert (of_one.latch_cycles, of_one.transfer_cycles, of_apart.transfer_cycles) == (0, 0, 0)
    assert 0 < of_apart.latch_cycles < 0.05 * of_apart.cycles
    assert of_apart.cycles - of_apart.latch_cycles == pytest.approx(of_one.cycles, rel=0.1)
    # Coherent caches of four cores hold the index together.
    assert of_coherent.cycles < of_apart.cycles
    assert 0 < of_optimistic.transfer_cycles < of_coherent.transfer_cycles
    # Readers that change nothing leave what insertions change to be waited for: in arrays, where half a page is moved, most of it.
    assert of_optimistic.latch_cycles > 0
    tree = by_name(alone)["disk-first"]
    pinned, read = (simulate(tree, "insert", asked) for asked in (coherent, optimistic))
    assert 0 < read.latch_cycles < 0.9 * pinned.latch_cycles
    # One core that reads optimistically looks at versions, and waits for nobody.
    lonely = simulate(array, "insert", replace(alone, optimistic=True))
    assert lonely.cycles == pytest.approx(of_one.cycles, rel=0.03)
    assert lonely.latch_cycles == 0


@pytest.mark.parametrize("optimistic", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_insertions_on_flash_take_what_a_plain_run_takes_and_wait_for_programs(
    monkeypatch: pytest.MonkeyPatch, *, optimistic: bool
) -> None:
    simulate_few(monkeypatch, requests=500, insert=1200)
    asked = inserting(4, machine=thesis(), keys=300_000, memory_bytes=SOME, optimistic=optimistic)
    array = by_name(asked)["array"]
    run, found = plain(array, asked), advised(array, asked)
    left, insertions = run["workload"], OPERATIONS["insert"]
    assert found.simulated_page_reads == pytest.approx(left["pages_read"] / insertions)
    assert found.simulated_page_writes == pytest.approx(left["pages_written"] / insertions)
    assert found.simulated_page_writes == pytest.approx(found.simulated_page_reads, rel=0.1), "all pages are changed, and leave so"
    assert found.predicted_page_writes == pytest.approx(found.predicted_page_reads), "pages above leaves are in memory"
    clock = 4 * run["cycles"] / insertions / float(asked.machine["clock_hz"])
    assert found.simulated_seconds == pytest.approx(clock, rel=0.03)
    assert found.queued > 0.05 * found.simulated_page_reads
    assert found.device_seconds < found.simulated_seconds


def test_a_disk_has_as_much_to_write_as_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, requests=500, insert=1000, search=1000)
    disk = load_device("cheetah-15k4")
    asked = inserting(4, memory_bytes=SOME, device=disk)
    array = by_name(asked)["array"]
    found = advised(array, asked)
    exchange = exchange_interval_seconds(disk, 4096, 4)
    assert exchange > 2 * page_interval_seconds(disk, 4096, 4)
    both = min(found.simulated_page_reads, found.predicted_page_writes)
    read = found.simulated_page_reads - both
    assert found.device_seconds == pytest.approx(4 * (both * exchange + read * asked.page_interval(4096)))
    assert found.simulated_seconds >= found.device_seconds * (1 - 1e-12)
    assert found.predicted_seconds > 1.9 * advised(array, replace(asked, mix={**NOTHING, "search": 1.0})).predicted_seconds
    said = reasons([found], asked)
    assert "behind those of other cores and pages that are written, take" in said[0]
    assert any(reason.endswith("of the time a core waits for page reads of other cores and pages that are written.") for reason in said)
    (bound,) = [reason for reason in said if reason.startswith("The device bounds them: it brings a page every ")]
    assert bound.endswith(", and writes those that insertions change, however many cores ask.")


def test_searches_push_out_what_insertions_have_changed() -> None:
    """With one insertion in ten operations, and nine tenths of the leaf pages in memory, half of what leaves has been changed."""
    asked = task(keys=400_000, memory_bytes=4096 * 800, mix={**NOTHING, "search": 9.0, "insert": 1.0})
    array = by_name(asked)["array"]
    frames = 3 + round(0.9 * array.pages(asked.keys)[0])
    written = {one: predict(array, one, asked, asked.keys, frames).page_writes for one in ("search", "insert")}
    assert written["search"] == written["insert"] == pytest.approx(0.0526, rel=0.01)
    run = workload(array, operation="insert", search_share=0.9, keys=asked.keys, operations=15_000, pool_frames=frames, caches="empty")
    counted = [native.simulate(dict(asked.machine), run | {"operations": count})["workload"]["pages_written"] for count in (5000, 20_000)]
    assert (counted[1] - counted[0]) / 15_000 == pytest.approx(0.0526, rel=0.1)


def test_scans_push_out_more() -> None:
    asked = task(keys=400_000, scan_range=4530, mix={**NOTHING, "scan": 1.0, "insert": 1.0})
    array = by_name(asked)["array"]
    scan, insert = (predict(array, one, asked, asked.keys, 500) for one in ("scan", "insert"))
    assert scan.page_writes == pytest.approx(11 * insert.page_writes)
    # Of twelve leaf pages that two operations want, one is changed, and pages are wanted more than once before they leave.
    assert insert.page_reads / 12 < insert.page_writes < insert.page_reads / 5


def test_one_core_writes_what_it_reads_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated pool hardly writes before its frames have gone round, where the disk has two pages to move for each that is read."""
    simulate_few(monkeypatch, requests=1000, insert=1500)
    disk = load_device("cheetah-15k4")
    asked = task(machine=thesis(), keys=20_000_000, memory_bytes=150 << 20, device=disk, mix=INSERTING)
    found = advised(by_name(asked)["array"], asked)
    assert found.simulated_page_writes < 0.5 * found.predicted_page_writes
    exchange = exchange_interval_seconds(disk, 4096, 1)
    assert found.device_seconds >= 0.9 * found.predicted_page_writes * exchange > 1.2 * found.simulated_page_reads * found.page_seconds
    assert found.simulated_seconds >= found.device_seconds
    assert found.predicted_seconds >= found.predicted_page_writes * exchange
    assert any(reason.startswith("The simulated pool has no changed pages in the beginning") for reason in reasons([found], asked))


def test_a_drive_of_flash_that_writes_brings_no_more_pages_than_one_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, requests=1500)
    flash = load_device("nvme-ssd")
    few, many = 2, 64
    assert exchange_interval_seconds(flash, 4096, few) == page_interval_seconds(flash, 4096, few), "dies have time left for writing"
    assert exchange_interval_seconds(flash, 4096, many) > 1.5 * page_interval_seconds(flash, 4096, many)


SMALL = ("--page-sizes", "4KiB", "--sample", "5000")


@pytest.mark.parametrize("more", [pytest.param(("--cores", "2"), marks=pytest.mark.nightly), ("--optimistic",)])
def test_cache_first_trees_are_left_out_and_that_is_told(monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]) -> None:
    simulate_few(monkeypatch, requests=500, insert=500, search=500)
    answer = ranked(*SMALL, "--searches", "1", "--inserts", "1", *more)
    assert {one["index"] for one in answer["indexes"]} == NAMES - {"cache-first"}
    line = LEFT_OUT if "--cores" in more else LEFT_OUT.replace("by several cores", "where pages are read optimistically")
    assert line in answer["reasons"]
    apart = [ranked(*SMALL, *only, *more) for only in ((), ("--inserts", "1"))]
    assert {one["index"] for one in apart[0]["indexes"]} == NAMES
    assert not any("left out" in reason for reason in apart[0]["reasons"] if reason.startswith("cache-first"))
    for one, time in seconds(answer).items():
        assert time == pytest.approx(sum(seconds(part)[one] for part in apart) / 2)


def test_one_core_with_pins_has_all_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, insert=500)
    answer = ranked(*SMALL, "--inserts", "1")
    assert {one["index"] for one in answer["indexes"]} == NAMES
    assert not any("is left out" in reason for reason in answer["reasons"])


@pytest.mark.parametrize("how", [{"threads": 2}, {"latching": "optimistic"}])
def test_the_kernel_refuses_what_is_left_out(how: dict[str, Any]) -> None:
    asked = several(1, keys=KEYS)
    run = workload(by_name(asked)["cache-first"], operation="insert", keys=KEYS, operations=10, caches="empty", **how)
    with pytest.raises(native.SpecError, match="parents in other pages"):
        native.simulate(dict(asked.machine), run)


def test_popular_keys_are_not_inserted_by_several_cores_either() -> None:
    done = advise("--cores", "2", "--skew", "0.9", "--inserts", "1")
    assert done.exit_code == 2
    assert "--inserts 1: no key is inserted twice, so that none is popular" in done.stderr


def test_a_pool_that_has_hardly_written_is_told() -> None:
    asked = inserting(4, coherent=True)
    array = replace(an_advice("array", 4096, 1.0, 0.5, cores=4), predicted_page_writes=0.5)
    few, enough = (reasons([replace(array, simulated_page_writes=writes)], asked) for writes in (0.1, 0.45))
    told = (
        "The simulated pool has no changed pages in the beginning, and writes 0.1 for each operation with array;"
        " in the long run it would be some 0.5, for which page reads may wait longer."
    )
    assert told in few
    assert not any("in the beginning" in reason for reason in enough)
    assert LEFT_OUT in enough

    waiting = an_advice("array", 4096, 1.0, 0.0, cores=4, latches=0.5)
    says = "A buffer manager whose readers change nothing would wait only for what insertions change: ask with --optimistic."
    assert says in reasons([waiting], asked)
