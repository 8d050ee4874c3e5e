"""Runs whose pages come from storage: what a processor that is stopped at them says."""

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from files import memwalk
from storage_pages import DEVICE, pages_of

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.results import table
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.simulation import simulate
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.analysis.explain.time_breakdown import time_breakdown
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PART_NAMES
from memwalk.simcore.storage.timed_pages import NO_WAIT, PageArrival

SCAN = """\
schema_version: 1
id: scan
machine: pentium2-xeon-400
dbms: shore-pentium2
storage: ./device.yaml
workload: {kernel: table, operation: scan, layout: nsm, records: 4000, attributes: 8, page_bytes: 8192}
"""


def scan_point(folder: Path, device: str = DEVICE, scan: str = SCAN) -> Point:
    """The point of a table scan whose pages come from the device."""
    (folder / "device.yaml").write_text(device)
    (folder / "scan.yaml").write_text(scan)
    return expand(load_experiment(folder / "scan.yaml"))[0].point


def run(point: Point) -> native.Statistics:
    """The point's run."""
    return simulate(point.machine, point.workload, (), point.run)


# Pages read and written where every record is deleted: 102 records in a slotted page, 124 in a PAX page with bits of deleted ones. A
# decomposed relation has 4 pages of 291 values for each of eight attributes; the first one's are scanned before values are looked up.
DELETIONS = [("nsm", 10, 10), ("pax", 9, 9), ("dsm", 4 + 8 * 4, 8 * 4)]


def times_sum(statistics: native.Statistics) -> None:
    """Check that the slots of all causes are the run's, and that the parts of what storage took are the whole."""
    slots, times = statistics["slots"], statistics[STORAGE_TIME]
    assert sum(value for name, value in slots.items() if name not in ("total", "dcache")) + sum(slots["dcache"].values()) == slots["total"]
    assert sum(row["slots"]["storage"] for row in statistics["breakdown"]) == slots["storage"]
    assert sum(times[f"io_{part}_seconds"] for part in PART_NAMES) == pytest.approx(times["io_seconds"], abs=times["io_requests"] * 1e-12)
    assert times["seconds"] == pytest.approx(times["cpu_seconds"] + times["io_seconds"])


def test_a_scan_stops_at_each_page_and_its_parts_sum(tmp_path: Path) -> None:
    point = scan_point(tmp_path)
    statistics = run(point)
    times_sum(statistics)
    slots, asked, times = statistics["slots"], statistics["pages"], statistics[STORAGE_TIME]
    count = asked["reads"]
    assert count == asked["stops"] > 10
    waits = (5000 + 100 * (count - 1)) * 1e-6
    cycle = 1 / point.machine["clock_hz"]
    assert times["io_seconds"] == pytest.approx(waits, abs=count * cycle)
    assert times["io_requests"] == count
    plain = native.simulate(point.machine, point.workload)
    assert "storage" not in plain["slots"]
    assert slots["dcache"] == plain["slots"]["dcache"]
    assert times["cpu_seconds"] == pytest.approx(plain["cycles"] * cycle, rel=0.05), "the system clock ticks while it waits"


IO_PATH = f"""\
{SCAN}variants:
  no time: {{}}
  a while: {{storage.cpu_per_page: 20us}}
"""


