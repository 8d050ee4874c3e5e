"""Advice on indexes in pages: what is predicted and simulated, how the ranking follows memory, storage and operations, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import astuple, replace
from functools import cache, partial
from math import log2
from pathlib import Path
from typing import Any

import pytest
from files import ROOT
from typer.testing import CliRunner, Result

from memwalk.analysis.advice.indexes.candidates import CONSCIOUS, STRUCTURES, Candidate, candidates, workload
from memwalk.analysis.advice.indexes.measured import measured
from memwalk.analysis.advice.indexes.page_intervals import page_interval_seconds
from memwalk.analysis.advice.indexes.page_reads import held
from memwalk.analysis.advice.indexes.predict import Cost, predict
from memwalk.analysis.advice.indexes.rank import IndexAdvice, advice
from memwalk.analysis.advice.indexes.reasons import reasons
from memwalk.analysis.advice.indexes.simulate import simulate, simulated_frames
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cli.main import app
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.storage import load_device, page_blocks, page_times_ps
from memwalk.simcore.yaml_source import load

NAMES = {structure.name for structure in STRUCTURES}
NOTHING: dict[Operation, float] = {"search": 0.0, "scan": 0.0, "insert": 0.0}
MIB = 1 << 20


@cache
def thesis() -> dict[str, Any]:
    return load_machine("thesis-simulator").native()


def small_caches() -> dict[str, Any]:
    """The thesis's machine with little caches, so that little indexes leave them."""
    machine = thesis()
    sizes = [machine["caches"][0]["size_bytes"], 32 << 10, 128 << 10]
    return {**machine, "caches": [{**cache, "size_bytes": size} for cache, size in zip(machine["caches"], sizes, strict=True)]}


def task(**given: Any) -> IndexTask:
    asked = {"machine": small_caches(), "device": load_device("nvme-ssd"), "keys": 1_000_000, "memory_bytes": 64 * MIB, "key_bytes": 4}
    also = {"page_sizes": (4096,), "mix": {**NOTHING, "search": 1.0}, "scan_range": 1000, "sample": 20_000_000}
    return IndexTask(**(asked | also | given))


def by_name(asked: IndexTask) -> dict[str, Candidate]:
    return {one.structure.name: one for one in candidates(asked)}


def advise(*arguments: str, machine: str = "thesis-simulator", small: bool = True, storage: str = "nvme-ssd") -> Result:
    settings = ("machine.caches.L2.size_bytes=32KiB", "machine.caches.L3.size_bytes=128KiB") if small else ()
    words = [word for setting in settings for word in ("--set", setting)]
    given = ["--machine", machine, "--storage", storage, *words]
    if "--keys" not in arguments:
        given += ["--keys", "1000000"]
    if "--memory" not in arguments:
        given += ["--memory", "64MiB"]
    return CliRunner().invoke(app, ["advise", "index", *given, *arguments])


def ranked(*arguments: str, **others: Any) -> dict[str, Any]:
    result = advise("--json", *arguments, **others)
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def seconds(answer: dict[str, Any]) -> dict[tuple[str, int], float]:
    return {(one["index"], one["page_bytes"]): one["simulated_seconds"] for one in answer["indexes"]}


def test_pages_are_those_of_the_format() -> None:
    found = by_name(task())
    # 4032 bytes behind a line of header: 504 entries of 8 bytes, or 403 with a slot of 2; nine tenths of them are there.
    assert found["array"].entries == 453
    assert found["slotted"].entries == 362
    assert found["array"].pages(1_000_000) == [2208, 5, 1]
    assert found["array"].visited(1_000_000) == [1, 1, 1]
    assert found["cache-first"].visited(1_000_000)[0] == 1, "a leaf page, and pages of nodes above"


@pytest.mark.parametrize("key_bytes", [4, 8, 20])
def test_the_kernel_takes_every_candidate_and_has_the_pages_that_are_counted(key_bytes: int) -> None:
    asked = task(key_bytes=key_bytes, page_sizes=(2048, 4096, 8192, 16384, 32768), keys=100_000)
    for candidate in candidates(asked):
        run = workload(candidate, operation="search", keys=100_000, operations=1, pool_frames=0, caches="empty")
        found = native.simulate(thesis(), run)["workload"]
        pages = candidate.pages(100_000)
        assert found["leaf_pages"] == pytest.approx(pages[0], rel=0.06), candidate
        if candidate.structure.name != "cache-first":
            assert found["levels"] == len(pages)
        assert found["inner_pages"] == pytest.approx(sum(pages[1:]), rel=0.2, abs=2), candidate


