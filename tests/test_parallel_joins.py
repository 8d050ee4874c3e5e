"""Joins of two arrays by threads that share memory, partitioned or not: what they find, where they wait, traces, this processor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from machines import THESIS, smaller

from memwalk.simcore.engines import native

# A table of 1 MB before a last cache of 256 KB.
SMALL = smaller(THESIS, 8)
JOIN: dict[str, Any] = {"kernel": "parallel-join", "build_tuples": 32_768, "probe_tuples": 37_500}
WAYS: dict[str, dict[str, Any]] = {
    "no partitioning": {"algorithm": "no-partitioning"},
    "one pass": {"algorithm": "radix", "radix_bits": 8, "passes": 1},
    "two passes": {"algorithm": "radix", "radix_bits": 8},
    "buffers": {"algorithm": "radix", "radix_bits": 8, "write_combining": True},
    "past the caches": {"algorithm": "radix", "radix_bits": 8, "write_combining": True, "non_temporal": True},
}


def found(run: dict[str, Any]) -> tuple[int, int, int]:
    work = run["workload"]
    return work["operations"], work["returned"], work["checksum"]


SIZES = pytest.mark.parametrize("tuple_bytes", [8, 16])


@SIZES
def test_all_find_the_same_on_any_number_of_cores(tuple_bytes: int) -> None:
    work = JOIN | {"build_tuples": 10_000, "probe_tuples": 15_000, "skew": 0.5, "match_share": 0.7, "keys": "scattered"}
    work |= {"tuple_bytes": tuple_bytes}
    runs = {
        (way, threads): native.simulate(THESIS | {"cores": threads}, work | change | {"threads": threads})
        for way, change in WAYS.items()
        for threads in (1, 2, 7)
    }
    assert len({found(run) for run in runs.values()}) == 1
    for way in WAYS:
        assert runs[way, 1]["cycles"] > 1.3 * runs[way, 2]["cycles"], "they work at the same time, over one bus"


def test_partitions_that_fit_into_the_cache_are_joined_faster_than_a_table_that_does_not_is_built_and_probed() -> None:
    none, one = (native.simulate(SMALL, JOIN | WAYS[way]) for way in ("no partitioning", "one pass"))

    def slots_in(run: dict[str, Any], *phases: str) -> int:
        return sum(row["slots"]["total"] for row in run["breakdown"] if row["phase"] in phases)

    assert slots_in(none, "build", "probe") > 2 * slots_in(one, "join")
    assert slots_in(one, "histogram", "scatter", "join") > 0.99 * slots_in(one, "start", "histogram", "scatter", "join")


def test_a_build_waits_for_one_latch_after_the_other_where_exchanges_run_alone() -> None:
    """The table is of 2^14 lines, of which the cache holds a quarter, each visited twice: 250 cycles to memory."""
    work = JOIN | WAYS["no partitioning"]

    def build_and_probes(*, alone: bool) -> tuple[int, int]:
        machine = SMALL | {"core": THESIS["core"] | {"exchange": {"further_cycles": 14, "alone": alone}}}
        build = native.simulate(machine, work | {"probe_tuples": 0})["cycles"]
        both = native.simulate(machine, work | {"probe_tuples": JOIN["build_tuples"]})["cycles"]
        return build, both - build

    (alone, probes), (among, _) = build_and_probes(alone=True), build_and_probes(alone=False)
    assert alone > 0.6 * 250 * JOIN["build_tuples"]
    assert among < 0.5 * alone
    assert probes < 0.5 * alone


def test_buffers_touch_the_pages_of_partitions_less_often() -> None:
    """2^9 partitions, 32 translations: scattering misses with nearly every tuple, buffers with one of four, two passes hardly ever."""
    machine = SMALL | {"dtlb": THESIS["dtlb"] | {"levels": [{"entries": 32, "latency_cycles": 0}]}}
    many = JOIN | {"algorithm": "radix", "radix_bits": 9, "passes": 1, "build_tuples": 65_536, "probe_tuples": 75_000}
    one, buffers, two = (
        native.simulate(machine, many | change)["slots"]["dtlb"] for change in ({}, {"write_combining": True}, {"passes": 2})
    )
    assert one > 2 * buffers > 0
    assert buffers > 2 * two


@SIZES
def test_lines_written_past_the_caches_are_not_fetched(tuple_bytes: int) -> None:
    """Both inputs are written once: 70,268 tuples of 16 bytes, or twice as many of 8. No dirty lines come back from the caches either."""
    tuples = {name: JOIN[name] * 16 // tuple_bytes for name in ("build_tuples", "probe_tuples")}
    work = JOIN | WAYS["buffers"] | tuples | {"passes": 1, "tuple_bytes": tuple_bytes}
    through, past = (native.simulate(SMALL, work | {"non_temporal": other}) for other in (False, True))
    lines = sum(tuples.values()) * tuple_bytes / 64
    assert past["bus"]["non_temporal"] == pytest.approx(lines, rel=0.02)
    assert through["bus"]["fills"] - past["bus"]["fills"] == pytest.approx(lines, rel=0.05)
    assert "non_temporal" not in through["bus"]

    many = SMALL | {"cores": 8}
    through, past = (native.simulate(many, work | {"threads": 8, "non_temporal": other}) for other in (False, True))
    # A tuple of half the bytes takes half the lines and as many instructions.
    assert through["cycles"] / past["cycles"] > 1 + 0.1 * tuple_bytes / 16, "the bus is what eight cores wait for"


@pytest.mark.parametrize("way", WAYS)
def test_half_the_bytes_are_half_the_lines(way: str) -> None:
    """Inputs and partitions are larger than the cache, and so is the table, of 512 KiB or of 1 MiB: its lines come in random order."""
    small, large = (native.simulate(SMALL, JOIN | WAYS[way] | {"tuple_bytes": tuple_bytes}) for tuple_bytes in (8, 16))
    assert found(small) == found(large), "dense keys and their payloads are the same numbers"

    def lines(run: dict[str, Any]) -> int:
        return int(run["bus"]["fills"]) + int(run["bus"].get("non_temporal", 0))

    if way == "no partitioning":
        # Inputs take half, and of a table of half the lines the cache holds twice the share.
        assert 1.3 < lines(large) / lines(small) < 1.7
    else:
        assert lines(large) / lines(small) == pytest.approx(2.0, rel=0.15)


EXPERIMENT = """\
schema_version: 1
id: joins
title: Joins
machine: thesis-simulator
workload: {kernel: parallel-join, build_tuples: 3000, probe_tuples: 5000}
variants:
  table: {workload.algorithm: no-partitioning}
  radix: {workload.algorithm: radix, workload.radix_bits: 8, workload.write_combining: true}
