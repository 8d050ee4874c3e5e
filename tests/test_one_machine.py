"""Workloads beside each other on the cores of one machine: against each alone, against their traces, by hand, and what is refused."""

from pathlib import Path

import pytest
from beside import run
from files import write_experiment
from storage_pages import DEVICE, WAY_SECONDS
from typer.testing import CliRunner

from memwalk.analysis.cli.main import app
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point, Row
from memwalk.analysis.experiments.results import read_table
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.simulation import simulate
from memwalk.analysis.experiments.slower import BESIDE_TIME
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.analysis.experiments.work import work
from memwalk.analysis.explain.breakdown import Explanation, explain
from memwalk.analysis.explain.time_breakdown import StorageExplanation
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PART_NAMES

SEARCH = "kernel: index, operation: search, tree: {kind: b+, node_lines: 1, prefetch: false}, keys: 20000, operations: 400, caches: empty"
SCAN = "kernel: table, layout: nsm, page_bytes: 4KiB, operation: scan, attributes: 4, records: 6000, selectivity: 0.1, caches: empty"
PROBE = "kernel: hash-probe, build_tuples: 2000, probe_tuples: 3000, interleaving: amac"
PARALLEL = "kernel: parallel-join, algorithm: no-partitioning, build_tuples: 1000, probe_tuples: 2000, threads: 3"
JOIN = (
    "kernel: hash-join, algorithm: grace, build_tuples: 900, probe_tuples: 1800, tuple_bytes: 60, page_bytes: 8KiB, "
    "partitions: 2, threads: 2"
)
CHASE = "kernel: pointer-chase, lines: 5000"
EXPERIMENT = """\
schema_version: 1
id: sharing
machine: ./small.yaml
workload: {WORKLOAD}
beside:
  OTHERS
"""
CORES = ("machine.cores=9", "machine.caches.L2.shared=true")


def rows(folder: Path, others: str, *sets: str, workload: str = SEARCH) -> list[Row]:
    path = write_experiment(folder, EXPERIMENT.replace("OTHERS", others).replace("WORKLOAD", workload))
    needed = ("dbms=compiled",) if "kernel: table" in workload + others else ()
    return expand(load_experiment(path), overrides=[parse_set(text) for text in (*CORES, *needed, *sets)])


def point(folder: Path, others: str, *sets: str, workload: str = SEARCH) -> Point:
    return rows(folder, others, *sets, workload=workload)[0].point


def beside(workload: str, more: str = "") -> str:
    return f"other: {{{workload}, shares: machine{more}}}"


@pytest.mark.parametrize("workload", [SEARCH, SCAN, JOIN, CHASE], ids=["search", "scan", "join", "chase"])
@pytest.mark.parametrize("other", [SEARCH, JOIN], ids=["search", "join"])
def test_who_begins_later_changes_nothing(tmp_path: Path, workload: str, other: str) -> None:
    one = point(tmp_path, beside(other, ", start: 1s"), workload=workload)
    late, plain = run(one), simulate(one.machine, one.workload)
    sooner = run(point(tmp_path, beside(other, ", start: 2s"), workload=workload))
    times = late.pop(BESIDE_TIME)
    assert times["slowdown"] == times["seconds"] / times["seconds_alone"] == 1
    assert sooner.pop(BESIDE_TIME)["seconds"] == times["seconds"]
    assert late == sooner
    # To the bit what it takes without others; on one core nobody says which caches are shared.
    for cache in (*late["caches"], *plain["caches"]):
        cache.pop("shared", None)
    for part in ("cycles", "instructions", "caches", "bus", "branches", "workload"):
        assert late[part] == plain[part], part
    # Who begins late finds what the other left in what they share, which is not its own.
    assert 0.98 < times["other.slowdown"] < 1.02


