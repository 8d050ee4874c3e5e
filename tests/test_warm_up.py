"""Warm-ups: what is measured after them is steady, the same live and replayed, counted and timed, and leaves them out."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import memwalk, write_experiment
from machines import THESIS

from memwalk.analysis.cli.tables import unsteady
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

SEARCH = {"kernel": "index", "operation": "search", "keys": 10_000, "operations": 2_000, "seed": 1}
P8 = {"kind": "b+", "node_lines": 8, "prefetch": True}
TABLE = {"kernel": "table", "records": 2_000, "point_queries": 500}


SCAN = SEARCH | {"tree": P8, "operation": "scan", "range": 200, "operations": 200}
QUERY = {"kernel": "tpch", "query": "q6", "layout": "nsm", "scale_factor": 0.01}


def share(statistics: dict[str, Any]) -> float:
    """Gives the share of the slots that wait for data."""
    slots = statistics["slots"]
    return float(sum(slots["dcache"].values()) / slots["total"])


@pytest.mark.parametrize("operation", ["search", "insert", "delete"])
def test_ten_thousand_keys_that_fit_are_there(operation: str) -> None:
    workload = SEARCH | {"operation": operation, "operations": 300 if operation == "insert" else 2_000, "fill": 0.8}
    warm, empty = (native.simulate(THESIS, workload | state) for state in ({"warm_up": "auto"}, {"caches": "empty"}))
    assert share(warm) < 0.1
    assert share(empty) > 0.3
    assert warm["workload"]["warm_up_steady"] is True
    assert warm["workload"]["operations"] == empty["workload"]["operations"] == workload["operations"]
    assert warm["workload"]["checksum"] == empty["workload"]["checksum"]
    assert [phase["entries"] for phase in warm["phases"]] == [0, workload["operations"]]


def test_a_prefetching_tree_that_fits_is_there() -> None:
    warm = native.simulate(THESIS, SEARCH | {"tree": P8})
    assert share(warm) < 0.1
    assert warm["bus"]["fills"] < 0.01 * warm["prefetches"]["issued"]


def test_what_does_not_fit_misses_as_in_a_series_twice_as_long() -> None:
    """Searches after the warm-up miss like the second half of a long series does; its cache of 256 KiB holds a third of the tree."""
    first, *_, last = THESIS["caches"]
    machine = THESIS | {"caches": [first, last | {"size_bytes": 256 << 10}]}
    workload = SEARCH | {"keys": 100_000, "operations": 10_000}
    warm = native.simulate(machine, workload)
    long = native.simulate(machine, workload | {"warm_up": 60_000})
    assert warm["workload"]["warm_up_operations"] < 30_000
    assert warm["cycles"] == pytest.approx(long["cycles"], rel=0.02)
    assert warm["bus"]["fills"] == pytest.approx(long["bus"]["fills"], rel=0.03)


def test_auto_is_the_number_that_it_says() -> None:
    found = native.simulate(THESIS, SEARCH | {"warm_up": "auto"})
    assert native.warmed_up(SEARCH, THESIS) == SEARCH | {"warm_up": found["workload"]["warm_up_operations"]}
    given = native.simulate(THESIS, native.warmed_up(SEARCH, THESIS))
    del found["workload"]["warm_up_steady"]
    assert found == given
    empty = SEARCH | {"caches": "empty"}
    assert native.warmed_up(empty, THESIS) == empty
    assert "warm_up_operations" not in native.simulate(THESIS, empty)["workload"]


@pytest.mark.parametrize("workload", [SEARCH, SCAN], ids=["search", "scan"])
def test_live_replayed_and_counted_are_the_same(workload: dict[str, Any], tmp_path: Path) -> None:
    workload, path = workload | {"warm_up": 300}, tmp_path / "t.parquet"
    live = native.simulate(THESIS, workload)
    native.record(workload, path)
    assert native.replay(path, THESIS) == live
    counted = native.count(path, THESIS)
    assert (counted["instructions"], counted["events"]) == (live["instructions"], live["events"])
    for count, cache in zip(counted["caches"], live["caches"], strict=True):
        assert (count["misses"], count["hits"]) == (cache["misses"], cache["hits"] + cache["merges"])
    sampled = native.replay_sampled(path, THESIS, {"unit": 500, "warmup": 500, "period": 1500})
    assert sampled["estimate"]["instructions"] == live["instructions"]
    low, _, high = sampled["estimate"]["cycles"]
    assert low <= live["cycles"] <= high
    assert sampled["statistics"]["caches"][0]["misses"] == counted["caches"][0]["misses"]
    assert native.byte_usage(path, THESIS) == native.simulate(THESIS, workload, observe={"bytes": True})["byte_usage"]
    line = THESIS["caches"][0]["line_bytes"]
    assert native.miss_curve(path, line)[0] == counted["caches"][0]["accesses"]


def test_with_a_simulated_dram() -> None:
    machine = load_machine("zen4-ddr4").native()
    warm, empty = (native.simulate(machine, SEARCH | {"operations": 300} | state) for state in ({}, {"caches": "empty"}))
    assert warm["dram"]["reads"] == warm["bus"]["fills"]
    assert warm["dram"]["reads"] < 0.05 * empty["dram"]["reads"]
    assert share(warm) < share(empty) / 2


@pytest.mark.parametrize("layout", ["nsm", "pax"])
@pytest.mark.parametrize("operation", ["point", "scan", "update"])
def test_a_table_that_fits_is_there(operation: str, layout: str) -> None:
    machine = load_machine("pentium2-xeon-400", dbms="shore-pentium2").native()
    workload = TABLE | {"operation": operation, "layout": layout}
    warm, empty = (native.simulate(machine, workload | {"caches": caches}) for caches in ("warm", "empty"))
    assert warm["bus"]["fills"] < 0.3 * empty["bus"]["fills"]
    assert share(warm) < share(empty) / 2
    assert warm["workload"]["checksum"] == empty["workload"]["checksum"]
    assert warm["calls"]["runs"] == empty["calls"]["runs"]


def test_a_measured_series_is_observed_alone(tmp_path: Path) -> None:
    """The files of an experiment: what `auto` came to, and bytes that the measured operations fetched."""
    experiment = (
        "schema_version: 1\nid: warm\ntitle: Warm\nmachine: ./small.yaml\nobserve: [bytes]\n"
        "workload: {kernel: index, operation: search, tree: {kind: b+}, keys: 1000, operations: 50}\n"
        "grid: {workload.caches: [warm, empty]}\n"
    )
    write_experiment(tmp_path, experiment)
    done = memwalk("run", "experiment.yaml", "--out", "out", "--jobs", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    warm, empty = json.loads(done.stdout)["rows"]
    assert (warm["workload.warm_up"], empty["workload.warm_up"]) == ("auto", None)
    assert (warm["warm_up_steady"], empty["warm_up_steady"]) == (True, None)
    assert warm["warm_up_operations"] > 100
    assert warm["fetched_bytes"] == 0 < empty["fetched_bytes"]
    assert warm["operations"] == empty["operations"] == 50


def test_what_was_given_up_is_said() -> None:
    row = {"experiment": "sizes", "variant": "B+", "point": "12ab", "warm_up_operations": 20_000, "warm_up_steady": False}
    steady = row | {"variant": "CSB+", "warm_up_steady": True}
    without = row | {"variant": "cold", "warm_up_operations": None, "warm_up_steady": None}
    (problem,) = unsteady(pd.DataFrame([row, steady, without]).astype({"warm_up_steady": "boolean", "warm_up_operations": "Int64"}))
    assert problem.startswith("B+ [12ab]: measured although misses were not steady after 20,000 operations")
    assert unsteady(pd.DataFrame([{"variant": "B+"}])) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ("workload.caches=empty", "workload.warm_up=5"),
            "warm_up=5: warm_up: it is for caches: warm, and caches is empty",
        ),
        (
            ("workload.caches=cold", "workload.warm_up=auto"),
            "warm_up=auto: warm_up: it is for caches: warm, and caches is cold",
        ),
        (("workload.caches=warm", "workload.warm_up=0"), "`0` is no warm-up; write `auto` or how many operations"),
        (("workload.caches=warm", "workload.warm_up=always"), "`always` is no warm-up"),
    ],
)
def test_a_warm_up_without_effect_is_refused(settings: tuple[str, ...], message: str, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    sets = [argument for setting in settings for argument in ("--set", setting)]
    done = memwalk("run", "experiment.yaml", *sets, "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("kernel", [{"kernel": "pointer-chase", "lines": 10}, QUERY])
def test_kernels_without_repeated_operations_take_no_warm_up(kernel: dict[str, Any], tmp_path: Path) -> None:
    sets = [f"--set=workload.{name}={value}" for name, value in (kernel | {"warm_up": 5}).items()]
    done = memwalk("trace", "record", *sets, "-o", str(tmp_path / "t.parquet"))
    assert done.returncode == 2
    assert "warm_up" in done.stderr


def test_a_trace_needs_a_number_or_a_machine(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    record = ("trace", "record", "experiment.yaml", "--variant", "B+", "--scale", "quick", "--set", "workload.seed=1", "-o", "t.parquet")
    warm = ("--set", "workload.caches=warm", "--set", "workload.keys=100")
    for arguments, message in [
        (warm, "`auto` depends on the machine, and a trace has none"),
        (("--machine", "./small.yaml"), "--machine ./small.yaml: has no effect"),
    ]:
        done = memwalk(*record, *arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert message in done.stderr
        assert not (tmp_path / "t.parquet").exists()
    done = memwalk(*record, *warm, "--machine", "./small.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    info = native.trace_info(tmp_path / "t.parquet")
    assert info["workload"]["warm_up"] == info["outcome"]["warm_up_operations"] > 1
    kinds = [event["kind"] for event in native.trace_head(tmp_path / "t.parquet", info["summary"]["events"])]
    assert kinds.count("measure") == 1


SEARCHED = "{kernel: index, operation: search, keys: 20000, operations: 50, tree: {kind: b+}}"
STREAM = f"schema_version: 1\nid: stream\nmachine: ./small.yaml\nworkload: {SEARCHED}\n"
LESS = "machine.caches.L2.size_bytes"


@pytest.mark.parametrize(
    ("rest", "sets"),
    [
        ("", (f"--set={LESS}=8KiB",)),
        (f"grid: {{{LESS}: [8KiB]}}\n", ()),
        (f"variants: {{less: {{{LESS}: 8KiB}}, more: {{{LESS}: 128KiB}}}}\n", ()),
    ],
    ids=["override", "grid", "variant"],
)
def test_what_is_set_of_the_machine_is_set_where_the_warm_up_is_found(rest: str, sets: tuple[str, ...], tmp_path: Path) -> None:
    write_experiment(tmp_path, STREAM + rest)
    done = memwalk("run", "experiment.yaml", *sets, "--jobs", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    live = json.loads(done.stdout)["rows"][0]
    chosen = ("--variant", "less") if "less" in rest else ()
    done = memwalk("trace", "record", "experiment.yaml", *chosen, *sets, "--machine", "./small.yaml", "-o", "t.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert native.trace_info(tmp_path / "t.parquet")["workload"]["warm_up"] == live["warm_up_operations"]
    done = memwalk("replay", "t.parquet", "--machine", "./small.yaml", f"--set={LESS}=8KiB", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["cycles"] == live["cycles"]


def test_a_workload_without_an_experiment_has_what_is_set_of_the_machine_too(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    words = [f"--set=workload={SEARCHED}", "--machine", "./small.yaml"]
    found = []
    for number, sets in enumerate(((), (f"--set={LESS}=8KiB",))):
        done = memwalk("trace", "record", *words, *sets, "-o", f"{number}.parquet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(native.trace_info(tmp_path / f"{number}.parquet")["workload"]["warm_up"])
    assert found[0] != found[1]


def test_a_warm_up_is_found_on_one_machine(tmp_path: Path) -> None:
    write_experiment(tmp_path, f"{STREAM}grid: {{{LESS}: [8KiB, 128KiB]}}\n")
    record = ("trace", "record", "experiment.yaml", "-o", "t.parquet")
    done = memwalk(*record, "--machine", "./small.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "comes down to 2 machines, on which `warm_up: auto` is " in done.stderr
    assert "operations; choose one with --variant or --set (machine.caches.L2.size_bytes)" in done.stderr
    assert memwalk(*record, "--set", "workload.warm_up=9", cwd=tmp_path).returncode == 0, "no machine is needed"


def test_an_export_says_what_was_before_the_measurement(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    native.record(SEARCH | {"warm_up": 10, "operations": 5}, path)
    done = native.export_trace(path, "champsim", tmp_path / "t.champsim")
    measured = native.replay(path, THESIS)["instructions"]
    assert done["instructions"] - done["warm_up_instructions"] == measured
    assert {"kind": "measure", "events": 1} in done["left_out"]
