"""The partition phase of hash joins on simulated machines: what prefetching does there, threads, traces, this processor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from machines import THESIS

from memwalk.simcore.engines import native

ALGORITHMS = ("grace", "simple", "group", "pipelined")
PARTITION: dict[str, Any] = {"kernel": "hash-partition", "tuples": 60_000, "partitions": 400}


def on(cores: int) -> dict[str, Any]:
    return THESIS | ({"cores": cores} if cores > 1 else {})


def waits(statistics: dict[str, Any], segment: str) -> float:
    """Add up the slots that wait for a data structure in the caches."""
    rows = [row for row in statistics["breakdown"] if row["phase"] == "partition" and row["segment"] == segment]
    return float(sum(sum(row["slots"]["dcache"].values()) for row in rows))


def test_prefetching_hides_what_output_pages_wait_for() -> None:
    runs = {one: native.simulate(THESIS, PARTITION | {"algorithm": one, "prefetch_distance": 4}) for one in ALGORITHMS}
    grace = runs["grace"]
    assert waits(grace, "output buffers") > waits(grace, "input") > 0
    for one in ("group", "pipelined"):
        assert 1.5 * runs[one]["cycles"] < grace["cycles"]
        assert waits(runs[one], "output buffers") < 0.3 * waits(grace, "output buffers"), one
        assert runs[one]["slots"]["busy"] > grace["slots"]["busy"]
    assert waits(runs["simple"], "input") < 0.3 * waits(grace, "input"), "pages are prefetched in step with their use"


def test_whole_output_pages_help_while_they_stay_in_the_caches() -> None:
    """50 pages of 8 KB do, 400 do not: three MB in a cache of two."""
    gains = {}
    for partitions in (50, 400):
        workload = PARTITION | {"partitions": partitions}
        grace, simple = (native.simulate(THESIS, workload | {"algorithm": one}) for one in ("grace", "simple"))
        gains[partitions] = grace["cycles"] / simple["cycles"]
    assert gains[50] > 1.3 * gains[400], gains


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_partition_together_what_one_does_alone(algorithm: str) -> None:
    workload = PARTITION | {"algorithm": algorithm, "tuples": 14_000, "partitions": 30}
    runs = {threads: native.simulate(on(threads), workload | {"threads": threads}) for threads in (1, 2, 7)}
    found = {(run["workload"]["returned"], run["workload"]["checksum"], run["workload"]["operations"]) for run in runs.values()}
    assert len(found) == 1
    assert runs[1]["cycles"] > 1.6 * runs[2]["cycles"], "they work at the same time"
    assert runs[2]["cycles"] > runs[7]["cycles"]


@pytest.mark.parametrize(("algorithm", "threads"), [("simple", 1), ("pipelined", 1), ("group", 3)])
def test_recorded_partitioning_replays_as_it_ran(tmp_path: Path, algorithm: str, threads: int) -> None:
    workload = PARTITION | {"algorithm": algorithm, "threads": threads, "tuples": 6000}
    live = native.simulate(on(threads), workload)
    native.record(workload, tmp_path / "partition.parquet")
    replayed = native.replay(tmp_path / "partition.parquet", on(threads))
    assert {name: replayed[name] for name in ("cycles", "slots", "caches", "bus")} == {
        name: live[name] for name in ("cycles", "slots", "caches", "bus")
    }


FILTERS: dict[str, Any] = PARTITION | {"algorithm": "group", "partitions": 8, "tuples": 8000, "probe_tuples": 24_000, "match_share": 0.5}
MANY = {"filter": "multiple", "false_positive_rate": 0.001, "cache_bytes": 65_536}


@pytest.mark.parametrize(("filters", "phase"), [({"filter": "single"}, "merge filters"), (MANY, "convert filters")])
def test_threads_drop_together_what_one_does_alone(filters: dict[str, Any], phase: str) -> None:
    runs = {threads: native.simulate(on(threads), FILTERS | filters | {"threads": threads}) for threads in (1, 2, 7)}
    for threads, run in runs.items():
        done = run["workload"]
        assert done["returned"] + done["dropped"] == done["operations"] == 32_000
        # 5% of the 12,000 without a match pass a single filter, and of many 0.1% each.
        assert 11_300 < done["dropped"] <= 12_000, threads
        phases = [row["phase"] for row in run["breakdown"]]
        assert {"build relation", "probe relation"} <= set(phases)
        assert phase in phases or threads == 1
    assert runs[1]["cycles"] > 1.6 * runs[2]["cycles"], "they work at the same time"


def test_a_bit_of_all_filters_is_one_line_in_the_vertical_layout() -> None:
    tested = FILTERS | MANY | {"algorithm": "grace", "partitions": 2}
    runs = {layout: native.simulate(THESIS, tested | {"filter_layout": layout}) for layout in ("vertical", "horizontal")}
    vertical, horizontal = runs["vertical"], runs["horizontal"]
    filters = horizontal["workload"]["filters"] / 2
    assert filters > 5
    assert {run["workload"]["checksum"] for run in runs.values()} == {vertical["workload"]["checksum"]}
    assert horizontal["caches"][0]["misses"] > vertical["caches"][0]["misses"] + 3 * (filters - 1) * 24_000 / 3


def test_natively_the_same_tuples_are_dropped() -> None:
    for filters in ({"filter": "single"}, MANY):
        workload = FILTERS | filters
        simulated = native.simulate(THESIS, workload)["workload"]
        assert native.run_native(workload, 2, 0)["workload"] == simulated


@pytest.mark.parametrize("more", [{}, {"order_buffer_pages": 4}, FILTERS | MANY], ids=["plain", "order", "filters"])
def test_tuples_of_any_length_are_partitioned_live_replayed_and_natively_alike(tmp_path: Path, more: dict[str, Any]) -> None:
    small = {"tuples": 4000, "partitions": 20, "algorithm": "pipelined"}
    workload = PARTITION | small | more | {"tuple_lengths": "uniform", "tuple_bytes": 140}
    live = native.simulate(THESIS, workload)
    native.record(workload, tmp_path / "partition.parquet")
    replayed = native.replay(tmp_path / "partition.parquet", THESIS)
    assert {name: replayed[name] for name in ("cycles", "slots", "bus")} == {name: live[name] for name in ("cycles", "slots", "bus")}
    assert native.run_native(workload, 2, 0)["workload"] == live["workload"]


EXPERIMENT = """\
schema_version: 1
id: partitioning
title: Partitioning
machine: thesis-simulator
workload: {kernel: hash-partition, tuples: 3000, partitions: 20}
variants:
  GRACE: {workload.algorithm: grace}
  group: {workload.algorithm: group}