def test_a_pool_holds_upper_levels_first() -> None:
    assert held([100, 10, 1], 61) == [0.5, 1, 1]
    assert held([100, 10, 1], 5) == [0, 0.4, 1]
    assert held([100, 10, 1], 500) == [1, 1, 1]


def test_predictions_by_hand() -> None:
    asked = task()
    found = by_name(asked)
    # T1 is 250, T_next 15, T_tlb 30; the last cache, of 128 KiB, takes 12 and has the upper levels (6 pages), but not the leaves.
    array = predict(found["array"], "search", asked, 1_000_000, 5 + 1 + 1104)
    steps = log2(453 * 4 / 64) + 1 + 1
    assert array.cycles == pytest.approx(steps * 250 + 30 + 2 * steps * 12)
    assert array.page_reads == pytest.approx(0.5)
    tree = found["disk-first"]
    assert tree.parameters == {"nonleaf_lines": 1, "leaf_lines": 6}, "Table 3.1"
    in_page = 250 + 250 + 5 * 15  # a node of one line, and a leaf of six
    cached = 12 + 12 + 5 * 12
    assert predict(tree, "search", asked, 1_000_000, 1 << 30) == Cost(in_page + 30 + 2 * cached, 0)

    # A scan of 1000 entries reads as many pages more as hold them, and their lines: fetched ahead in trees, one by one in arrays.
    scan = predict(found["array"], "scan", asked, 1_000_000, 5 + 1 + 1104)
    assert scan.page_reads == pytest.approx(0.5 + 0.5 * 1000 / 453)
    assert scan.cycles - array.cycles == pytest.approx(1000 * 4 / 64 * 250)
    ahead = predict(tree, "scan", asked, 1_000_000, 1 << 30).cycles - predict(tree, "search", asked, 1_000_000, 1 << 30).cycles
    assert ahead == pytest.approx(1000 * 8 / 64 * 15)

    # An insertion moves half a page in an array, and half a node in a tree.
    insert = predict(found["array"], "insert", asked, 1_000_000, 1 << 30)
    assert insert.cycles - array.cycles == pytest.approx(250 + 63 / 2 * 15)
    assert insert.page_reads == 0


def test_costs_add_up_by_weight() -> None:
    asked = task(mix={"search": 3.0, "scan": 0.0, "insert": 1.0})
    costs = {"search": Cost(100, 0.5), "insert": Cost(300, 1.0, 0.25)}
    found = advice(by_name(asked)["array"], asked, lambda operation: costs[operation])
    page = asked.page_seconds(4096)
    assert (found.simulated_cycles, found.simulated_page_reads, found.queued) == (150, 0.625, 0.0625)
    assert found.simulated_seconds == pytest.approx(150 / 1.5e9 + 0.6875 * page)
    assert found.io_seconds == pytest.approx(0.6875 * page)
    assert 70e-6 < page < 80e-6
    assert (found.pages, found.held) == (2214, 1.0)


def test_what_is_simulated_is_bounded_and_has_the_same_share_in_memory() -> None:
    large = task(keys=100_000_000, memory_bytes=400 * MIB)
    assert large.simulated_keys == 3 * (128 << 10) // 8
    array = by_name(large)["array"]
    frames, pages = simulated_frames(array, large), sum(array.pages(large.simulated_keys))
    assert frames / pages == pytest.approx(102_400 / sum(array.pages(100_000_000)), abs=0.01)
    assert task(sample=2000).simulated_keys == 2000
    assert task(sample=2000).is_small
    assert not large.is_small
    assert simulated_frames(by_name(task())["array"], task()) == 0, "all pages are in memory"


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_simulated_page_reads_are_those_predicted(share: float) -> None:
    """Searches draw pages evenly, so that the pool's misses are known; and what more keys cost is taken from the models."""
    asked = task(keys=200_000, sample=100_000)
    for candidate in candidates(asked):
        some = replace(asked, memory_bytes=round(share * sum(candidate.pages(200_000))) * 4096)
        expected = predict(candidate, "search", some, 200_000, some.frames(4096)).page_reads
        found = simulate(candidate, "search", some)
        tolerance = 0.15 if candidate.structure.name == "cache-first" else 0.08
        assert found.page_reads == pytest.approx(expected, rel=tolerance, abs=0.02), candidate.structure.name


def test_pages_of_narrow_nodes_are_missed_too() -> None:
    """Nodes of three lines of 32 bytes: parents of leaves have pages of their own, one for each 85 of them, and a small pool reads some."""
    asked = task(machine=load_machine("powerpc-601-75").native(), keys=393_216, memory_bytes=150 * 8192, page_sizes=(8192,))
    candidate = by_name(asked)["cache-first"]
    assert candidate.parameters == {"node_lines": 3}
    expected = predict(candidate, "search", asked, 393_216, 150).page_reads
    assert expected > 1
    assert simulate(candidate, "search", asked).page_reads == pytest.approx(expected, rel=0.08)


