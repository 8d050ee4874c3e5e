"""What `memwalk advise index` answers: how the ranking follows memory, storage and operations, reasons, and mistakes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from index_advice import NAMES, advise, an_advice, ranked, seconds, several, simulate_few, task

from memwalk.analysis.advice.indexes.candidates import CONSCIOUS
from memwalk.analysis.advice.indexes.rank import IndexAdvice
from memwalk.analysis.advice.indexes.reasons import reasons
from memwalk.simcore.storage import load_device, page_blocks, page_times_ps


def test_one_core_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, scan=200, insert=300)
    sizes = ("--page-sizes", "4KiB", "--keys", "100000", "--sample", "5000", "--memory", "400KiB")
    given = (*sizes, "--scans", "1", "--range", "100", "--inserts", "1")
    without, one = ranked(*given), ranked(*given, "--cores", "1")
    assert without == one
    assert one["cores"] == 1
    for index in one["indexes"]:
        assert index["operations_per_second"] == pytest.approx(1 / index["simulated_seconds"])
        assert (index["latch_seconds"], index["transfer_seconds"]) == (0, 0)
        assert index["page_interval_seconds"] == index["page_seconds"]


def test_several_cores_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, requests=500, search=1000)
    given = ("--page-sizes", "4KiB", "--keys", "200000", "--sample", "20000", "--memory", "1MiB", "--cores", "2")
    answer = ranked(*given)
    assert answer["cores"] == 2
    assert any(reason.startswith("2 cores do ") for reason in answer["reasons"])
    for index in answer["indexes"]:
        assert index["operations_per_second"] == pytest.approx(2 / index["simulated_seconds"])
    result = advise(*given)
    assert "with 1 MiB of memory, on 2 cores of thesis-simulator with nvme-ssd" in result.stdout


def test_every_index_is_ranked_with_every_page_size(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, search=5000)
    answer = ranked("--page-sizes", "4KiB,16KiB")
    assert {(one["index"], one["page_bytes"]) for one in answer["indexes"]} == {(name, size) for name in NAMES for size in (4096, 16384)}
    times = list(seconds(answer).values())
    assert times == sorted(times)
    assert {one["index"] for one in answer["indexes"] if one["is_conscious"]} == CONSCIOUS
    first = answer["indexes"][0]
    assert answer["reasons"][0].startswith(f"{first['index']} in pages of {first['page_bytes'] >> 10} KB is best: ")
    assert "Simulated were " in answer["reasons"][-1]


@pytest.mark.nightly
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


@pytest.mark.nightly
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


def test_what_was_asked_stands_in_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, search=1000, scan=200)
    answer = ranked("--sample", "2000", "--page-sizes", "4KiB,2KiB", "--scans", "1", "--range", "300")
    assert (answer["page_sizes"], answer["scan_range"], answer["sample"]) == ([4096, 2048], 300, 2000)
    assert ranked("--sample", "2000", "--page-sizes", "4KiB")["scan_range"] is None


def test_reasons_are_told_below_a_table() -> None:
    result = advise("--sample", "2000", "--page-sizes", "4KiB")
    assert result.exit_code == 0, result.output
    of = "1,000,000 keys of 4 bytes with 64 MiB of memory, on thesis-simulator with nvme-ssd"
    assert f"An operation on an index of {of}" in result.stdout
    assert "What was simulated is 0.188 times the last cache, and the real index is larger" in result.stdout
    assert "Simulated were 2,000 keys of 1,000,000" in result.stdout


def test_the_title_names_memory_by_the_unit_it_is_whole_in() -> None:
    result = advise("--sample", "2000", "--page-sizes", "4KiB", "--memory", "512KiB")
    assert "keys of 4 bytes with 512 KiB of memory" in result.stdout


def test_who_mostly_inserts_hears_what_insertions_move() -> None:
    """Half of the array's time is the search of its mix: what it does then is what searches do."""
    best = an_advice("slotted", 4096, 4.0, 0.0, inserting=3.0)
    others = [an_advice("array", 4096, 20.0, 0.0, inserting=18.0), an_advice("micro-index", 4096, 20.0, 0.0, inserting=10.0)]
    said = reasons([best, *others], task())
    assert said[0].startswith("slotted in pages of 4 KB is best: slotted moves it, and ")
    assert said[1].endswith(": array moves it, and the processor takes 20 us instead of 4 us.")
    assert said[2].endswith(": micro-index does it, and the processor takes 20 us instead of 4 us.")


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
        (("--page-sizes", "3KiB"), "--page-sizes: 3KiB is no page size; it is a power of two from 2 KiB to 32 KiB"),
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