"""


def test_the_command_line_runs_and_explains_partitioning(tmp_path: Path) -> None:
    (tmp_path / "partitioning.yaml").write_text(EXPERIMENT)
    done = memwalk("run", tmp_path / "partitioning.yaml", "--jobs", "1", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for variant, named in (("GRACE", ()), ("group", ("state",))):
        told = memwalk("explain", tmp_path / "out", "--variant", variant)
        assert told.returncode == 0, told.stderr
        for segment in ("input", "buffer table", "output buffers", *named):
            assert segment in told.stdout, (variant, segment)


def test_the_command_line_explains_filters(tmp_path: Path) -> None:
    filters = "  many: {workload.algorithm: group, workload.filter: multiple, workload.probe_tuples: 6000}\n"
    (tmp_path / "partitioning.yaml").write_text(EXPERIMENT + filters)
    done = memwalk("run", tmp_path / "partitioning.yaml", "--jobs", "1", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    told = memwalk("explain", tmp_path / "out", "--variant", "many")
    for segment in ("horizontal filters", "vertical filters", "filter table", "sub-partition counts"):
        assert segment in told.stdout, segment


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("workload.partitions=0", "partitions: `0` is too small; the least is 1"),
        ("workload.tuple_bytes=22B", "tuple_bytes: 22 is no multiple of 4"),
        ("workload.group_size=30", "group_size has no effect"),
        ("workload.tuples=1000000000", "output: would take about "),
        ("workload.probe_tuples=10", "it is for filter: single or multiple"),
    ],
)
def test_partitioning_that_cannot_be_is_refused_in_a_line(tmp_path: Path, setting: str, told: str) -> None:
    (tmp_path / "partitioning.yaml").write_text(EXPERIMENT[: EXPERIMENT.index("  group:")])
    done = memwalk("run", tmp_path / "partitioning.yaml", "--set", setting, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two threads take two processors")
def test_partitioning_runs_natively(tmp_path: Path) -> None:
    (tmp_path / "partitioning.yaml").write_text(EXPERIMENT)
    for variant, threads in (("GRACE", 1), ("group", 2)):
        numbers = {"workload.threads": threads, "machine.cores": threads}
        settings = [part for name, number in numbers.items() if number > 1 for part in ("--set", f"{name}={number}")]
        chosen = ("--variant", variant, "--machine", "thesis-simulator", "--repetitions", "2", "--json")
        done = memwalk("native", tmp_path / "partitioning.yaml", *chosen, *settings)
        assert done.returncode == 0, done.stderr
        assert '"hash-partition"' in done.stdout


def test_natively_every_tuple_is_in_its_partition() -> None:
    for algorithm in ALGORITHMS:
        workload = PARTITION | {"algorithm": algorithm, "tuples": 20_000}
        simulated = native.simulate(THESIS, workload)["workload"]
        measured = native.run_native(workload, 2, 0)
        assert measured["workload"]["checksum"] == simulated["checksum"], algorithm