def test_beside_each_other_as_their_traces(tmp_path: Path) -> None:
    """Kernels that begin with no pause: what is recorded of each, replayed on the cores of the machine, has the same bits."""
    found = point(tmp_path, beside(PARALLEL), workload=PROBE)
    own = run(found)
    traces = [tmp_path / "own.mwt", tmp_path / "other.mwt"]
    other = {name: value for name, value in found.beside["other"].items() if name not in ("shares", "repeat")}
    for workload, path in zip((found.workload, other), traces, strict=True):
        native.record(workload, path)
    replayed = native.replay_cores(traces, found.machine, shared_addresses=False)["cores"]
    assert len(replayed) == 4
    times = own.pop(BESIDE_TIME)
    assert replayed[0] == own
    assert own["instructions"] > 10_000
    clock = found.machine["clock_hz"]
    assert times["other.seconds"] == max(core["cycles"] for core in replayed[1:]) / clock
    assert times["other.memory_lines"] == sum(core["bus"]["fills"] + core["bus"]["write_backs"] for core in replayed[1:])
    assert times["slowdown"] > 1.01


def test_two_that_keep_the_bus_busy_take_twice_as_long(tmp_path: Path) -> None:
    """A line takes the bus as long as it takes to come: 150 cycles each, and 300 for two who ask for one after the other."""
    busy = ("machine.memory.interval_cycles=150cycles", "machine.memory.latency_cycles=150cycles")
    third = f"{beside(CHASE)}\n  third: {{{CHASE}, shares: machine}}"
    for others, cycles in ((beside(CHASE), 300), (third, 450)):
        found = run(point(tmp_path, others, *busy, workload=CHASE))
        least = cycles * found["bus"]["fills"]
        # Walks take some cycles in which nobody asks, and the first to ask waits for nobody.
        assert 0.999 * least <= found["cycles"] < 1.05 * least
        assert found[BESIDE_TIME]["other.slowdown"] == pytest.approx(found[BESIDE_TIME]["slowdown"], rel=0.01)


def test_programs_displace_each_others_lines(tmp_path: Path) -> None:
    """A tree that is larger than the shared cache, and finds less of it there when another takes a part."""
    fast = "machine.memory.interval_cycles=1cycle"
    warm = SEARCH.replace("caches: empty", "caches: warm, warm_up: 2000")
    of = {
        shared: run(point(tmp_path, beside(CHASE, ", repeat: true"), fast, f"machine.caches.L2.shared={shared}", workload=warm))
        for shared in ("true", "false")
    }
    misses = {shared: found["caches"][1]["misses"] for shared, found in of.items()}
    assert misses["true"] > 1.2 * misses["false"]
    assert of["true"][BESIDE_TIME]["slowdown"] > 1.1
    # With a cache of its own it has the memory's bus for itself, too, but for a cycle now and then.
    assert 1 <= of["false"][BESIDE_TIME]["slowdown"] < 1.001


def test_what_repeats_is_compared_with_itself_repeated(tmp_path: Path) -> None:
    """Its later runs find in the caches what the first left there, alone and beside others."""
    apart = ("machine.memory.interval_cycles=1cycle", "machine.caches.L2.shared=false")
    short = CHASE.replace("5000", "400")
    times = run(point(tmp_path, beside(short, ", repeat: true"), *apart, "workload.operations=2000"))[BESIDE_TIME]
    once = run(point(tmp_path, beside(short), *apart))[BESIDE_TIME]
    assert times["other.runs"] > 3
    assert "other.runs" not in once
    assert times["other.seconds"] < 0.7 * once["other.seconds"], "400 lines of 64 bytes fit into the second cache"
    assert times["other.slowdown"] == pytest.approx(1, abs=0.001)
    assert once["other.slowdown"] == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("short", [CHASE.replace("5000", "1500"), JOIN, SEARCH], ids=["chase", "join", "search"])
def test_what_repeats_is_alone_as_often_as_beside(tmp_path: Path, short: str) -> None:
    """Caches emptied again and again, in which no run is like the one before; nothing is shared but a bus that is free."""
    apart = ("machine.memory.interval_cycles=1cycle", "machine.caches.L2.shared=false", "machine.interference.flush_interval_cycles=200us")
    times = run(point(tmp_path, beside(short, ", repeat: true"), *apart, "workload.operations=10000"))[BESIDE_TIME]
    assert times["other.runs"] > 3
    assert times["other.slowdown"] == pytest.approx(1, abs=0.005)