"""


def test_joins_run_record_replay_and_explain(tmp_path: Path) -> None:
    experiment = tmp_path / "joins.yaml"
    experiment.write_text(EXPERIMENT)
    ran = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    for variant, names in {
        "table": ["buckets", "build input", "probe"],
        "radix": ["build partitions", "write-combining buffers", "histogram", "second pass", "scatter"],
    }.items():
        explained = memwalk("explain", tmp_path / "out", "--variant", variant)
        assert explained.returncode == 0, explained.stderr
        for name in names:
            assert name in explained.stdout, variant
        trace = tmp_path / f"{variant}.parquet"
        two = ("--set", "workload.threads=2", "--set", "machine.cores=2")
        recorded = memwalk("trace", "record", experiment, "--variant", variant, "-o", trace, *two)
        assert recorded.returncode == 0, recorded.stderr
        work = JOIN | {"build_tuples": 3000, "probe_tuples": 5000, "threads": 2}
        work |= WAYS["no partitioning" if variant == "table" else "buffers"]
        machine = THESIS | {"cores": 2}
        assert native.replay_cores([trace], machine, shared_addresses=True)["cycles"] == native.simulate(machine, work)["cycles"]


@SIZES
@pytest.mark.parametrize("threads", [1, 2])
def test_joins_run_on_this_processor_and_find_what_they_find_in_simulation(threads: int, tuple_bytes: int) -> None:
    if len(os.sched_getaffinity(0)) < threads:
        pytest.skip("threads natively take as many processors")
    work = JOIN | {"build_tuples": 12_000, "probe_tuples": 16_000, "threads": threads, "keys": "scattered", "tuple_bytes": tuple_bytes}
    for change in WAYS.values():
        ran = native.run_native(work | change, 2, 0)
        assert all(time > 0 for time in ran["times_ns"])
        simulated = native.simulate(THESIS | {"cores": threads}, work | change)
        assert ran["workload"] == simulated["workload"]


def test_what_cannot_be_is_refused_and_says_why(tmp_path: Path) -> None:
    experiment = tmp_path / "joins.yaml"
    for change in ("radix_bits: 9", "write_combining: true", "passes: 1", "non_temporal: true"):
        told = change.split(":")[0]
        experiment.write_text(EXPERIMENT.replace("no-partitioning}", f"no-partitioning, workload.{change}}}"))
        done = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
        assert done.returncode != 0
        assert f"{told} has no effect" in done.stderr
        assert "Traceback" not in done.stderr


def test_tuples_of_other_sizes_are_refused(tmp_path: Path) -> None:
    experiment = tmp_path / "joins.yaml"
    experiment.write_text(EXPERIMENT.replace("probe_tuples: 5000", "probe_tuples: 5000, tuple_bytes: 12"))
    done = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
    assert done.returncode != 0
    for told in ("tuple_bytes", "12", "8", "16"):
        assert told in done.stderr
    assert "Traceback" not in done.stderr
