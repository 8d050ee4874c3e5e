"""Hash joins on simulated machines: what prefetching does there, many cores, traces, this processor."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from machines import THESIS, smaller

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.simcore.engines import native

CACHE, ENHANCED, INSPECTOR = "cache-partitioning", "enhanced-cache-partitioning", "inspector"
ALGORITHMS = ("grace", "simple", "group", "pipelined", CACHE)
# Half a MB before a last cache of 256 KB.
SMALL = smaller(THESIS, 8)
JOIN: dict[str, Any] = {"kernel": "hash-join", "build_tuples": 4900, "probe_tuples": 9800}


def on(cores: int) -> dict[str, Any]:
    return THESIS | ({"cores": cores} if cores > 1 else {})


def total(statistics: dict[str, Any], column: str) -> float:
    """Add up a cause of idle slots over everything."""
    found = statistics["slots"][column]
    return float(sum(found.values())) if isinstance(found, dict) else float(found)


def by_segment(statistics: dict[str, Any], phase: str) -> dict[str, float]:
    """Give the slots that wait for data caches, by data structure."""
    rows = [row for row in statistics["breakdown"] if row["phase"] == phase]
    return {row["segment"]: float(sum(row["slots"]["dcache"].values())) for row in rows}


def test_prefetching_hides_what_the_table_waits_for_and_simple_prefetching_does_not() -> None:
    runs = {one: native.simulate(SMALL, JOIN | {"algorithm": one, "prefetch_distance": 4}) for one in ALGORITHMS}
    cycles = {one: run["cycles"] for one, run in runs.items()}
    assert cycles["simple"] < cycles["grace"]
    grace, simple = (by_segment(runs[one], "probe") for one in ("grace", "simple"))
    assert simple["output"] < 0.1 * grace["output"], "pages are what it prefetches"
    for one in ("group", "pipelined"):
        assert 2 * cycles[one] < cycles["grace"]
        waits = by_segment(runs[one], "probe")
        for segment in ("bucket headers", "cell arrays", "build tuples"):
            assert waits[segment] < 0.2 * grace[segment], (one, segment)
            assert simple[segment] > 0.9 * grace[segment], segment
        assert total(runs[one], "busy") > total(runs["grace"], "busy")


def slots_in(statistics: dict[str, Any], *phases: str) -> float:
    """Add up the slots of phases."""
    return sum(float(row["slots"]["total"]) for row in statistics["breakdown"] if row["phase"] in phases)


def test_cache_partitioning_joins_in_the_cache_and_pays_for_it_before() -> None:
    """An eighth of the cache is left alone by what streams through it; sub-partitions that do not fit gain nothing."""
    small, large = (JOIN | {"algorithm": CACHE, "cache_bytes": size << 10} for size in (32, 16 << 10))
    simple, fits, misfits = (native.simulate(SMALL, one) for one in (JOIN | {"algorithm": "simple"}, small, large))
    waits, none, misses = (by_segment(run, "probe") for run in (simple, fits, misfits))
    for segment in ("bucket headers", "cell arrays"):
        assert none[segment] < 0.3 * waits[segment], segment
        assert misses[segment] > 0.7 * waits[segment], segment
    assert none["sub-partitions"] < 0.1 * waits["build tuples"]
    assert slots_in(fits, "re-partition") > 0.3 * slots_in(fits, "re-partition", "build", "probe")


@pytest.mark.parametrize("setting", [{"group_size": 1}, {"group_size": 1000}], ids=["none ahead", "far ahead"])
def test_groups_that_are_too_small_or_too_large_take_longer(setting: dict[str, Any]) -> None:
    good = native.simulate(SMALL, JOIN | {"algorithm": "group"})
    assert native.simulate(SMALL, JOIN | {"algorithm": "group"} | setting)["cycles"] > 1.02 * good["cycles"]


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, ENHANCED, INSPECTOR])
def test_threads_join_together_what_one_joins_alone(algorithm: str) -> None:
    workload = JOIN | {"algorithm": algorithm, "partitions": 7, "build_tuples": 7000, "probe_tuples": 14_000}
    runs = {threads: native.simulate(on(threads), workload | {"threads": threads}) for threads in (1, 2, 7)}
    found = {(run["workload"]["returned"], run["workload"]["checksum"], run["workload"]["operations"]) for run in runs.values()}
    assert len(found) == 1
    assert runs[1]["cycles"] > 1.6 * runs[2]["cycles"], "they work at the same time"
    assert runs[2]["cycles"] > runs[7]["cycles"]
    for threads in (2, 7):
        assert len(runs[threads]["cores"]) == threads


def test_many_cores_wait_for_the_bus() -> None:
    """Cores x lines x T_next is the least that they take together, and prefetching gains nothing more when they are there."""
    each = {"algorithm": "group", "output": "reused"}
    one = native.simulate(SMALL, JOIN | each | {"build_tuples": 2500, "probe_tuples": 5000})
    many = {"threads": 16, "partitions": 16, "build_tuples": 40_000, "probe_tuples": 80_000}
    sixteen = native.simulate(SMALL | {"cores": 16}, JOIN | each | many)
    moved = sixteen["bus"]["fills"] + sixteen["bus"]["write_backs"]
    interval = THESIS["memory"]["interval_cycles"]
    assert sixteen["cycles"] >= moved * interval
    assert sixteen["cycles"] < 1.05 * moved * interval
    assert sixteen["cycles"] > 3 * one["cycles"]
    assert sixteen["bus"]["fills"] == pytest.approx(16 * one["bus"]["fills"], rel=0.02), "they share nothing"


def filtered(algorithm: str, passes: float, **more: Any) -> dict[str, Any]:
    """Join a partition of which half of the probe tuples have no matches, as filters have left it."""
    base = JOIN | {
        "build_tuples": 39_000,
        "probe_tuples": 117_000,
        "match_share": 0.5,
        "matched_keys": "all",
        "prefetch_distance": 4,
        "output": "reused",
    }
    return base | {"algorithm": algorithm, "false_positives": passes} | more


def one_place_of_a_set() -> dict[str, Any]:
    """Make L3 inclusive, so that non-temporal prefetches take one place of a set there, and leave write-backs off the bus."""
    caches = [cache | ({"inclusion": "inclusive"} if cache["name"] == "L3" else {}) for cache in THESIS["caches"]]
    return THESIS | {"caches": caches, "memory": THESIS["memory"] | {"write_backs_use_bus": False}}


@cache
def inspector_join() -> dict[str, Any]:
    return native.simulate(one_place_of_a_set(), filtered(INSPECTOR, 0.001))


def test_an_inspector_join_moves_the_fewest_lines_and_copies_nothing() -> None:
    machine = one_place_of_a_set()
    runs = {one: native.simulate(machine, filtered(one, 0.05)) for one in ("grace", "group", CACHE, ENHANCED)}
    runs[INSPECTOR] = inspector_join()
    assert len({run["workload"]["returned"] for run in runs.values()}) == 1
    cycles, lines = ({one: run[key] for one, run in runs.items()} for key in ("cycles", "bus"))
    least = lines[INSPECTOR]["fills"]
    assert all(1.2 * least < moved["fills"] for one, moved in lines.items() if one != INSPECTOR)
    assert all(cycles[INSPECTOR] < 1.01 * taken for taken in cycles.values())
    assert slots_in(runs[INSPECTOR], "extract") < 0.15 * total(runs[INSPECTOR], "total")
    assert slots_in(runs[ENHANCED], "re-partition") > 0.36 * total(runs[ENHANCED], "total")


def test_what_is_prefetched_for_one_use_stays_until_then_where_it_has_a_place() -> None:
    """Past L3, it is gone from L1 before it is used; the safety net brings build tuples back when caches are emptied."""
    join = filtered(INSPECTOR, 0.001)
    passing, staying = native.simulate(THESIS, join), inspector_join()
    waits = [by_segment(run, "probe")["probe input"] for run in (passing, staying)]
    assert waits[1] < 0.1 * waits[0]
    emptied = one_place_of_a_set() | {"interference": {"flush_interval_cycles": 3_000_000}}
    disturbed = native.simulate(emptied, join)
    assert disturbed["cache_flushes"] > 3
    assert by_segment(disturbed, "probe")["build tuples"] < 0.1 * total(disturbed, "dcache")


@pytest.mark.parametrize("lengths", [{}, {"tuple_lengths": "uniform", "tuple_bytes": 140}], ids=["fixed", "uniform"])
@pytest.mark.parametrize(
    ("algorithm", "threads"), [("grace", 1), ("pipelined", 1), ("group", 3), (CACHE, 3), (ENHANCED, 1), (INSPECTOR, 3)]
)
def test_a_recorded_join_replays_as_it_ran(tmp_path: Path, algorithm: str, threads: int, lengths: dict[str, Any]) -> None:
    small = {"partitions": threads, "build_tuples": 3000, "probe_tuples": 6000}
    workload = JOIN | {"algorithm": algorithm, "threads": threads} | small | lengths
    live = native.simulate(on(threads), workload)
    native.record(workload, tmp_path / "join.parquet")
    replayed = native.replay(tmp_path / "join.parquet", on(threads))
    assert {name: replayed[name] for name in ("cycles", "slots", "caches", "bus")} == {
        name: live[name] for name in ("cycles", "slots", "caches", "bus")
    }


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, ENHANCED, INSPECTOR, "choosing-inspector", "sort-merge"])
def test_tuples_of_any_length_are_joined_natively_as_in_simulation(algorithm: str) -> None:
    small = {"build_tuples": 3000, "probe_tuples": 6000, "cache_bytes": 50_000}
    workload = JOIN | small | {"algorithm": algorithm, "tuple_lengths": "uniform", "tuple_bytes": 140}
    simulated = native.simulate(THESIS, workload)["workload"]
    assert native.run_native(workload, 2, 0)["workload"] == simulated
    other = native.simulate(THESIS, workload | {"shortest_tuple_bytes": 24})["workload"]
    assert other["returned"] == simulated["returned"], "keys do not depend on lengths"
    assert other["checksum"] != simulated["checksum"]


EXPERIMENT = """\
schema_version: 1
id: joins
title: Joins of partitions in memory
machine: thesis-simulator
workload: {kernel: hash-join, build_tuples: 3000, probe_tuples: 6000}
variants:
  GRACE: {workload.algorithm: grace}
  group: {workload.algorithm: group}
  cache partitioning: {workload.algorithm: cache-partitioning}
  enhanced: {workload.algorithm: enhanced-cache-partitioning, workload.prefetch_distance: 4}
  inspector: {workload.algorithm: inspector, workload.prefetch_distance: 4, workload.false_positives: 0.001}