def test_only_the_first_run_of_a_neighbour_warms_up(tmp_path: Path) -> None:
    """Later runs are as long as the measured part of the first; with their warm-ups they would be eleven times as long."""
    warm = SEARCH.replace("caches: empty", "caches: warm, warm_up: 400").replace("operations: 400", "operations: 40")
    apart = ("machine.memory.interval_cycles=1cycle", "machine.caches.L2.shared=false")
    times = run(point(tmp_path, beside(warm, ", repeat: true"), *apart, "workload.operations=3000"))[BESIDE_TIME]
    assert times["other.runs"] > 5
    assert times["other.slowdown"] == pytest.approx(1, abs=0.1)
    assert times["seconds"] == pytest.approx(times["other.runs"] * times["other.seconds"] + 10 * times["other.seconds"], rel=0.2)


def test_programs_have_no_lines_in_common(tmp_path: Path) -> None:
    """The same workload twice: coherent caches have nothing to do, and neither finds what the other has fetched."""
    coherent = "machine.coherence={protocol: mesi, transfer_cycles: 20cycles}"
    found = run(point(tmp_path, beside(PROBE), coherent, workload=PROBE))
    without = point(tmp_path, beside(PROBE), workload=PROBE)
    alone = native.simulate(without.machine, without.workload)
    assert set(found["coherence"].values()) == {0}
    assert found["bus"]["fills"] >= alone["bus"]["fills"] > 1000
    assert found["workload"] == alone["workload"]