def test_what_more_keys_cost_is_what_the_models_say() -> None:
    large, small = task(sample=2000), task(keys=2000)
    array = by_name(large)["array"]
    more = predict(array, "search", large, 1_000_000, 1 << 30).cycles - predict(array, "search", small, 2000, 1 << 30).cycles
    assert more > 0
    assert simulate(array, "search", large).cycles - simulate(array, "search", small).cycles == pytest.approx(more)


def test_pages_that_are_written_are_waited_for_on_a_disk() -> None:
    asked = task(keys=100_000, memory_bytes=MIB // 2, device=load_device("cheetah-15k4"))
    array = by_name(asked)["array"]
    assert simulate(array, "insert", asked).queued > 0.1
    assert simulate(array, "search", asked).queued == 0


def test_programs_of_flash_are_waited_for() -> None:
    """Reads of a drive that serves several at once wait inside, for a die that programs a page."""
    asked = task(machine=thesis(), keys=2_000_000, memory_bytes=9 * MIB // 2)
    array = by_name(asked)["array"]
    inserted = simulate(array, "insert", asked)
    assert 0.04 * inserted.page_reads < inserted.queued < 0.5 * inserted.page_reads
    assert simulate(array, "search", asked).queued == pytest.approx(0, abs=1e-4)


def test_a_drive_has_pages_in_its_buffer_if_they_are_few() -> None:
    """A hundred pages are simulated, of which the buffer holds a fifth. A tenth of these hits is left for an index 10 times as large."""
    few, many = (task(keys=keys, memory_bytes=keys * 5) for keys in (100_000, 1_000_000))
    of_few, of_many = (simulate(by_name(asked)["array"], "insert", asked) for asked in (few, many))
    assert few.simulated_keys == many.simulated_keys == 49_152
    assert of_few.nearby / of_few.page_reads == pytest.approx(-0.1, rel=0.1)
    assert of_many.nearby == pytest.approx(of_few.nearby / 10, rel=0.06)
    assert of_few.queued == pytest.approx(of_few.nearby, abs=1e-4), "and who has few pages never meets a plane that programs"


def several(cores: int, *, machine: dict[str, Any] | None = None, coherent: bool = False, **given: Any) -> IndexTask:
    """A task for so many cores, of little caches unless a machine is given, which know of each other or do not."""
    one = machine or small_caches()
    coherence = {"protocol": "moesi", "transfer_cycles": 60} if coherent else None
    return task(machine={**one, "cores": cores, "coherence": coherence} if cores > 1 else one, **given)


def rate(found: IndexAdvice, asked: IndexTask) -> float:
    """Operations per second of all cores together, by the time that one takes on a core."""
    assert found.operations_per_second == pytest.approx(asked.cores / found.simulated_seconds)
    return found.operations_per_second


def on_cores(structure: str, **given: Any) -> Callable[..., float]:
    """Tell the rate of an index on so many cores."""

    def found(cores: int, **others: Any) -> float:
        asked = several(cores, **given, **others)
        candidate = by_name(asked)[structure]
        return rate(advice(candidate, asked, partial(simulate, candidate, task=asked)), asked)

    return found


def test_cores_that_search_in_memory_meet_at_the_root_if_caches_are_coherent() -> None:
    # The caches of each core hold the index, so that nobody needs lines of others but those of pin counts and latches.
    within = on_cores("array", keys=10_000)
    alone, apart, coherent = within(1), within(4), within(4, coherent=True)
    assert 3.8 * alone < apart < 4.05 * alone
    assert 1.1 * alone < coherent < 0.7 * apart
    # The same where no cache holds it, and the warm-up is as long as one of several cores.
    larger = on_cores("array", keys=200_000)
    assert 3.8 * larger(1) < larger(4) < 4.05 * larger(1)

    asked = several(4, coherent=True, keys=10_000)
    found = simulate(by_name(asked)["array"], "search", asked)
    assert 0.2 * found.cycles < found.latch_cycles + found.transfer_cycles < found.cycles
    alone, coherent = (within(cores, coherent=True, optimistic=True) for cores in (1, 4))
    assert 3.8 * alone < coherent < 4.05 * alone
    lonely = several(1, keys=10_000)
    assert simulate(by_name(lonely)["cache-first"], "search", lonely).latch_cycles == 0


def test_cores_share_one_arm_and_have_a_drive_of_flash_each_for_itself() -> None:
    given = {"keys": 100_000, "memory_bytes": MIB // 2}
    on_disk, on_flash = (on_cores("array", **given, device=load_device(name)) for name in ("cheetah-15k4", "nvme-ssd"))
    # One arm: with four cores a read takes four times as long, as three others are before it.
    assert on_disk(4) == pytest.approx(on_disk(1), rel=0.03)
    disk = several(4, **given, device=load_device("cheetah-15k4"))
    reads = simulate(by_name(disk)["array"], "search", disk).page_reads
    assert on_disk(4) * reads < 1.03 / page_interval_seconds(disk.device, 4096, 4)
    assert 3.6 < on_flash(4) / on_flash(1) <= 4

    # Scans of several cores too, although the cores of a run wait for each other before each.
    scanning = {**given, "mix": {**NOTHING, "scan": 1.0}}
    scans = several(4, **scanning, device=disk.device)
    reads = simulate(by_name(scans)["array"], "scan", scans).page_reads
    assert on_cores("array", **scanning, device=disk.device)(4) * reads == pytest.approx(1 / scans.page_interval(4096), rel=0.01)


def test_a_scan_on_each_core_reads_the_pages_of_a_scan() -> None:
    """Threads divide a scan's range, so that a run of several has a range for each, one behind the other."""
    given = {"keys": 200_000, "memory_bytes": MIB, "mix": {**NOTHING, "scan": 1.0}}
    alone, asked = several(1, **given), several(4, **given)
    array = by_name(asked)["array"]
    one, each = simulate(array, "scan", alone), simulate(array, "scan", asked)
    expected = predict(array, "scan", asked, 200_000, asked.frames(4096)).page_reads
    assert each.page_reads == pytest.approx(expected, rel=0.06)
    # They wait for each other before each scan, which takes half of the time here and is left out.
    assert each.cycles == pytest.approx(one.cycles, rel=0.15)
    wide = several(4, **(given | {"scan_range": 100_000}))
    assert wide.simulated_range == wide.simulated_keys // 4, "ranges of all cores lie in the index"


def test_a_simulated_pool_has_frames_for_each_core_and_the_same_share_of_the_index() -> None:
    asked = several(8, keys=400_000, memory_bytes=MIB)
    array = by_name(asked)["array"]
    frames, pages = simulated_frames(array, asked), sum(array.pages(asked.simulated_keys))
    assert frames >= 8 * 16
    assert frames / pages == pytest.approx(256 / sum(array.pages(400_000)), rel=0.03)
    assert asked.simulated_keys > several(1, keys=400_000, memory_bytes=MIB).simulated_keys


def statistics(**times: float) -> dict[str, Any]:
    """Of two cores that did 10 operations with 5 page reads in 1000 cycles, of which a core worked in 300 and waited for storage in 600."""
    causes = {"total": 7200, "storage": 4800, "barrier": 400, "dcache": {"other_cores": 200}}
    found = {"cycles": 1000, "slots": causes, "workload": {"pages_read": 5}}
    found["breakdown"] = [
        {"segment": name, "slots": {"barrier": slots}} for name, slots in (("page table", 160), ("frame descriptors", 240))
    ]
    waits = {"io_seconds": 6e-4, "io_queue_seconds": 0.0, "io_rotation_seconds": 1e-4}
    return found | {"storage_time": {"seconds": 1e-3, "cpu_seconds": 3e-4, "io_requests": 5} | waits | times}


def test_cycles_and_waits_of_several_cores_by_hand() -> None:
    assert thesis()["core"]["issue_width"] == 4
    disk, flash = (several(2, device=load_device(name)) for name in ("cheetah-15k4", "nvme-ssd"))
    # A disk was busy for 1 ms with five reads, and cores waited 1.2 ms: a read more than the five.
    found = measured(statistics(io_busiest_seconds=1e-3), "search", disk, 10, 4096)
    assert astuple(found) == pytest.approx(astuple(Cost(60, 0.5, 0.1, latch_cycles=10, transfer_cycles=5)))
    # Flash serves several at once: what a read takes alone is the drive's, wherever the page lies. Of 1.2 ms cores waited 0.2 for a die.
    found = measured(statistics(io_busiest_seconds=1e-6), "search", flash, 10, 4096)
    assert found.queued == pytest.approx(0.2e-3 / flash.page_seconds(4096) / 10)
    assert found.nearby == pytest.approx(1e-3 / flash.page_seconds(4096) / 10 - 0.5)
    # Before each scan cores wait for each other; that is no wait of a scan's.
    found = measured(statistics(io_busiest_seconds=1e-3), "scan", disk, 10, 4096)
    assert (found.cycles, found.latch_cycles) == pytest.approx((60 - 6, 4))


def test_no_more_than_the_device_brings_is_predicted() -> None:
    disk = load_device("cheetah-15k4")
    asked = several(8, keys=200_000, memory_bytes=MIB, device=disk)
    array = by_name(asked)["array"]
    found = advice(array, asked, lambda _: Cost(1, 1.0))
    interval = page_interval_seconds(disk, 4096, 8)
    assert found.page_interval_seconds == interval
    assert found.predicted_seconds == 8 * found.predicted_page_reads * interval
    # One request at a time: others only wait. A drive of flash serves them at the same time, until its link or its dies are busy.
    assert interval == pytest.approx(asked.page_seconds(4096), rel=0.03)
    flash = load_device("nvme-ssd")
    assert page_interval_seconds(flash, 4096, 1) == pytest.approx(75e-6, rel=0.01)
    assert 75e-6 / 8 < page_interval_seconds(flash, 4096, 8) < 1.1 * 75e-6 / 8

    # Little to read for what there is to compute: the device is not what bounds them.
    busy = several(2, keys=200_000, memory_bytes=440 * 4096, device=flash)
    said = advice(by_name(busy)["array"], busy, lambda _: Cost(1, 1.0))
    assert 0 < said.predicted_page_reads < 0.01
    assert said.predicted_seconds == busy.seconds(said.predicted_cycles) + said.predicted_page_reads * busy.page_seconds(4096)


def test_one_core_is_what_it_was() -> None:
    given = ("--page-sizes", "4KiB", "--sample", "20000", "--memory", "4MiB", "--scans", "1", "--inserts", "1")
    without, one = ranked(*given), ranked(*given, "--cores", "1")
    assert without == one
    assert one["cores"] == 1
    for index in one["indexes"]:
        assert index["operations_per_second"] == pytest.approx(1 / index["simulated_seconds"])
        assert (index["latch_seconds"], index["transfer_seconds"]) == (0, 0)
        assert index["page_interval_seconds"] == index["page_seconds"]


def test_several_cores_are_told() -> None:
    given = ("--page-sizes", "4KiB", "--sample", "20000", "--memory", "1MiB", "--cores", "2")
    answer = ranked(*given)
    assert answer["cores"] == 2
    assert any(reason.startswith("2 cores do ") for reason in answer["reasons"])
    for index in answer["indexes"]:
        assert index["operations_per_second"] == pytest.approx(2 / index["simulated_seconds"])
    result = advise(*given)
    assert "with 1 MiB of memory, on 2 cores of thesis-simulator with nvme-ssd" in result.stdout


def test_every_index_is_ranked_with_every_page_size() -> None:
    answer = ranked("--page-sizes", "4KiB,16KiB")
    assert {(one["index"], one["page_bytes"]) for one in answer["indexes"]} == {(name, size) for name in NAMES for size in (4096, 16384)}
    times = list(seconds(answer).values())
    assert times == sorted(times)
    assert {one["index"] for one in answer["indexes"] if one["is_conscious"]} == CONSCIOUS
    first = answer["indexes"][0]
    assert answer["reasons"][0].startswith(f"{first['index']} in pages of {first['page_bytes'] >> 10} KB is best: ")
    assert "Simulated were " in answer["reasons"][-1]


def test_the_ranking_follows_memory_and_storage() -> None:
    sizes = ("--page-sizes", "4KiB,32KiB")
    # Everything in memory: pages made for the caches are twice as fast.
    within = ranked(*sizes)
    assert within["indexes"][0]["index"] in CONSCIOUS
    assert seconds(within)["array", 4096] > 1.5 * within["indexes"][0]["simulated_seconds"]
    assert any("Pages made for the caches pay here" in reason for reason in within["reasons"])

    # Half of it: the drive takes all the time, and slotted pages, of which there are more, are last.
    half = ranked("--memory", "4MiB", *sizes)
    assert not any("pay here" in reason and "do not" not in reason for reason in half["reasons"])
    assert half["indexes"][-1]["index"] == "slotted"
    assert all(one["io_seconds"] > 10 * one["processor_seconds"] for one in with_io(half))
    assert seconds(half)["array", 4096] > 20 * seconds(within)["array", 4096]
    # Pages of 4 KB take the drive less time, and are missed as often.
    assert seconds(half)["array", 4096] < seconds(half)["array", 32768]

    # A disk takes about as long for either, and much longer.
    disk = ranked("--memory", "4MiB", *sizes, storage="cheetah-15k4")
    assert seconds(disk)["array", 32768] < 1.15 * seconds(disk)["array", 4096]
    assert seconds(disk)["array", 4096] > 30 * seconds(half)["array", 4096]


def with_io(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [one | {"io_seconds": one["simulated_seconds"] - one["processor_seconds"]} for one in answer["indexes"]]


def test_the_ranking_follows_operations() -> None:
    sizes = ("--page-sizes", "16KiB")
    searches, inserts, scans = (ranked(*sizes, *more) for more in ((), ("--inserts", "1"), ("--scans", "1", "--range", "5000")))
    # Insertions move half a page in arrays; scans are fetched ahead in trees.
    assert seconds(inserts)["array", 16384] > 3 * seconds(searches)["array", 16384]
    assert seconds(inserts)["cache-first", 16384] < 3 * seconds(searches)["cache-first", 16384]
    assert seconds(scans)["array", 16384] > 2 * seconds(scans)["disk-first", 16384]
    mixed = ranked(*sizes, "--searches", "1", "--inserts", "1")
    both = (seconds(searches)["array", 16384] + seconds(inserts)["array", 16384]) / 2
    assert seconds(mixed)["array", 16384] == pytest.approx(both)


def test_reasons_are_told_below_a_table() -> None:
    result = advise("--sample", "2000", "--page-sizes", "4KiB")
    assert result.exit_code == 0, result.output
    of = "1,000,000 keys of 4 bytes with 64 MiB of memory, on thesis-simulator with nvme-ssd"
    assert f"An operation on an index of {of}" in result.stdout
    assert "What was simulated lies in the last cache, and the real index does not" in result.stdout
    assert "Simulated were 2,000 keys of 1,000,000" in result.stdout


def test_the_title_names_memory_by_the_unit_it_is_whole_in() -> None:
    result = advise("--sample", "2000", "--page-sizes", "4KiB", "--memory", "512KiB")
    assert "keys of 4 bytes with 512 KiB of memory" in result.stdout


def an_advice(
    index: str,
    size: int,
    processor: float,
    reads: float,
    *,
    page: float = 100.0,
    queued: float = 0.0,
    cores: int = 1,
    interval: float = 100.0,
    latches: float = 0.0,
    transfers: float = 0.0,
) -> IndexAdvice:
    """Times in microseconds."""
    total = (processor + (reads + queued) * page) * 1e-6
    share, does = (0.5 if reads else 1.0), f"{index} does it"
    times = {"simulated_seconds": total, "predicted_seconds": total, "page_seconds": page * 1e-6, "processor_seconds": processor * 1e-6}
    counts = {
        "simulated_page_reads": reads,
        "predicted_page_reads": reads,
        "queued": queued,
        "simulated_cycles": 1.0,
        "predicted_cycles": 1.0,
    }
    times["device_seconds"] = cores * reads * interval * 1e-6
    times |= {"page_interval_seconds": interval * 1e-6, "latch_seconds": latches * 1e-6, "transfer_seconds": transfers * 1e-6}
    rate = cores / total
    return IndexAdvice(index, size, {}, does, index in CONSCIOUS, **times, **counts, pages=1000, held=share, operations_per_second=rate)


def test_reasons_name_what_is_lost() -> None:
    best = an_advice("disk-first", 4096, 1.0, 0.5)
    others = [
        an_advice("cache-first", 4096, 2.0, 0.5),
        an_advice("disk-first", 8192, 1.0, 0.5, page=120.0),
        an_advice("array", 4096, 31.0, 0.5),
        an_advice("slotted", 4096, 2.0, 0.9, queued=0.1),
    ]
    first, close, busy, waiting, size, pay, *rest = reasons([best, *others], task(keys=10_000))
    assert first == "disk-first in pages of 4 KB is best: disk-first does it, and 0.50 page reads of 100 us take 50 us of its 51 us."
    assert close == "cache-first in pages of 4 KB takes 1.02 times as long, hardly a difference: cache-first does it."
    assert busy == "array in pages of 4 KB takes 1.59 times as long: array does it, and the processor takes 31 us instead of 1 us."
    assert waiting == "slotted in pages of 4 KB takes 2.00 times as long: it waits 100 us for page reads instead of 50 us."
    reads = "0.50 page reads of 120 us instead of 0.50 page reads of 100 us, which is a wait of 60 us instead of 50 us"
    assert size == f"Pages of 8 KB take 1.20 times as long: {reads}."
    assert pay == "Pages made for the caches pay here: disk-first in pages of 4 KB saves 30 us of the 81 us of array in pages of 4 KB."
    assert rest == ["The index was simulated with all of its 10,000 keys."]

    array = an_advice("array", 4096, 1.0, 0.0)
    said = reasons([array, replace(best, predicted_seconds=0.5e-6)], task(keys=10_000))
    assert "the memory holds all of its 1,000 pages, so that its 1 us are the processor's." in said[0]
    assert "Pages made for the caches do not pay here: disk-first in pages of 4 KB, the best of them, takes 50 us more" in said[2]
    assert "The models prefer disk-first in pages of 4 KB, by a factor of 2.00" in said[3]
    near = reasons([array, an_advice("disk-first", 4096, 1.01, 0.0)], task(keys=10_000))
    assert "make hardly a difference here: what they change is less than 3% of the 1 us of array in pages of 4 KB." in near[2]
    behind = reasons([an_advice("array", 4096, 1.0, 0.5, queued=0.5)], task(keys=10_000))
    assert "0.50 page reads of 100 us, behind pages that are written, take 100 us of its 101 us" in behind[0]
    rarely = reasons([an_advice("array", 4096, 1.0, 0.000393)], task(keys=10_000))
    assert "0.00039 page reads of 100 us take 0.0393 us of its 1.04 us" in rarely[0]
    small = reasons([replace(array, pages=1)], task(keys=1000))
    assert "the memory holds its only page, so that its 1 us are the processor's." in small[0]


def test_scans_of_several_pages_are_told_to_take_less_where_leaves_lie_in_a_row() -> None:
    asked = task(keys=10_000, mix={"search": 0.0, "scan": 1.0, "insert": 0.0})
    disk = replace(asked, device=load_device("cheetah-15k4"))
    following, anywhere = page_times_ps(disk.device.device(), page_blocks(4096))

    def one(device_ps: float, reads: float = 100.0) -> list[IndexAdvice]:
        return [an_advice("array", 4096, 1.0, reads, page=device_ps / 1e6)]  # 1000 pages of 10 entries

    (said,) = [line for line in reasons(one(anywhere), disk) if line.startswith("Leaf pages of a scan")]
    assert f"{anywhere / 1e6:,.0f} us" in said
    assert f"{following / 1e6:,.0f} us" in said
    told = [
        reasons(one(asked.page_seconds(4096) * 1e12), asked),  # flash takes as long for a page anywhere
        reasons(one(anywhere), replace(disk, scan_range=10)),
        reasons(one(anywhere, reads=0.0), disk),
        reasons(one(anywhere), replace(disk, mix={"search": 1.0, "scan": 0.0, "insert": 0.0})),
    ]
    assert not any(line.startswith("Leaf pages of a scan") for lines in told for line in lines)


def test_reasons_name_what_cores_wait_for() -> None:
    def said(one: IndexAdvice, cores: int = 4) -> list[str]:
        return reasons([one], several(cores, keys=10_000))[1:-1]

    # A disk, whose reads are served one by one; 4 x 0.5 reads take 100 us each.
    waiting = an_advice("array", 4096, 1.0, 0.5, queued=1.5, cores=4)
    rate, waits, bound = said(waiting)
    assert rate == "4 cores do 19,900 operations per second together with array, one every 50.2 us."
    assert waits == "For 75% of the time a core waits for page reads of other cores."
    assert bound == "The device bounds them: it brings a page every 100 us, however many cores ask."
    first = reasons([waiting], several(4, keys=10_000))[0]
    assert "0.50 page reads of 100 us, behind those of other cores, take 200 us of its 201 us" in first

    # Flash serves all of them at once, and so does a disk that is hardly asked.
    assert len(said(an_advice("array", 4096, 1.0, 0.5, queued=0.01, cores=4, interval=26.0))) == 1
    assert len(said(an_advice("array", 4096, 1e6, 0.5, cores=4))) == 1

    busy = said(an_advice("cache-first", 4096, 2.0, 0.0, cores=4, latches=1.0, transfers=0.1))
    assert busy[1:] == [
        "For 50% of the time a core waits for latches that others hold.",
        "For 5% of the time a core waits for lines in caches of other cores.",
        "A buffer manager whose readers change nothing would hardly wait for either: ask with --optimistic.",
    ]
    told = an_advice("array", 4096, 20.0, 0.0, cores=4, transfers=4.0)
    asked = [reasons([told], several(4, keys=10_000, optimistic=optimistic)) for optimistic in (False, True)]
    assert [any("--optimistic" in reason for reason in given) for given in asked] == [True, False]
    assert said(an_advice("array", 4096, 1.0, 0.5), 1) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--memory", "64"), "--memory: `64` has no unit"),
        (("--memory", "64ms"), "--memory: `64ms` is in time, but a size belongs here"),
        (("--memory", "100KiB"), "--memory: 102400 bytes are less than 16 pages of 32768; give at least 524288B"),
        (("--key-bytes", "5"), "--key-bytes 5: keys have 4, 8 or 20 bytes"),
        (("--page-sizes", "3KiB"), "--page-sizes: 3KiB is no page size; it is a power of two from 2KiB to 32KiB"),
        (("--page-sizes", "64KiB"), "--page-sizes: 64KiB is no page size"),
        (("--page-sizes", "4KiB,4096B"), "--page-sizes 4KiB,4096B: a size is named twice; keep one"),
        (("--page-sizes", "4"), "--page-sizes: `4` has no unit"),
        (("--range", "10"), "--range 10: there are no scans; give them a weight with --scans"),
        (("--scans", "1", "--range", "2000000"), "--range 2000000: the index has 1000000 keys"),
        (("--searches", "0"), "--searches, --scans and --inserts are all 0; give one of them a weight"),
        (("--searches", "-1"), "'--searches': `-1` is too small; the least is 0.0"),
        (("--keys", "10"), "'--keys': `10` is too small; the least is 1000"),
        (("--sample", "10"), "'--sample': `10` is too small; the least is 1000"),
        (("--set", "workload.seed=2"), "--set workload.seed=2: paths below machine only"),
        (("--set", "machine.cores=2"), "--set machine.cores: the number of cores is --cores here"),
        (
            ("--set", "machine.caches.L3.shared=true"),
            "machine.caches.L3.shared has no effect on this run: it is for runs of several threads",
        ),
        (("--cores", "2", "--memory", "512KiB"), "--memory: 524288 bytes are less than 32 pages of 32768, 16 for each core; give at least"),
        (("--cores", "0"), "'--cores': `0` is too small; the least is 1"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = advise(*arguments, small=False)
    assert done.exit_code == 2, done.output
    (line,) = [line for line in done.stderr.splitlines() if "error: " in line]
    assert says in line


@pytest.mark.parametrize(
    ("machine", "storage", "says"),
    [
        ("zen4-ddr4", "nvme-ssd", "--machine zen4-ddr4: it simulates its DRAM, and the models need one memory latency"),
        ("zen4-cxl", "nvme-ssd", "machine zen4-cxl: it has several memories (dram, cxl); advice on indexes takes a machine with one"),
        ("thesis-simulato", "nvme-ssd", "did you mean `thesis-simulator`"),
        ("thesis-simulator", "nvme-sdd", "did you mean `nvme-ssd`"),
    ],
)
def test_machines_and_devices_that_will_not_do(machine: str, storage: str, says: str) -> None:
    done = advise(machine=machine, storage=storage, small=False)
    assert done.exit_code == 2
    assert says in done.stderr


def test_an_index_larger_than_the_device_is_refused_whatever_is_simulated(tmp_path: Path) -> None:
    device = tmp_path / "small.yaml"
    numbers = "page_bytes: 8KiB\nsequential_page: 100us\nrandom_page: 5ms\nblocks: 3200\n"
    device.write_text(f"schema_version: 1\ndescription: 200 pages\nsource: made up\nkind: sequential-random\n{numbers}")
    given = ("--memory", "512KiB", "--page-sizes", "8KiB", "--sample", "2000")
    done = advise(*given, storage=str(device))
    assert done.exit_code == 2
    takes = "slotted in pages of 8 KB takes 11247616 bytes, and the device small has 1638400; --keys is at most some 145666"
    assert f"--keys 1000000: {takes}" in done.stderr
    assert advise(*given, "--keys", "140000", storage=str(device)).exit_code == 0


def test_a_line_too_short_for_an_entry_is_told_with_the_options() -> None:
    machine = thesis()
    short = {**machine, "caches": [{**cache, "line_bytes": 16} for cache in machine["caches"]]}
    with pytest.raises(UserError, match="--page-sizes 4096B, --key-bytes 20: line_bytes is 16"):
        list(candidates(task(machine=short, key_bytes=20)))


def test_the_indexes_of_today_have_the_widths_of_the_models_in_either_memory() -> None:
    variants = load(ROOT / "configs/experiments/indexes-today.yaml").data["variants"]
    server, cxl = load_machine("zen4-server").native(), load_machine("zen4-cxl").native()
    for memory in cxl["memory"]:
        for candidate in candidates(task(machine={**server, "memory": memory}, page_sizes=(16384,))):
            name = candidate.structure.name
            written = {f"workload.{key}": value for key, value in candidate.parameters.items()}
            assert variants[name] == {"workload.structure": name, **written}
