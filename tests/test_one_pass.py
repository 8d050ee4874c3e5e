"""One run of a kernel for several machines and several observers."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from files import memwalk, write_experiment
from machines import THESIS

from memwalk.analysis.capacities import Geometry
from memwalk.analysis.experiments import simulation
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import distinct_points
from memwalk.analysis.experiments.runner import run_points
from memwalk.analysis.experiments.schedule import Schedule
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.traces import curves
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

SEARCH = {"kernel": "index", "operation": "search", "keys": 20_000, "operations": 1000}
CHASE = {"kernel": "pointer-chase", "lines": 3000}


def slower(cycles: int) -> dict[str, Any]:
    machine = copy.deepcopy(THESIS)
    machine["memory"]["latency_cycles"] = cycles
    return machine


def smaller() -> dict[str, Any]:
    machine = copy.deepcopy(THESIS)
    machine["caches"][1]["size_bytes"] //= 8
    return machine


MACHINES = [THESIS, slower(600), load_machine("itanium2-900").native(), smaller()]


@pytest.mark.parametrize(
    "workload",
    [SEARCH | {"warm_up": "auto"}, SEARCH | {"warm_up": 100}, SEARCH | {"caches": "cold"}, CHASE],
    ids=["auto", "100", "cold", "chase"],
)
def test_machines_of_one_pass_give_what_each_gives_alone(workload: dict[str, Any]) -> None:
    together = native.simulate_on(MACHINES, workload)
    assert together == [native.simulate(machine, workload) for machine in MACHINES]
    assert len({statistics["cycles"] for statistics in together}) >= len(MACHINES) - 1


def test_warm_ups_are_found_for_each_machine() -> None:
    found = [one["workload"]["warm_up_operations"] for one in native.simulate_on(MACHINES, SEARCH | {"warm_up": "auto"})]
    assert len(set(found)) > 1, "the test is of machines that differ in it"
    assert found == [native.warmed_up(SEARCH | {"warm_up": "auto"}, machine)["warm_up"] for machine in MACHINES]


@pytest.mark.parametrize("workload", [SEARCH | {"warm_up": 100}, SEARCH | {"caches": "empty"}], ids=["warm", "empty"])
def test_what_is_observed_is_what_the_recorded_trace_gives(tmp_path: Path, workload: dict[str, Any]) -> None:
    trace = tmp_path / "t.parquet"
    native.record(workload, trace)
    for machine in (THESIS, smaller()):
        plain, observed = native.simulate(machine, workload), simulation.simulate(machine, workload, ("bytes", "counts", "curve"))
        extra = {name: observed.pop(name) for name in ("byte_usage", "counts", "curve")}
        assert observed == plain
        assert extra["byte_usage"] == native.byte_usage(trace, machine)
        assert extra["counts"] == native.count(trace, machine)
        exact = curves.exact(trace, Geometry(machine["caches"][-1]["line_bytes"]))
        curve = pd.DataFrame(extra["curve"])
        assert list(curve.columns) == list(exact.columns)
        assert len(curve) > 10
        assert np.allclose(curve, exact.iloc[: len(curve)])
        assert exact["misses"].iloc[len(curve) - 1 :].nunique() == 1, "what is left out is flat"


SWEEP = """\
schema_version: 1
id: sweep
machines: [./small.yaml, itanium2-900, thesis-simulator]
observe: [bytes, counts, curve]
workload: {kernel: index, operation: search, keys: 2000, operations: 50, tree: {kind: b+}, caches: empty}
grid:
  workload.keys: [2000, 3000]
"""


def test_an_experiment_of_machines_is_one_of_each(tmp_path: Path) -> None:
    write_experiment(tmp_path, SWEEP)
    done = memwalk("run", "experiment.yaml", "--jobs", "1", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    together = pd.read_parquet(tmp_path / "out/results.parquet")
    assert list(together["machine.name"]) == ["small", "small", "itanium2-900", "itanium2-900", "thesis-simulator", "thesis-simulator"]
    for machine in ("./small.yaml", "itanium2-900", "thesis-simulator"):
        one = SWEEP.replace("machines: [./small.yaml, itanium2-900, thesis-simulator]", f"machine: {machine}")
        alone = expand(load_experiment(write_experiment(tmp_path, one)))
        assert {row.point.id for row in alone} <= set(together["point"])
    curve, usage = (pd.read_parquet(tmp_path / f"out/{name}.parquet") for name in ("curves", "usage"))
    assert set(curve["point"]) == set(usage["point"]) == set(together["point"])
    counted = together["counts_L1_misses"]
    assert (counted > 0).all()
    assert (counted <= together["L1_misses"] + together["L1_merges"]).all()


def test_two_ways_to_name_machines_are_one_too_many(tmp_path: Path) -> None:
    write_experiment(tmp_path, SWEEP + "machine: itanium2-900\n")
    done = memwalk("run", "experiment.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "`machine` and `machines` exclude each other" in done.stderr


def test_a_set_machine_takes_the_place_of_all(tmp_path: Path) -> None:
    write_experiment(tmp_path, SWEEP)
    done = memwalk("run", "experiment.yaml", "--dry-run", "--json", "--set", "machine=itanium2-900", cwd=tmp_path)
    assert len(json.loads(done.stdout)["points"]) == 2


def test_points_of_one_workload_are_dealt_together(tmp_path: Path) -> None:
    points = distinct_points(expand(load_experiment(write_experiment(tmp_path, SWEEP))))
    schedule = Schedule(points)
    dealt = [schedule.take(0), schedule.take(0)]
    assert schedule.take(0) is None
    assert sorted(len(together or ()) for together in dealt) == [3, 3]
    for together in dealt:
        assert together is not None
        assert len({json.dumps(point.workload) for point in together}) == 1
    # Three workers each have something to do.
    schedule = Schedule(points, workers=3)
    assert max(len(schedule.take(worker) or ()) for worker in range(3)) == 2


def test_results_are_the_same_from_any_number_of_workers(tmp_path: Path) -> None:
    points = distinct_points(expand(load_experiment(write_experiment(tmp_path, SWEEP))))
    one, two = (run_points(points, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert all({"byte_usage", "counts", "curve"} <= set(statistics) for statistics in one.values())