def test_the_operating_system_takes_its_time_for_each_page(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    (tmp_path / "scan.yaml").write_text(IO_PATH)
    rows = expand(load_experiment(tmp_path / "scan.yaml"))
    assert rows[0].point.id != rows[1].point.id
    free, found = (run(row.point) for row in rows)
    times_sum(found)
    machine = rows[1].point.machine
    cycles = round(20e-6 * machine["clock_hz"])
    assert found["slots"]["system"] == found["pages"]["reads"] * cycles * machine["core"]["issue_width"]
    assert "system" not in free["slots"]
    assert found["pages"]["wait"] == pytest.approx(free["pages"]["wait"], rel=1e-3), "the device has as much to do, and nothing meanwhile"
    before, after = (statistics[STORAGE_TIME] for statistics in (free, found))
    # The host's clock ticks in this time, too.
    assert after["cpu_seconds"] - before["cpu_seconds"] == pytest.approx(found["pages"]["reads"] * 20e-6, rel=0.02)
    shown = table(rows, {row.point.id: statistics for row, statistics in zip(rows, (free, found), strict=True)})
    assert shown["storage.cpu_per_page"].fillna(0).to_list() == [0, 20_000_000]
    breakdown = time_breakdown(shown.iloc[1].to_dict())
    assert breakdown is not None
    assert breakdown.causes["I/O path"] == pytest.approx(found["pages"]["reads"] * 20e-6)
    assert sum(breakdown.causes.values()) == pytest.approx(breakdown.seconds)
    free_breakdown = time_breakdown(shown.iloc[0].to_dict())
    assert free_breakdown is not None
    assert "I/O path" not in free_breakdown.causes


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ("{device: ./device.yaml, cpu_per_page: -1us}", "cpu_per_page"),
        ("{device: ./device.yaml, cpu_per_page: 2s}", "cpu_per_page"),
        ("{device: ./device.yaml, cpu_per_page: 5}", "cpu_per_page"),
    ],
)
def test_the_operating_system_takes_a_time_that_can_be(tmp_path: Path, storage: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        scan_point(tmp_path, scan=SCAN.replace("./device.yaml", storage))


def test_workloads_on_storage_alone_have_no_core_for_the_operating_system(tmp_path: Path) -> None:
    requests = SCAN.replace("machine: pentium2-xeon-400\ndbms: shore-pentium2\n", "").replace(
        SCAN[SCAN.index("workload") :], "workload: {kernel: requests, count: 3}\n"
    )
    scan_point(tmp_path, scan=requests)
    with pytest.raises(UserError, match=r"storage\.cpu_per_page has no effect on this run"):
        scan_point(tmp_path, scan=requests.replace("./device.yaml", "{device: ./device.yaml, cpu_per_page: 5us}"))


@pytest.mark.parametrize(("layout", "reads", "writes"), DELETIONS)
def test_a_deletion_reads_its_pages_and_writes_them_back(tmp_path: Path, layout: str, reads: int, writes: int) -> None:
    deletion = SCAN.replace("operation: scan, layout: nsm", f"operation: delete, layout: {layout}, selectivity: 1.0")
    deletion = deletion.replace("records: 4000", "records: 1000")
    point = scan_point(tmp_path, scan=deletion)
    statistics = run(point)
    asked = statistics["pages"]
    assert (asked["reads"], asked["writes"]) == (reads, writes)
    assert statistics[STORAGE_TIME]["io_requests"] == reads + writes
    assert statistics["slots"]["storage"] > 0
    times_sum(statistics)
    plain = native.simulate(point.machine, point.workload)
    assert statistics["workload"] == plain["workload"]
    assert plain["workload"]["returned"] == 1000
    unchanged = run(scan_point(tmp_path, scan=deletion.replace("selectivity: 1.0", "selectivity: 0.0")))
    assert unchanged["pages"]["writes"] == 0
    times_sum(unchanged)


@pytest.mark.parametrize("layout", ["nsm", "pax"])
def test_records_that_move_take_their_pages_along(tmp_path: Path, layout: str) -> None:
    strings = "selectivity: 1.0, first_projected: 8, strings: [8], string_bytes: 8, updated_string_bytes: 100"
    update = SCAN.replace("operation: scan, layout: nsm", f"operation: update, layout: {layout}, {strings}")
    point = scan_point(tmp_path, scan=update)
    found = run(point)
    pages, moved = found["workload"]["pages"], found["workload"]["moved_records"]
    assert found["workload"]["returned"] == 4000
    assert 1000 < moved < 4000
    asked = found["pages"]
    # Each page that there was is read and written; new ones are written only, and pages that regain room are used again.
    assert asked["reads"] < pages <= asked["writes"]
    times_sum(found)
    plain = native.simulate(point.machine, point.workload)
    assert plain["workload"] == found["workload"]
    shorter = run(scan_point(tmp_path, scan=update.replace("updated_string_bytes: 100", "updated_string_bytes: 1")))
    assert shorter["workload"]["moved_records"] == 0
    assert shorter["pages"]["reads"] == shorter["pages"]["writes"] == shorter["workload"]["pages"] <= asked["reads"]


def test_values_that_move_take_their_pages_and_entries_along(tmp_path: Path) -> None:
    strings = "selectivity: 1.0, first_projected: 8, strings: [8], string_bytes: 8, updated_string_bytes: 100"
    update = SCAN.replace("operation: scan, layout: nsm", f"operation: update, layout: dsm, {strings}")
    stored = update.replace("operation:", "index_pages: stored, operation:")
    before, found = (run(scan_point(tmp_path, scan=scan)) for scan in (update, stored))
    assert before["workload"] == found["workload"]
    assert 1000 < found["workload"]["moved_records"] < 4000
    # The first attribute's 14 pages are only read; of the strings', new ones are only written.
    assert 14 < before["pages"]["reads"] < 14 + before["pages"]["writes"]
    # Four leaves of 4000 entries and a root are read once, and leaves are written.
    assert found["pages"]["reads"] == before["pages"]["reads"] + 4 + 1
    assert found["pages"]["writes"] == before["pages"]["writes"] + 4
    for statistics in (before, found):
        times_sum(statistics)
    in_nsm = run(scan_point(tmp_path, scan=update.replace("layout: dsm", "layout: nsm")))
    assert found["workload"]["returned"] == in_nsm["workload"]["returned"] == 4000


UPDATE = "operation: update, layout: dsm, selectivity: 1.0, projected: 2, first_projected: 3"


def test_nodes_of_a_stored_index_are_pages_like_others(tmp_path: Path) -> None:
    in_memory = SCAN.replace("operation: scan, layout: nsm", UPDATE)
    stored = in_memory.replace("operation:", "index_pages: stored, operation:")
    before, found = (run(scan_point(tmp_path, scan=scan)) for scan in (in_memory, stored))
    # Of two attributes: four leaves of 4000 entries, and a root.
    assert before["pages"]["reads"] == 3 * 14
    assert found["pages"]["reads"] == 3 * 14 + 2 * (4 + 1)
    assert found["pages"]["writes"] == before["pages"]["writes"] == 2 * 14
    assert found["workload"] == before["workload"]
    times_sum(found)
    waits = {row["segment"]: row["slots"]["storage"] for row in found["breakdown"] if row["slots"]["storage"]}
    assert any("index of a3" in segment for segment in waits), waits
    with pytest.raises(UserError, match=r"workload\.index_pages has no effect on this run: it is for runs with `storage`"):
        scan_point(tmp_path, scan=stored.replace("storage: ./device.yaml\n", ""))


def test_frames_for_nodes_decide_how_many_are_read_again(tmp_path: Path) -> None:
    points = "operation: point, layout: nsm, point_queries: 400, index_pages: stored, index_frames: "
    scans = (SCAN.replace("operation: scan, layout: nsm", points + str(frames)) for frames in (0, 2, 3, 4, 5, 100))
    plain, two, three, four, all_, many = (run(scan_point(tmp_path, scan=scan)) for scan in scans)
    reads = [one["pages"]["reads"] for one in (two, three, four, all_)]
    assert reads == sorted(reads, reverse=True)
    assert len(set(reads)) == 4
    # Four leaves and the root; a fifth frame holds the last of them.
    assert all_ == many
    # Two of each level are the root and two leaves, which the clock keeps a little worse.
    assert reads[0] > reads[1] > plain["pages"]["reads"]
    assert len({one["workload"]["checksum"] for one in (plain, two, three, four, all_)}) == 1
    with pytest.raises(UserError, match=r"workload\.index_frames has no effect on this run: it is for index_pages: stored"):
        scan_point(tmp_path, scan=SCAN.replace("operation: scan, layout: nsm", "operation: point, layout: nsm, index_frames: 5"))


def test_queries_read_nodes_of_stored_indexes(tmp_path: Path) -> None:
    in_memory = SCAN.replace(SCAN[SCAN.index("workload") :], "workload: {kernel: tpch, query: q6, layout: dsm, scale_factor: 0.005}\n")
    stored = in_memory.replace("query:", "index_pages: stored, query:")
    before, found = (run(scan_point(tmp_path, scan=scan)) for scan in (in_memory, stored))
    # Indexes of some 30,000 numbers, 30 leaves and a root, are gone through for prices and discounts together.
    assert 2 * 28 < found["pages"]["reads"] - before["pages"]["reads"] < 2 * 34
    assert found["workload"] == before["workload"]
    times_sum(found)
    with pytest.raises(UserError, match=r"workload\.index_pages has no effect on this run: it is for runs with `storage`"):
        scan_point(tmp_path, scan=stored.replace("storage: ./device.yaml\n", ""))


def test_a_table_of_results_has_storage_beside_the_caches(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    (tmp_path / "scan.yaml").write_text(SCAN)
    row = expand(load_experiment(tmp_path / "scan.yaml"))[0]
    ((_, found),) = table([row], {row.point.id: run(row.point)}).iterrows()
    assert found["slots_storage"] / found["slots_total"] == pytest.approx(found["io_seconds"] / found["seconds"])


def test_pages_behind_the_end_of_a_device_are_refused(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, DEVICE.replace("page_bytes", "blocks: 1600\npage_bytes"))
    pages.reads(99, 0)
    with pytest.raises(UserError, match="storage device: the run asks for 1616 blocks, and there are 1600; name a larger device"):
        pages.reads(100, pages.reads(0, 0)[0])
    point = scan_point(tmp_path, DEVICE.replace("page_bytes", "blocks: 160\npage_bytes"))
    with pytest.raises(UserError, match="and there are 160; name a larger device"):
        run(point)


def test_what_a_page_raises_ends_the_run(tmp_path: Path) -> None:
    class Failing:
        cpu_per_page_ps = 0

        def read(self, _core: int, page: int, at_ps: int, _fill: int) -> Any:
            raise RuntimeError(f"page {page} at {at_ps}")

    point = scan_point(tmp_path)
    with pytest.raises(RuntimeError, match="page 0"):
        native.simulate(point.machine, point.workload, storage=Failing())  # type: ignore[arg-type]


INDEX = """\
schema_version: 1
id: index
machine: thesis-simulator
storage: ./device.yaml
workload:
  {kernel: disk-index, operation: search, structure: slotted, page_bytes: 8192, keys: 200000, operations: 2000, pool_frames: 40,
   caches: empty}
"""


def test_an_index_in_pages_waits_for_pages_that_its_pool_lacks(tmp_path: Path) -> None:
    point = scan_point(tmp_path, scan=INDEX)
    statistics = run(point)
    asked, times = statistics["pages"], statistics[STORAGE_TIME]
    assert asked["reads"] == statistics["workload"]["pages_read"]
    assert 1000 < asked["reads"] <= 2 * 2000, "the root stays, most leaves do not"
    assert times["io_seconds"] > 0.99 * times["seconds"]
    assert times["io_requests"] == asked["reads"] + asked["writes"]
    assert statistics["workload"]["returned"] == native.simulate(point.machine, point.workload)["workload"]["returned"]


def test_what_storage_did_before_the_run_had_warmed_up_does_not_count(tmp_path: Path) -> None:
    statistics = run(scan_point(tmp_path, scan=INDEX.replace("caches: empty", "caches: warm, warm_up: 1000")))
    asked, times = statistics["pages"], statistics[STORAGE_TIME]
    assert asked["reads"] > 1000
    assert (times["io_requests"], times["io_blocks"]) == (asked["reads"], 16 * asked["reads"])
    assert times["io_busiest_seconds"] == pytest.approx(times["io_seconds"], rel=1e-4), "a core that waits has no other request"


class AtOnce:
    """Storage that takes no time."""

    cpu_per_page_ps = 0

    def __init__(self) -> None:
        self.arrivals: list[PageArrival] = []

    def read(self, core: int, _page: int, at_ps: int, _fill: int = 0) -> None:
        self.arrivals.append(PageArrival(core, at_ps, NO_WAIT))

    write = read

    def prefetch(self, _core: int, _page: int, _at_ps: int, _fill: int) -> None:
        pass

    def finish(self, core: int, at_ps: int) -> None:
        self.read(core, 0, at_ps)

    def measure(self, _core: int, _at_ps: int) -> None:
        pass

    def next_ps(self) -> int | None:
        return self.arrivals[0][1] if self.arrivals else None

    def advance(self, _until_ps: int) -> PageArrival | None:
        return self.arrivals.pop(0) if self.arrivals else None


def at_once(point: Point, observe: dict[str, Any] | None = None, **changes: int) -> tuple[native.Statistics, native.Statistics]:
    """The run with storage that takes no time, and the one without."""
    machine, workload = point.machine, point.workload | changes
    with_storage = native.simulate(machine, workload, observe=observe, storage=AtOnce())  # type: ignore[arg-type]
    return with_storage, native.simulate(machine, workload, observe=observe)


@pytest.mark.parametrize("structure", ["slotted", "disk-first, nonleaf_lines: 1, leaf_lines: 6"])
def test_pages_that_are_there_at_once_cost_the_lines_of_their_frames(tmp_path: Path, structure: str) -> None:
    point = scan_point(tmp_path, scan=INDEX.replace("slotted", structure))
    found, plain = at_once(point)
    lines = found["pages"]["reads"] * 8192 // 64
    overwritten = [cache["overwritten"] for cache in found["caches"]]
    assert all(0 < cold <= lines for cold in overwritten)
    for cache, before in zip(found["caches"], plain["caches"], strict=True):
        assert before["misses"] < cache["misses"] <= before["misses"] + cache["overwritten"]
    assert found["dtlb"] == plain["dtlb"]
    assert found["slots"]["storage"] == 0
    latency = point.machine["memory"]["latency_cycles"]
    assert plain["cycles"] < found["cycles"] <= plain["cycles"] + sum(overwritten) * latency


def test_pages_that_come_into_frames_of_their_own_cost_nothing(tmp_path: Path) -> None:
    point = scan_point(tmp_path, scan=INDEX)
    for frames in (0, 400):
        found, plain = at_once(point, pool_frames=frames)
        assert (found["pages"]["reads"] > 0) == (frames > 0)
        assert [cache.pop("overwritten") for cache in found["caches"]] == [0, 0, 0]
        assert (found["cycles"], found["caches"], found["dtlb"]) == (plain["cycles"], plain["caches"], plain["dtlb"])


def test_what_is_observed_beside_a_run_with_storage_loses_the_same_lines(tmp_path: Path) -> None:
    point = scan_point(tmp_path, scan=INDEX)
    found, plain = at_once(point, {"counts": True, "bytes": True, "curve": [1 << 12, 1 << 20]})
    for cache, counted in zip(found["caches"], found["counts"]["caches"], strict=True):
        names = ("misses", "write_backs", "overwritten")
        assert [counted[name] for name in names] == [cache[name] for name in names]
    for lines, before in zip(found["curve"]["misses"], plain["curve"]["misses"], strict=True):
        assert lines > before, "no cache is so large that a page that comes would not be missed"
    assert sum(row["lines"] for row in found["byte_usage"]["rows"]) > sum(row["lines"] for row in plain["byte_usage"]["rows"])


def test_a_recorded_run_is_the_live_one_without_storage(tmp_path: Path) -> None:
    point = scan_point(tmp_path, scan=INDEX)
    native.record(point.workload, tmp_path / "index.parquet")
    live = native.simulate(point.machine, point.workload)
    replayed = native.replay(tmp_path / "index.parquet", point.machine)
    assert {name: replayed[name] for name in ("cycles", "events", "slots", "caches", "page_requests")} == {
        name: live[name] for name in ("cycles", "events", "slots", "caches", "page_requests")
    }
    kinds = {row["kind"]: row["events"] for row in native.trace_check(tmp_path / "index.parquet")["kinds"]}
    assert kinds["page_arrival"] == kinds["page_read"] > 1000


def test_storage_of_an_index_whose_pages_are_all_in_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="storage has no effect on this run: it is for a pool of fewer frames than pages"):
        scan_point(tmp_path, scan=INDEX.replace("pool_frames: 40,", ""))


EVERY_PAGE_ALIKE = """\
schema_version: 1
description: two numbers
source: made up
kind: sequential-random
page_bytes: 4KiB
sequential_page: {page}us
random_page: {page}us
"""


def striped(disks: int) -> str:
    """A page of 4 KB on each of some disks in turn; on one there is nothing to say about that."""
    return f"disks: {disks}, volume: striped, stripe_blocks: 8" if disks > 1 else "disks: 1"


SCAN_OF_AN_INDEX = """\
schema_version: 1
id: index
machine: thesis-simulator
storage: {{device: ./device.yaml, {disks}}}
workload:
  {{kernel: disk-index, operation: scan, structure: {structure}, page_bytes: 4096, keys: 1500000, operations: 1, range: 1490000,
   pool_frames: 600, caches: empty, distance_pages: {distance}}}
"""
DISK_FIRST = "disk-first, nonleaf_lines: 1, leaf_lines: 6"


@pytest.mark.parametrize(
    ("structure", "disks", "page_us"),
    [
        *[("array", *disks) for disks in ((1, 400), (4, 400), (8, 5))],
        *[(structure, 8, 400) for structure in ("slotted", "array", DISK_FIRST)],
        *[
            pytest.param(one, *disks, marks=pytest.mark.nightly)
            for one in ("slotted", DISK_FIRST)
            for disks in ((1, 400), (4, 400), (8, 5))
        ],
    ],
)
def test_a_scan_that_reads_far_ahead_takes_as_long_as_the_slowest_of_processor_and_disks(
    tmp_path: Path, structure: str, disks: int, page_us: int
) -> None:
    def scan(distance: int) -> native.Statistics:
        text = SCAN_OF_AN_INDEX.format(disks=striped(disks), structure=structure, distance=distance)
        return run(scan_point(tmp_path, EVERY_PAGE_ALIKE.format(page=page_us), text))

    ahead = scan(400)
    leaves = ahead["workload"]["pages_prefetched"]
    assert leaves > 2600
    disks_alone = leaves * page_us * 1e-6 / disks
    times = ahead[STORAGE_TIME]
    slowest = max(disks_alone, times["cpu_seconds"])
    assert times["seconds"] == pytest.approx(slowest, rel=0.02)
    if disks_alone > times["cpu_seconds"]:
        one_by_one = scan(0)
        assert one_by_one["workload"]["returned"] == ahead["workload"]["returned"]
        assert one_by_one["workload"]["checksum"] == ahead["workload"]["checksum"]
        assert one_by_one[STORAGE_TIME]["io_seconds"] > 0.98 * leaves * page_us * 1e-6


JOIN_ON_DISKS = """\
schema_version: 1
id: join
machine: thesis-simulator
storage: {{device: ./device.yaml, {disks}}}
workload:
  {{kernel: hash-join, algorithm: {algorithm}, build_tuples: 20000, probe_tuples: 40000, tuple_bytes: 60, page_bytes: 4096, {stored}}}
"""
READ, READ_AND_WRITTEN = "pages_asked_ahead: 200", "pages_asked_ahead: 200, output: stored"


@pytest.mark.parametrize("algorithm", ["grace", "group", "pipelined"])
@pytest.mark.parametrize("stored", [READ, READ_AND_WRITTEN])
@pytest.mark.parametrize(("disks", "page_us"), [(1, 400), (8, 400), (8, 5)])
def test_a_join_that_reads_far_ahead_takes_as_long_as_the_slowest_of_processor_and_disks(
    tmp_path: Path, algorithm: str, stored: str, disks: int, page_us: int
) -> None:
    text = JOIN_ON_DISKS.format(disks=striped(disks), algorithm=algorithm, stored=stored)
    found = run(scan_point(tmp_path, EVERY_PAGE_ALIKE.format(page=page_us), text))
    times, asked = found[STORAGE_TIME], found["pages"]
    assert asked["reads"] == 328 + 656
    assert asked["writes"] == (1213 if stored == READ_AND_WRITTEN else 0)
    disks_alone = (asked["reads"] + asked["writes"]) * page_us * 1e-6 / disks
    assert times["seconds"] >= max(disks_alone, times["cpu_seconds"])
    # The last output page is full when the processor ends.
    last = page_us * 1e-6 if stored == READ_AND_WRITTEN else 0
    assert times["seconds"] <= 1.02 * max(disks_alone, times["cpu_seconds"]) + last
    assert times["io_busiest_seconds"] <= times["seconds"]
    assert sum(times[f"io_{part}_seconds"] for part in PART_NAMES) == pytest.approx(times["io_seconds"], abs=1e-8)


def test_prefetching_saves_nothing_where_disks_decide(tmp_path: Path) -> None:
    def seconds(algorithm: str, disks: int) -> float:
        text = JOIN_ON_DISKS.format(disks=striped(disks), algorithm=algorithm, stored=READ)
        return float(run(scan_point(tmp_path, EVERY_PAGE_ALIKE.format(page=400), text))[STORAGE_TIME]["seconds"])

    assert seconds("group", 1) == pytest.approx(seconds("grace", 1), rel=0.001)
    assert seconds("group", 64) < 0.7 * seconds("grace", 64)


@pytest.mark.parametrize(
    ("storage", "stored", "message"),
    [
        (
            "storage: ./device.yaml",
            "seed: 2",
            "storage has no effect on this run: it is for relations on storage: pages_asked_ahead, or output: stored",
        ),
        ("", "pages_asked_ahead: 3", "workload.pages_asked_ahead has no effect on this run: it is for runs with `storage`"),
        ("", "output: stored", "workload.output has no effect on this run: it is for runs with `storage`"),
    ],
)
def test_storage_without_a_join_on_it_is_refused_and_so_is_the_reverse(tmp_path: Path, storage: str, stored: str, message: str) -> None:
    lines = JOIN_ON_DISKS.format(disks=striped(1), algorithm="grace", stored=stored).splitlines()
    text = "\n".join(storage if line.startswith("storage") else line for line in lines)
    with pytest.raises(UserError, match=message):
        scan_point(tmp_path, scan=text)


JOIN = """\
schema_version: 1
id: join
machine: thesis-simulator
storage: {device: ./device.yaml, disks: 2, volume: striped, stripe_blocks: 32}
workload:
  {kernel: hash-join, algorithm: ALGORITHM, build_tuples: 4000, probe_tuples: 8000, page_bytes: 8192, partitions: 4, pages_asked_ahead: 20,
   output: stored}
variants:
  alone: {}
  together: {machine.cores: 4, workload.threads: 4}
"""


@pytest.mark.parametrize("algorithm", ["grace", "inspector", "sort-merge, order: nearly-sorted, displaced: 0.1"])
def test_threads_of_a_join_wait_for_pages_of_their_own_and_the_parts_of_their_waits_sum(tmp_path: Path, algorithm: str) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    (tmp_path / "join.yaml").write_text(JOIN.replace("ALGORITHM", algorithm))
    alone, together = (run(row.point) for row in expand(load_experiment(tmp_path / "join.yaml")))
    assert alone["workload"]["checksum"] == together["workload"]["checksum"]
    for name in ("reads", "prefetches"):
        assert alone["pages"][name] == together["pages"][name] > 0
    waits = [sum(core["pages"]["wait"].values()) for core in together["cores"]]
    assert len(waits) == 4
    assert min(waits) > 0
    assert sum(waits) == sum(together["pages"]["wait"].values())
    for statistics in (alone, together):
        times = statistics[STORAGE_TIME]
        assert sum(times[f"io_{part}_seconds"] for part in PART_NAMES) == pytest.approx(times["io_seconds"], rel=1e-6)
        assert times["seconds"] == pytest.approx(times["cpu_seconds"] + times["io_seconds"] + times.get("ended_seconds", 0))
    if algorithm in ("grace", "inspector"):
        assert together[STORAGE_TIME]["seconds"] < alone[STORAGE_TIME]["seconds"], "four processors keep more requests waiting"
    # Of sort-merge one processor does, which reads from four inputs at a time.


def test_a_processor_that_has_ended_does_not_work(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    (tmp_path / "join.yaml").write_text(JOIN.replace("ALGORITHM", "grace").replace("partitions: 4", "partitions: 5"))
    alone, together = (run(row.point) for row in expand(load_experiment(tmp_path / "join.yaml")))
    assert "ended_seconds" not in alone[STORAGE_TIME], "one core ends with the run"
    times, cores, end = together[STORAGE_TIME], together["cores"], together["cycles"]
    whole = times["seconds"]
    assert min(core["cycles"] for core in cores) < end / 2, "one joins two pairs of partitions, the others one each"
    shares = [core["cycles"] / end * (1 - core["slots"]["storage"] / core["slots"]["total"]) for core in cores]
    assert times["cpu_seconds"] == pytest.approx(whole * fmean(shares))
    assert times["ended_seconds"] == pytest.approx(whole * fmean(1 - core["cycles"] / end for core in cores))
    assert whole == pytest.approx(times["cpu_seconds"] + times["io_seconds"] + times["ended_seconds"])
    # They do the work of one core, as long as it is not the bus that they wait for.
    assert 4 * times["cpu_seconds"] == pytest.approx(alone[STORAGE_TIME]["cpu_seconds"], rel=0.1)


def test_a_trace_of_a_run_with_storage_says_that_it_has_none(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    (tmp_path / "scan.yaml").write_text(SCAN)
    done = memwalk("trace", "record", tmp_path / "scan.yaml", "-o", tmp_path / "stored.parquet")
    assert (done.returncode, "a trace has no storage: who replays it has all pages in memory" in done.stderr) == (0, True)
    done = memwalk("trace", "record", tmp_path / "scan.yaml", "--set", "storage=null", "-o", tmp_path / "plain.parquet")
    assert (done.returncode, "storage" in done.stderr) == (0, False)