def test_what_is_observed_is_the_workloads(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("OTHERS", beside(JOIN)).replace("WORKLOAD", SEARCH) + "observe: [bytes, counts, curve]\n"
    one = expand(load_experiment(write_experiment(tmp_path, text)), overrides=[parse_set(text) for text in CORES])[0].point
    found, alone = run(one), simulate(one.machine, one.workload, one.observe)
    for observed in ("byte_usage", "counts", "curve"):
        assert found[observed] == alone[observed]


def test_the_inside_of_memory_is_of_all(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("OTHERS", beside(CHASE)).replace("WORKLOAD", PROBE).replace("./small.yaml", "zen4-ddr4")
    found = run(expand(load_experiment(write_experiment(tmp_path, text)))[0].point)
    lines = found["bus"]["fills"] + found[BESIDE_TIME]["other.memory_lines"]
    assert found["dram"]["reads"] == pytest.approx(lines, rel=0.01)
    assert found["dram"]["reads"] > 1.5 * found["bus"]["fills"]


def test_a_sweep_has_tables_of_the_workload_and_columns_of_the_others(tmp_path: Path) -> None:
    """One worker and two give the same bytes."""
    asked = rows(tmp_path, beside(JOIN, ", repeat: true"), "workload.operations=[100, 1000]")
    for jobs in (1, 2):
        run_rows("sharing", asked, tmp_path / f"out{jobs}", jobs=jobs)
    tables = [(tmp_path / f"out{jobs}" / "results.parquet").read_bytes() for jobs in (1, 2)]
    assert tables[0] == tables[1]
    row = read_table(tmp_path / "out1" / "results.parquet").to_dict("records")[0]
    assert row["beside.other.shares"] == "machine"
    assert row["slowdown"] > 1
    assert "io_seconds" not in row
    own, other = explain(tmp_path / "out1")[:2]
    assert isinstance(own, Explanation)
    assert own.time is None
    assert isinstance(other, StorageExplanation)
    assert sum(other.time.causes.values()) == pytest.approx(row["other.seconds"])
    assert other.time.seconds == row["other.seconds"]
    assert "storage" not in other.headline()


def test_results_are_printed_by_program(tmp_path: Path) -> None:
    rows(tmp_path, beside(JOIN))
    sets = [word for text in CORES for word in ("--set", text)]
    done = CliRunner().invoke(app, ["run", str(tmp_path / "experiment.yaml"), *sets, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "other" in done.output
    assert "slowdown" in done.output
    (row,) = read_table(tmp_path / "out" / "results.parquet").to_dict("records")
    told = CliRunner().invoke(app, ["explain", str(tmp_path / "out")]).output
    assert f"Beside the others it takes {row['slowdown']:.3g} times as long as alone." in told
    assert f"Beside the others it takes {row['other.slowdown']:.3g} times as long as alone." in told


SEARCH_PAGES = (
    "kernel: disk-index, structure: array, operation: search, page_bytes: 8KiB, key_bytes: 4B, keys: 100000, operations: 300, "
    "pool_frames: 20, caches: empty"
)
JOIN_PAGES = (
    "kernel: hash-join, algorithm: group, build_tuples: 3000, probe_tuples: 6000, tuple_bytes: 60, page_bytes: 8KiB, "
    "pages_asked_ahead: 20, output: stored, partitions: 4, threads: 4"
)
INSERT_PAGES = SEARCH_PAGES.replace("search", "insert").replace("300", "100")
SCAN_PAGES = "kernel: table, layout: nsm, page_bytes: 4KiB, operation: scan, attributes: 4, records: 20000, selectivity: 0.1, caches: empty"


def stored_rows(folder: Path, others: str, *sets: str, workload: str = SEARCH_PAGES) -> list[Row]:
    (folder / "device.yaml").write_text(DEVICE)
    return rows(folder, others, f"storage={folder}/device.yaml", *sets, workload=workload)


def stored(folder: Path, others: str, *sets: str, workload: str = SEARCH_PAGES) -> Point:
    return stored_rows(folder, others, *sets, workload=workload)[0].point


@pytest.mark.parametrize("workload", [SEARCH_PAGES, SCAN_PAGES, JOIN_PAGES, INSERT_PAGES], ids=["search", "scan", "join", "insert"])
@pytest.mark.parametrize("other", [SEARCH_PAGES, JOIN_PAGES, CHASE], ids=["search", "join", "chase"])
def test_who_begins_later_changes_nothing_on_storage(tmp_path: Path, workload: str, other: str) -> None:
    """The workload has waited for what it has written when the other begins.

    It has the times that it has without others, but that a core beside others does not go back behind them: it stops for each page that it
    writes.
    """
    found = run(stored(tmp_path, beside(other, ", start: 900s"), workload=workload))
    without = stored(tmp_path, beside(other), workload=workload)
    alone = simulate(without.machine, without.workload, (), without.run)
    times, own = found[BESIDE_TIME], found[STORAGE_TIME]
    assert times["slowdown"] == times["seconds"] / times["seconds_alone"] == 1
    assert times["seconds"] == pytest.approx(alone[STORAGE_TIME]["seconds"], rel=0 if "insert" not in workload else 0.01)
    assert own["io_requests"] == alone[STORAGE_TIME]["io_requests"]
    assert own["io_busiest_seconds"] == pytest.approx(alone[STORAGE_TIME]["io_busiest_seconds"], rel=0.001)
    assert found["instructions"] == alone["instructions"]
    # A scan and a join have read their last page, behind which the other's first one lies.
    spared = WAY_SECONDS if other == JOIN_PAGES and workload in (SCAN_PAGES, JOIN_PAGES) else 0
    assert times["other.seconds"] == pytest.approx(times["other.seconds_alone"] - spared, rel=0.02)


def test_two_on_one_disk_wait_for_each_other(tmp_path: Path) -> None:
    """A disk of 5 ms a request that two read from all the time, first come, first served: 10 ms a read."""
    found = run(stored(tmp_path, beside(SEARCH_PAGES, ", seed: 2")))
    own, times = found[STORAGE_TIME], found[BESIDE_TIME]
    assert times["slowdown"] == pytest.approx(2, rel=0.05)
    assert times["other.slowdown"] == pytest.approx(2, rel=0.05)
    assert own["io_seconds"] / own["io_requests"] == pytest.approx(0.01, rel=0.05)
    assert times["other.io_seconds"] / times["other.io_requests"] == pytest.approx(0.01, rel=0.05)
    parts = [f"io_{part}_seconds" for part in PART_NAMES]
    assert sum(own[part] for part in parts) == pytest.approx(own["io_seconds"], rel=1e-9)
    assert sum(times[f"other.{part}"] for part in parts) == pytest.approx(times["other.io_seconds"], rel=1e-9)
    assert times["other.cpu_seconds"] + times["other.io_seconds"] == pytest.approx(times["other.seconds"], rel=1e-9)


def test_on_one_machine_or_on_two_a_disk_decides(tmp_path: Path) -> None:
    """Searches that wait for the disk nearly all the time do not notice that they share the caches and the memory."""
    one = run(stored(tmp_path, beside(SEARCH_PAGES, ", seed: 2")))
    text = EXPERIMENT.replace("OTHERS", f"other: {{{SEARCH_PAGES}, seed: 2}}").replace("WORKLOAD", SEARCH_PAGES)
    two = run(expand(load_experiment(write_experiment(tmp_path, f"{text}storage: ./device.yaml\n")))[0].point)
    for column in ("seconds", "io_requests", "io_busiest_seconds"):
        assert one[STORAGE_TIME][column] == pytest.approx(two[STORAGE_TIME][column], rel=0.01)
        assert one[BESIDE_TIME][f"other.{column}"] == pytest.approx(two[STORAGE_TIME][f"other.{column}"], rel=0.01)


def test_one_that_repeats_reads_its_pages_in_each_run(tmp_path: Path) -> None:
    """Its columns are means: each run begins with an empty pool, and reads as many pages as one alone."""
    short = SEARCH_PAGES.replace("300", "50")
    times = run(stored(tmp_path, beside(short, ", seed: 2, repeat: true")))[BESIDE_TIME]
    once = run(stored(tmp_path, beside(short, ", seed: 2")))[BESIDE_TIME]
    assert times["other.runs"] > 3
    assert times["other.io_requests"] == once["other.io_requests"]
    assert times["other.seconds"] == pytest.approx(once["other.seconds"], rel=0.1)
    assert times["other.cpu_seconds"] + times["other.io_seconds"] == pytest.approx(times["other.seconds"], rel=1e-9)


def test_one_that_writes_and_repeats_has_written_before_it_begins_again(tmp_path: Path) -> None:
    """Else it would ask for pages faster than the disk writes them, and whoever reads beside it would wait for ever longer."""
    join = "kernel: hash-join, algorithm: group, build_tuples: 1000, probe_tuples: 2000, partitions: 2, output: stored"
    once = run(stored(tmp_path, beside(join), "workload.operations=20"))[BESIDE_TIME]
    assert once["other.io_requests"] > 10
    one = stored(tmp_path, beside(join, ", repeat: true"), "workload.operations=20")

    def stop_without_end(_events: int, steps: int, _built: int) -> None:
        assert steps < 5_000

    times = simulate(one.machine, one.workload, one.observe, one.run, stop_without_end, neighbours=one.neighbours)[BESIDE_TIME]
    assert times["other.runs"] > 1
    # Each run takes as long as its pages take the disk, all runs together no longer than the workload and the last of them.
    assert times["other.seconds"] > 0.5 * once["other.seconds"]
    assert times["other.seconds"] * (times["other.runs"] - 1) < times["seconds"]


def test_what_the_operating_system_takes_of_a_neighbour_is_told(tmp_path: Path) -> None:
    """Two alike: of either it is the I/O path that takes the core's time."""
    found = run(stored(tmp_path, beside(SEARCH_PAGES), "storage.cpu_per_page=2ms"))
    slots, times = found["slots"], found[BESIDE_TIME]
    own = slots["system"] / (slots["total"] - slots["storage"]) * found[STORAGE_TIME]["cpu_seconds"]
    assert own > 0.1
    assert times["other.cpu_system_seconds"] == pytest.approx(own, rel=0.05)
    assert sum(value for name, value in times.items() if name.startswith("other.cpu_") and name != "other.cpu_seconds") == pytest.approx(
        times["other.cpu_seconds"], rel=1e-6
    )


def test_only_some_have_pages_on_storage(tmp_path: Path) -> None:
    """A chase in memory beside searches from a disk, which it hardly holds up."""
    times = run(stored(tmp_path, beside(CHASE, ", repeat: true"), "workload.operations=20"))[BESIDE_TIME]
    assert times["other.runs"] > 2
    assert times["other.io_requests"] == 0
    assert times["slowdown"] == pytest.approx(1, abs=0.01)


def test_pages_of_neighbours_suffice_for_a_storage(tmp_path: Path) -> None:
    """Whether the workload asks for some itself or not; a storage of which nobody asks anything is refused."""
    one, two = (run(row.point) for row in stored_rows(tmp_path, beside(SEARCH_PAGES, ", seed: 2"), "workload.pool_frames=[0, 20]"))
    assert one[STORAGE_TIME]["io_requests"] == 0 < two[STORAGE_TIME]["io_requests"]
    assert one[BESIDE_TIME]["other.slowdown"] < 1.1 < two[BESIDE_TIME]["other.slowdown"]
    in_memory = run(stored(tmp_path, beside(SEARCH_PAGES), workload=CHASE))
    assert in_memory[BESIDE_TIME]["other.io_requests"] > 200
    with pytest.raises(UserError, match="storage has no effect"):
        stored(tmp_path, beside(CHASE), workload=CHASE)


def test_data_structures_have_to_be_those_of_one_of_them(tmp_path: Path) -> None:
    huge = "machine.dtlb.huge_pages=[{}]"
    more = ("machine.dtlb.huge_page_bytes=2MiB", "machine.dtlb.levels.0.huge_entries=8")
    for name in ("level*", "lines"):
        times = run(point(tmp_path, beside(CHASE), *more, huge.format(name)))[BESIDE_TIME]
        assert times["slowdown"] > 1
    with pytest.raises(native.SpecError, match="frames"):
        run(point(tmp_path, beside(CHASE), *more, huge.format("frames")))


def test_pages_of_all_have_to_fit(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE.replace("page_bytes", "blocks: 3000\npage_bytes"))
    small = point(tmp_path, beside(SEARCH_PAGES), f"storage={tmp_path}/device.yaml", workload=SEARCH_PAGES)
    with pytest.raises(UserError, match="other, alone: storage device: the run asks for"):
        run(small)


def test_a_trace_and_the_host_have_the_workload_by_itself(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, EXPERIMENT.replace("OTHERS", beside(CHASE)).replace("WORKLOAD", SEARCH))
    sets = [word for text in CORES for word in ("--set", text)]
    needed = sets[:2]
    traced = CliRunner().invoke(app, ["trace", "record", str(path), *needed, "--out", str(tmp_path / "own.mwt")])
    assert "the trace is of the workload by itself" in traced.output
    natively = CliRunner().invoke(
        app, ["native", str(path), *sets, "--machine", str(tmp_path / "small.yaml"), "--json", "--repetitions", "1"]
    )
    assert natively.exit_code == 0, natively.output
    assert "compared with a simulation without `beside`" in natively.output
    path.write_text(EXPERIMENT.replace("OTHERS", beside(SEARCH_PAGES)).replace("WORKLOAD", SEARCH_PAGES) + "storage: ./device.yaml\n")
    (tmp_path / "device.yaml").write_text(DEVICE)
    stored_too = CliRunner().invoke(app, ["trace", "record", str(path), *needed, "--out", str(tmp_path / "pages.mwt")])
    for said in ("a trace has no storage", "the trace is of the workload by itself"):
        assert said in stored_too.output
    path.write_text(EXPERIMENT.replace("OTHERS", beside(CHASE)).replace("WORKLOAD", SEARCH))
    # A machine of one core will do, whatever the experiment's has.
    path.write_text(path.read_text().replace("./small.yaml", "zen4-server"))
    on_one = CliRunner().invoke(app, ["native", str(path), "--machine", str(tmp_path / "small.yaml"), "--json", "--repetitions", "1"])
    assert on_one.exit_code == 0, on_one.output


def test_work_is_estimated(tmp_path: Path) -> None:
    """Each runs alone and beside the others; progress is of all of them."""
    one = point(tmp_path, beside(SEARCH))
    heard: list[int] = []
    simulate(one.machine, one.workload, (), None, lambda events, _steps, _built: heard.append(events), neighbours=one.neighbours)
    alone = native.estimate_work(one.workload)["events"]
    assert work(one, built=True).events == 4 * alone
    assert heard == sorted(heard)


def test_work_of_what_repeats_is_that_of_all_its_runs(tmp_path: Path) -> None:
    """Or else progress would stand at its end most of the time. Both are of one kernel, so that an event takes as long in both."""
    one = point(tmp_path, beside(SEARCH, ", repeat: true").replace("400", "1000"), "workload.operations=40000")
    heard: list[int] = []
    simulate(one.machine, one.workload, (), None, lambda events, _steps, _built: heard.append(events), neighbours=one.neighbours)
    once = point(tmp_path, beside(SEARCH).replace("400", "1000"), "workload.operations=40000")
    estimated = work(one, built=True).events
    assert estimated > 1.3 * work(once, built=True).events
    assert heard[-1] == pytest.approx(estimated, rel=0.25)


@pytest.mark.parametrize(
    ("workload", "others", "sets", "told"),
    [
        (SEARCH, beside(JOIN), ("machine.cores=2",), r"6:3: 3 threads need as many cores, but machine small has 2; set machine.cores: 3"),
        (SEARCH, beside(PARALLEL), ("machine.cores=2",), r"6:3: 4 threads need as many cores, .*; set machine.cores: 4"),
        (SEARCH, beside(SEARCH.replace("empty", "cold")), (), r"other.caches|others use the caches, too"),
        (SEARCH.replace("empty", "cold"), beside(SEARCH), (), r"4:.*others use the caches, too"),
        (
            SEARCH,
            f"other: {{{SEARCH}}}",
            (),
            "kernel index asks storage for no pages.*With shares: machine it runs on the workload's machine",
        ),
        (SEARCH, f"other: {{{SCAN}}}", (), "beside has no effect on this run"),
        (
            SEARCH,
            f"{beside(SEARCH)}\n  scan: {{{SCAN}}}",
            (),
            "scan: others share the workload's machine, so it has to, too: write shares: machine",
        ),
        (SEARCH, f"{beside(SEARCH)}\n  plain: {{kernel: requests, count: 3}}", (), "plain: it runs on storage, and others here share"),
        (SEARCH, beside(SEARCH).replace("machine", "machin"), (), "machin"),
    ],
    ids=["cores", "cores-of-all", "cold-other", "cold", "asks-nothing", "no-storage", "mixed", "program", "misspelt"],
)
def test_what_cannot_be_is_told(tmp_path: Path, workload: str, others: str, sets: tuple[str, ...], told: str) -> None:
    with pytest.raises(UserError, match=told):
        rows(tmp_path, others, *sets, workload=workload)


def test_progress_goes_on_while_a_neighbour_repeats(tmp_path: Path) -> None:
    """A workload of few events that take long, most of them of its warm-up, beside one of many: what is told follows the time."""
    warm = SEARCH.replace("caches: empty", "caches: warm, warm_up: 10000")
    one = point(tmp_path, beside(PARALLEL.replace("2000", "10000"), ", repeat: true"), workload=warm)
    told: list[float] = []
    estimated = work(one, built=True)
    simulate(one.machine, one.workload, (), None, lambda *passed: told.append(estimated.done(*passed)), neighbours=one.neighbours)
    near_the_end = sum(share >= 0.98 for share in told)
    assert near_the_end < 0.6 * len(told)  # nearly all, if the warm-up does not count


def test_one_that_has_nothing_to_do_does_not_repeat_for_ever(tmp_path: Path) -> None:
    """With storage it takes a cycle, in which it finds that nothing is to be written."""
    nothing = "kernel: hash-join, algorithm: grace, build_tuples: 0, probe_tuples: 0"
    for one in (point(tmp_path, beside(nothing, ", repeat: true")), stored(tmp_path, beside(nothing, ", repeat: true"))):
        with pytest.raises(UserError, match="other, alone: it takes no time"):
            run(one)


def test_who_cannot_run_is_named(tmp_path: Path) -> None:
    """A neighbour that calls a DBMS, on a machine without one."""
    path = write_experiment(tmp_path, EXPERIMENT.replace("OTHERS", beside(SCAN)).replace("WORKLOAD", SEARCH))
    asked = expand(load_experiment(path), overrides=[parse_set(text) for text in CORES])
    with pytest.raises(UserError, match=r"experiment.yaml:6:.*other, alone: .*DBMS"):
        run_rows("sharing", asked, tmp_path / "out", jobs=1)
