"""Probes of a hash table in memory, one by one and many at a time: what that brings, threads, traces, this processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from machines import THESIS

from memwalk.simcore.engines import native

INTERLEAVINGS = ("one-by-one", "group", "amac", "coroutine")
# 16 MB in a last cache of 2.
PROBE: dict[str, Any] = {"kernel": "hash-probe", "build_tuples": 250_000, "probe_tuples": 20_000}


def walking(walker: str, latency: int) -> dict[str, Any]:
    """The machine with another walker."""
    return THESIS | {"dtlb": THESIS["dtlb"] | {"walker": walker, "walk_latency_cycles": latency}}


def found(run: dict[str, Any]) -> tuple[int, int, int]:
    work = run["workload"]
    return work["operations"], work["returned"], work["checksum"]


def test_the_more_regularly_probes_are_interleaved_the_less_they_wait() -> None:
    runs = {one: native.simulate(THESIS, PROBE | {"interleaving": one}) for one in INTERLEAVINGS}
    assert len({found(run) for run in runs.values()}) == 1
    cycles = {one: run["cycles"] for one, run in runs.items()}
    # Groups finish long chains alone, coroutines run more instructions than states do.
    assert cycles["one-by-one"] > 2 * cycles["group"]
    assert cycles["group"] > 1.1 * cycles["amac"]
    assert cycles["coroutine"] > 1.05 * cycles["amac"]
    assert runs["coroutine"]["slots"]["busy"] > runs["amac"]["slots"]["busy"] > runs["one-by-one"]["slots"]["busy"]


def test_more_under_way_help_until_memory_is_busy_all_the_time() -> None:
    cycles = {count: native.simulate(THESIS, PROBE | {"interleaving": "amac", "in_flight": count})["cycles"] for count in (1, 4, 16, 64)}
    assert cycles[1] > 1.8 * cycles[4] > 1.8 * cycles[16]
    assert cycles[64] > 0.9 * cycles[16], "a line comes every 15 cycles, however many are asked for"


def test_interleaving_gains_less_in_a_table_that_the_first_cache_holds() -> None:
    """What is left is the probe input, whose lines nobody prefetches on this machine."""

    def gain(build_tuples: int) -> float:
        work = PROBE | {"build_tuples": build_tuples}
        one, ring = (native.simulate(THESIS, work | {"interleaving": name})["cycles"] for name in ("one-by-one", "amac"))
        return float(one / ring)

    assert gain(100) < 0.5 * gain(250_000)


def test_walks_of_a_page_table_overlap_in_interleaved_probes_if_the_walker_lets_them() -> None:
    """A mechanism beside another: prefetches whose translations are walked for."""

    def cost(walker: str, interleaving: str) -> int:
        """How much more walks of 300 cycles take than walks of 30."""
        work = PROBE | {"interleaving": interleaving}
        dear, cheap = (native.simulate(walking(walker, latency), work)["cycles"] for latency in (300, 30))
        return int(dear - cheap)

    assert cost("parallel", "one-by-one") > 1.5 * cost("parallel", "amac") > 0
    assert cost("blocking", "amac") > 0.9 * cost("blocking", "one-by-one"), "one walk at a time, whatever is interleaved"


def test_probes_whose_end_is_foreseen_overlap_by_themselves() -> None:
    """Dense keys fill buckets of one tuple: no branch is mispredicted, and the core begins probe after probe while one waits."""

    def cycles(**more: Any) -> int:
        return int(native.simulate(THESIS, PROBE | {"interleaving": "one-by-one"} | more)["cycles"])

    assert cycles(keys="dense", bucket_tuples=1) < 0.5 * cycles(bucket_tuples=1)
    assert cycles(keys="dense") > 1.2 * cycles(keys="dense", bucket_tuples=1), "which of two tuples it is, nobody foresees"


def test_skewed_keys_wait_less() -> None:
    even, skewed = (native.simulate(THESIS, PROBE | {"interleaving": "one-by-one", "skew": skew})["cycles"] for skew in (0.0, 1.0))
    assert skewed < 0.8 * even


@pytest.mark.parametrize("threads", [1, 2])
def test_results_take_a_line_of_every_four_probes(threads: int) -> None:
    machine = THESIS | {"cores": threads}
    work = PROBE | {"interleaving": "amac", "threads": threads}
    counted, stored = (native.simulate(machine, work | {"results": results}) for results in ("counted", "stored"))
    assert found(counted) == found(stored)
    lines = PROBE["probe_tuples"] * 16 / 64
    assert stored["bus"]["fills"] - counted["bus"]["fills"] == pytest.approx(lines, rel=0.1)
    assert stored["instructions"] == counted["instructions"] + 8 * PROBE["probe_tuples"]
    ran = native.run_native(PROBE | {"interleaving": "amac", "results": "stored"}, 1, 0)
    assert found(ran) == found(stored)


@pytest.mark.parametrize("interleaving", INTERLEAVINGS)
def test_threads_probe_together_with_what_one_does_alone(interleaving: str) -> None:
    work = PROBE | {"interleaving": interleaving, "probe_tuples": 7000, "skew": 0.5}
    runs = {threads: native.simulate(THESIS | {"cores": threads}, work | {"threads": threads}) for threads in (1, 2, 7)}
    assert len({found(run) for run in runs.values()}) == 1
    assert runs[1]["cycles"] > 1.5 * runs[2]["cycles"], "they work at the same time"


EXPERIMENT = """\
schema_version: 1
id: probes
title: Probes
machine: thesis-simulator
workload: {kernel: hash-probe, build_tuples: 3000, probe_tuples: 5000}
variants:
  one by one: {workload.interleaving: one-by-one}
  AMAC: {workload.interleaving: amac}
"""


def test_probes_run_record_replay_and_explain(tmp_path: Path) -> None:
    experiment = tmp_path / "probes.yaml"
    experiment.write_text(EXPERIMENT)
    ran = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    explained = memwalk("explain", tmp_path / "out", "--variant", "AMAC")
    assert "buckets" in explained.stdout
    assert "probe input" in explained.stdout
    assert "one by one's waits" in explained.stdout
    trace = tmp_path / "amac.parquet"
    assert memwalk("trace", "record", experiment, "--variant", "AMAC", "-o", trace).returncode == 0
    work = {"kernel": "hash-probe", "interleaving": "amac", "build_tuples": 3000, "probe_tuples": 5000}
    assert native.replay(trace, THESIS)["cycles"] == native.simulate(THESIS, work)["cycles"]


def test_probes_run_on_this_processor(tmp_path: Path) -> None:
    experiment = tmp_path / "probes.yaml"
    experiment.write_text(EXPERIMENT)
    done = memwalk("native", experiment, "--machine", "thesis-simulator", "--repetitions", "1")
    assert done.returncode == 0, done.stderr
    assert "AMAC" in done.stdout


def test_what_cannot_be_is_refused_and_says_why(tmp_path: Path) -> None:
    experiment = tmp_path / "probes.yaml"
    experiment.write_text(EXPERIMENT.replace("interleaving: one-by-one", "interleaving: one-by-one, workload.in_flight: 7"))
    done = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "in_flight" in done.stderr
    assert "Traceback" not in done.stderr