"""


def test_the_command_line_runs_and_explains_joins(tmp_path: Path) -> None:
    (tmp_path / "joins.yaml").write_text(EXPERIMENT)
    done = memwalk("run", tmp_path / "joins.yaml", "--jobs", "1", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    again = ("re-partition", "sub-partitions")
    sorts = ("extract", "array ends", "pointer arrays", "pairs")
    variants = {"GRACE": (), "group": ("state",), "cache partitioning": again, "enhanced": (*again, "pairs"), "inspector": sorts}
    for variant, named in variants.items():
        told = memwalk("explain", tmp_path / "out", "--variant", variant)
        assert told.returncode == 0, told.stderr
        for segment in ("build tuples", "probe input", "bucket headers", "cell arrays", "output", *named):
            assert segment in told.stdout, (variant, segment)


UNIFORM = (
    "workload={{kernel: hash-join, algorithm: grace, build_tuples: 3, probe_tuples: 6, "
    "tuple_lengths: uniform, shortest_tuple_bytes: {shortest}}}"
)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("workload.threads=4", "partitions: 1, but each of 4 threads needs one; it must be at least 4"),
        ("workload.tuple_bytes=22B", "tuple_bytes: 22 is no multiple of 4"),
        ("workload.shortest_tuple_bytes=24B", "it is for tuple_lengths: uniform"),
        (UNIFORM.format(shortest="104B"), "104, but the longest tuples have 100: tuple_bytes"),
        (UNIFORM.format(shortest="8B"), "shortest_tuple_bytes: `8` is too small; the least is 12"),
        ("workload.group_size=30", "group_size has no effect"),
        ("workload.cache_bytes=8KiB", "cache_bytes has no effect"),
        ("workload.prefetch_distance=4", "prefetch_distance has no effect"),
        ("workload.false_positives=1.5", "false_positives"),
        ("workload.build_tuples=1000000000", "partitions: 1, which makes partitions of 1000000001 tuples"),
    ],
)
def test_joins_that_cannot_be_are_refused_in_a_line(tmp_path: Path, setting: str, told: str) -> None:
    (tmp_path / "joins.yaml").write_text(EXPERIMENT[: EXPERIMENT.index("  group:")])
    done = memwalk("run", tmp_path / "joins.yaml", "--set", setting, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two threads take two processors")
def test_joins_run_natively(tmp_path: Path) -> None:
    (tmp_path / "joins.yaml").write_text(EXPERIMENT)
    for variant, threads in (("GRACE", 1), ("group", 2)):
        numbers = {"workload.threads": threads, "workload.partitions": threads, "machine.cores": threads}
        settings = [part for name, number in numbers.items() if number > 1 for part in ("--set", f"{name}={number}")]
        chosen = ("--variant", variant, "--machine", "thesis-simulator", "--repetitions", "2", "--json")
        done = memwalk("native", tmp_path / "joins.yaml", *chosen, *settings)
        assert done.returncode == 0, done.stderr
        (row,) = json.loads(done.stdout)["rows"]
        assert row["operation"] == "hash-join"
        # The whole join is timed, there as here, and not its last phase alone.
        overrides = [parse_set(text) for text in settings[1::2]]
        rows = expand(load_experiment(tmp_path / "joins.yaml"), overrides=overrides)
        point = next(one.point for one in rows if one.variant == variant)
        found = native.simulate(point.machine, point.workload)
        whole = found["cycles"] / found["workload"]["operations"] / point.machine["clock_hz"] * 1e9
        assert whole * 0.95 < row["simulated_ns"] <= whole
