"""Replays beside the plain one: counted, sampled, on several cores."""

import json
from pathlib import Path
from typing import Any

import pytest
from files import memwalk, write_experiment

from memwalk.analysis.experiments.results import read_table
from memwalk.simcore.engines import native

JOIN = {"kernel": "parallel-join", "algorithm": "no-partitioning", "build_tuples": 3000, "probe_tuples": 5000}
SHARED = ("--set", "machine.cores=2", "--set", "machine.caches.1.shared=true")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds a small machine and a trace of 400 searches."""
    folder = tmp_path_factory.mktemp("replay")
    write_experiment(folder)
    fixed = ("--set", "workload.seed=1", "--set", "workload.operations=400", "--set", "workload.keys=5000")
    done = memwalk("trace", "record", "experiment.yaml", "--variant", "B+", *fixed, "-o", "t.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def replay(folder: Path, *arguments: str) -> Any:
    done = memwalk("replay", "t.parquet", *arguments, "--machine", "./small.yaml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_counts_are_those_of_the_timed_replay(folder: Path) -> None:
    timed, counted = replay(folder), replay(folder, "--mode", "counts")
    assert counted["instructions"] == timed["instructions"]
    for level, cache in zip(counted["caches"], timed["caches"], strict=True):
        assert (level["misses"], level["hits"]) == (cache["misses"], cache["hits"] + cache["merges"])


def test_a_sample_comes_with_its_interval(folder: Path) -> None:
    timed, sampled = replay(folder), replay(folder, "--sample", "500:500:2000")
    low, middle, high = sampled["estimate"]["cycles"]
    assert low < middle < high
    assert low <= timed["cycles"] <= high
    assert sampled["statistics"]["caches"][0]["misses"] == timed["caches"][0]["misses"]
    printed = memwalk("replay", "t.parquet", "--sample", "500:500:2000", "--machine", "./small.yaml", cwd=folder).stdout
    assert f" {middle:,.0f}\n" in printed
    assert f" {low:,.0f} to {high:,.0f} (±" in printed
    assert middle > 1000, "numbers have separators there"


OUTCOME = {"operations", "returned", "checksum", "index_bytes"}
"""Columns that say what the searches came to."""


def test_a_part_of_a_trace_says_nothing_of_the_operations_of_all_of_it(folder: Path) -> None:
    def explained(*places: str) -> tuple[Any, set[str]]:
        out = f"out{len(places)}{''.join(places)}"
        done = memwalk("replay", "t.parquet", *places, "--machine", "./small.yaml", "--out", out, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert ("operations" in done.stdout) == (not places)
        (point,) = json.loads(memwalk("explain", out, "--json", cwd=folder).stdout)["points"]
        return point, OUTCOME & set(read_table(folder / out / "results.parquet"))

    whole, said = explained()
    timed = replay(folder)
    assert (whole["operations"], said) == (400, OUTCOME)
    assert whole["cycles"] == timed["cycles"] / 400
    half = str(timed["events"] // 2)
    for places in [("--until", half), ("--from", half), ("--warm-up", half)]:
        tree = replay(folder, *places)
        assert tree["workload"] == {}
        part, said = explained(*places)
        assert (part["operations"], part["cycles"], said) == (None, tree["cycles"], set())


def test_samples_and_counts_are_of_the_whole_trace(folder: Path) -> None:
    timed, sampled = replay(folder), replay(folder, "--sample", "500:500:2000")
    assert sampled["statistics"]["workload"] == timed["workload"]
    assert sampled["statistics"]["events"] == timed["events"]
    assert "workload" not in replay(folder, "--mode", "counts")


def test_a_trace_too_short_for_samples_is_replayed_in_full(folder: Path) -> None:
    done = memwalk("replay", "t.parquet", "--sample", "auto", "--machine", "./small.yaml", "--json", cwd=folder)
    assert done.returncode == 0
    assert "t.parquet: too short for samples, so it is replayed in full" in done.stderr
    assert json.loads(done.stdout) == replay(folder)


def test_a_plan_of_too_few_units_is_refused_with_the_remedy(folder: Path) -> None:
    for plan in ("1000:2000:100000", "1000:2000:50000", "10:20:30000"):
        done = memwalk("replay", "t.parquet", "--sample", plan, "--machine", "./small.yaml", cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--sample {plan}: a period of " in done.stderr
        assert "an interval needs 30; " in done.stderr
        assert done.stderr.endswith("replay it in full\n")
    longest = int(done.stderr.partition("a period of at most ")[2].partition(",")[0])
    low, middle, high = replay(folder, "--sample", f"10:20:{longest}")["estimate"]["cycles"]
    assert 0 <= low < middle < high


def test_counts_say_where_they_need_time(folder: Path) -> None:
    prefetching = ("--mode", "counts", "--set", "machine.caches.L1.prefetchers=[{kind: next-line, degree: 4}]")
    (said,) = replay(folder, *prefetching)["differs_from_timing"]
    shown = memwalk("replay", "t.parquet", *prefetching, "--machine", "./small.yaml", cwd=folder).stdout
    assert f"in no time, {said}\n" in shown
    assert "differs_from_timing" not in replay(folder, "--mode", "counts")
    behind = replay(folder, "--mode", "counts", "--set", "machine.caches.L2.prefetchers=[{kind: next-line, degree: 4}]")
    assert "differs_from_timing" not in behind


def test_counts_and_curves_say_that_threads_share_the_caches_of_one_core(threads: Path) -> None:
    said = "its 2 threads run in turn on one core, and share its caches"
    for command in (("replay", threads.name, "--mode", "counts", "--machine", "./small.yaml"), ("curve", threads.name)):
        assert f"in no time, {said}\n" in memwalk(*command, cwd=threads.parent).stdout
        assert json.loads(memwalk(*command, "--json", cwd=threads.parent).stdout)["differs_from_timing"] == [said]


def test_counts_take_no_times(folder: Path) -> None:
    counting = ("replay", "t.parquet", "--mode", "counts", "--machine", "./small.yaml", "--set")
    for path, value in (
        ("clock_hz", "2GHz"),
        ("core.reorder_buffer", "9"),
        ("caches.L1.latency_cycles", "2cycles"),
        ("caches.L1.mshrs", "1"),
        ("dtlb.walk_latency_cycles", "9cycles"),
        ("memory.latency_cycles", "900cycles"),
    ):
        done = memwalk(*counting, f"machine.{path}={value}", cwd=folder)
        assert done.returncode == 2, path
        assert f"machine.{path} has no effect on this run: it is for replays in time, and --mode counts has none" in done.stderr
    for size in ("caches.L1.ways=2", "dtlb.levels.0.entries=8"):
        assert memwalk(*counting, f"machine.{size}", cwd=folder).returncode == 0, size
    prefetching = ("--scale", "quick", "--variant", "p8B+", "--set", "workload.seed=1", "-o", "prefetching.parquet")
    assert memwalk("trace", "record", "experiment.yaml", *prefetching, cwd=folder).returncode == 0
    drops = [word.replace("t.parquet", "prefetching.parquet") for word in counting]
    assert memwalk(*drops, "machine.dtlb.prefetch_on_miss=drop", cwd=folder).returncode == 0


def test_the_breakdown_of_counts_says_what_it_counts(folder: Path) -> None:
    other = ("--set", "machine.caches.L1.replacement=fifo")
    for sets, title in [((), "lines by the level that served them"), (other, "loads and stores by the level that served their last line")]:
        rows = replay(folder, "--mode", "counts", *sets)["breakdown"]
        shown = memwalk("replay", "t.parquet", "--mode", "counts", *sets, "--machine", "./small.yaml", cwd=folder).stdout
        assert title in shown
        assert ("prefetched" in shown) == ("prefetched" in rows[0]) == (not sets)


@pytest.fixture(scope="module")
def threads(folder: Path) -> Path:
    """Record a join of two threads beside the trace of searches."""
    native.record(JOIN | {"threads": 2}, folder / "threads.parquet")
    return folder / "threads.parquet"


@pytest.mark.parametrize("plan", ["auto", "1000:2000:10000"])
def test_threads_are_not_sampled(threads: Path, plan: str) -> None:
    two = ("--set", "machine.cores=2")
    done = memwalk("replay", threads.name, "--sample", plan, "--machine", "./small.yaml", *two, cwd=threads.parent)
    assert (done.returncode, done.stdout) == (2, "")
    said = "the trace of 2 threads, which is run as a whole: they are not in the same place at the same time"
    assert done.stderr == f"memwalk: error: {threads.name}: {said}\n"


def test_programs_side_by_side_have_segments_of_their_own_in_huge_pages(folder: Path) -> None:
    native.record(JOIN | {"threads": 1}, folder / "join.parquet")
    huge = ("--set", "machine.dtlb.huge_page_bytes=2MiB", "--set")
    small = replay(folder, "join.parquet", *SHARED)
    both = replay(folder, "join.parquet", *SHARED, *huge, 'machine.dtlb.huge_pages=["level 0*", "buckets"]')
    for before, after in zip(small["cores"], both["cores"], strict=True):
        assert after["dtlb"]["walks"] < before["dtlb"]["walks"]
    wrong = ("t.parquet", "join.parquet", *SHARED, *huge, "machine.dtlb.huge_pages=[nowhere]")
    done = memwalk("replay", *wrong, "--machine", "./small.yaml", cwd=folder)
    assert done.returncode == 2
    assert "dtlb.huge_pages.0: `nowhere` matches no segment of any trace; they have `" in done.stderr
    assert "`level 0" in done.stderr
    assert "`buckets`" in done.stderr


def test_two_cores_share_what_the_machine_shares(folder: Path) -> None:
    alone = replay(folder)
    both = replay(folder, "t.parquet", *SHARED, "--shared-addresses")
    assert len(both["cores"]) == 2
    assert both["cycles"] == max(core["cycles"] for core in both["cores"])
    assert [core["slots"]["barrier"] for core in both["cores"]] == [0, 0]
    assert "barrier" not in alone["slots"]
    assert sum(core["bus"]["fills"] for core in both["cores"]) < 2 * alone["bus"]["fills"], "they fetch for each other"


def test_unrelated_programs_share_no_lines(folder: Path) -> None:
    alone, both = replay(folder), replay(folder, "t.parquet", *SHARED)
    first, second = (core["bus"]["fills"] for core in both["cores"])
    assert first >= alone["bus"]["fills"]
    assert second == pytest.approx(first, rel=0.05), "neither finds what the other fetched"


def test_cores_share_one_dram(folder: Path) -> None:
    dram = ("--set", "machine.memory={model: dramsim3, config: ddr4-3200.ini, path_latency_cycles: 60ns, write_backs: true}")
    alone, both = replay(folder, *dram), replay(folder, "t.parquet", *SHARED, *dram)
    assert alone["dram"]["reads"] == alone["bus"]["fills"]
    assert both["dram"]["reads"] == sum(core["bus"]["fills"] for core in both["cores"])
    assert both["dram"]["reads"] >= 2 * alone["dram"]["reads"]
    assert not any("dram" in core for core in both["cores"])
    done = memwalk("replay", "t.parquet", "t.parquet", *SHARED, *dram, "--machine", "./small.yaml", cwd=folder)
    assert "memory of all cores" in done.stdout


def test_every_kind_of_replay_prints_a_table(folder: Path) -> None:
    for arguments, shown in [
        (("--mode", "counts"), "write_backs"),
        (("--sample", "500:500:2000"), "cycles, estimated"),
        (("t.parquet", *SHARED), "core 1"),
    ]:
        done = memwalk("replay", "t.parquet", *arguments, "--machine", "./small.yaml", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sample", "10:20"), "UNIT:WARMUP:PERIOD"),
        (("--sample", "0:2000:10"), "--sample 0:2000:10: a unit of 0 measures nothing; the least is 1"),
        (
            ("--sample", "1000:2000:10"),
            "--sample 1000:2000:10: a period of 10 is too short for a unit of 1000 behind a warm-up of 2000; the least is 3000",
        ),
        (("--sample", "1:1:9999999999999999999"), "a period of 9999999999999999999 is too long; the most is 9223372036854775807"),
        (("--from", "20", "--until", "10"), "--from 20 --until 10: t.parquet: it ends before it begins: nothing is left to run"),
        (("--from", "1G"), "--from 1G: t.parquet: it never begins: the trace has "),
        (("--until", "50", "--warm-up", "0"), "--until 50 --warm-up 0: t.parquet: its warm-up is empty; leave it out"),
        (("--sample", "auto", "--mode", "counts"), "exclude each other"),
        (("t.parquet",), "2 threads need as many cores, but machine small has 1; set machine.cores: 2, or take fewer"),
        (("--shared-addresses",), "one trace shares its addresses with nobody"),
        (("--gem5", "gem5.opt"), "--gem5: only with --engine gem5"),
        (("--gem5-folder", "g", "--mode", "counts"), "--gem5-folder: only with --engine gem5"),
        (("--gem5", "a", "--gem5-folder", "b"), "--gem5, --gem5-folder: only with --engine gem5"),
        (("--dbms", "compiled"), "--dbms compiled: dbms has no effect on this run: it is for kernels that call a DBMS"),
        (("--set", "machine.caches.0.shared=true"), "the first level belongs to one core"),
        (("--set", "machine.caches.L2.shared=false"), "caches.L2.shared has no effect on this run: it is for runs of several threads"),
        (("--mode", "counts", "--set", "machine.caches.1.shared=false"), "machine.caches.1.shared has no effect on this run"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = memwalk("replay", "t.parquet", *arguments, "--machine", "./small.yaml", cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
