"""Runs on a Dask cluster: the same bytes as in local processes, and mishaps in one line."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import pytest
from files import EXPERIMENT
from runs import Recorder, small_rows, tables

from memwalk.analysis.experiments import cluster as cluster_module
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.session import run_rows
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError


def local_cluster(workers: int = 1) -> distributed.LocalCluster:
    """Start a cluster within this process, without a dashboard, whose port another one may have."""
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None)


def test_a_dask_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    rows = small_rows(tmp_path)
    run_rows("small", rows, tmp_path / "local", jobs=1)
    with local_cluster() as cluster:
        run_rows("small", rows, tmp_path / "dask", scheduler=cluster.scheduler_address)
    assert tables(tmp_path / "dask") == tables(tmp_path / "local")


def test_two_runs_on_one_cluster_keep_apart(tmp_path: Path) -> None:
    """Both have a first task that begins with the same point, and goes on with another."""
    latencies = [[100, *range(110, 280, 10)], [100, *range(105, 275, 10)]]
    rows = []
    for number, cycles in enumerate(latencies):
        (folder := tmp_path / str(number)).mkdir()
        written = ", ".join(f"{one}cycles" for one in cycles)
        grid = f"variants:\n  B+: {{}}\ngrid:\n  machine.memory.latency_cycles: [{written}]\n"
        rows.append(small_rows(folder, EXPERIMENT.partition("variants:")[0] + grid + "scales:\n  quick: {workload.keys: 2001}\n"))
    with local_cluster() as cluster:
        started = threading.Barrier(2)

        def run(number: int) -> None:
            started.wait()
            run_rows("small", rows[number], tmp_path / str(number) / "dask", scheduler=cluster.scheduler_address)

        runs = [threading.Thread(target=run, args=(number,)) for number in (0, 1)]
        for one in runs:
            one.start()
        for one in runs:
            one.join()
    for number in (0, 1):
        run_rows("small", rows[number], tmp_path / str(number) / "local", jobs=1)
        assert tables(tmp_path / str(number) / "dask") == tables(tmp_path / str(number) / "local")


def test_a_worker_that_dies_again_and_again_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: Any) -> None:
        raise distributed.KilledWorker("task", SimpleNamespace(address="tcp://one"), 4)

    monkeypatch.setattr(cluster_module, "_run", dies)
    with (
        local_cluster() as cluster,
        pytest.raises(UserError, match=r"workers died again and again on point .*; if memory ran out, .* Finished points are kept"),
    ):
        run_rows("small", small_rows(tmp_path), tmp_path / "out", scheduler=cluster.scheduler_address)


def test_a_cluster_without_workers_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_SECONDS_WITHOUT_WORKERS", 0)
    with (
        local_cluster(workers=0) as cluster,
        pytest.raises(UserError, match=r"it has no workers; start some with `dask worker .* the same command goes on"),
    ):
        run_rows("small", small_rows(tmp_path), tmp_path / "dask", scheduler=cluster.scheduler_address)


def test_a_lost_scheduler_is_told_in_one_line_and_the_run_goes_on_later(tmp_path: Path) -> None:
    rows = small_rows(tmp_path)
    cluster = local_cluster()

    class Closing(Recorder):
        def advance(self, point: Point, statistics: native.Statistics) -> None:
            super().advance(point, statistics)
            if len(self.advanced) == 2:
                cluster.close()

    with pytest.raises(UserError, match="the Dask scheduler is gone; start it again; finished points are kept"):
        run_rows("small", rows, tmp_path / "out", scheduler=cluster.scheduler_address, progress=Closing())
    kept = list((tmp_path / "out" / "points").glob("*.json"))
    assert len(kept) >= 2
    run_rows("small", rows, tmp_path / "out", jobs=1)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["end_reason"] == "completed"
