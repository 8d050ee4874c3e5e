"""Progress: how much work there is, how far a run is, and how long the rest takes."""

import heapq
import threading
from pathlib import Path

import pytest
from files import EXPERIMENT, write_experiment

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.pace import Pace
from memwalk.analysis.experiments.points import Point, distinct_points
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.simulation import simulate
from memwalk.analysis.experiments.work import Work, works
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine
from memwalk.simcore.storage.steps import steps_told_to


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def follow(sizes: dict[str, float], slowness: dict[str, float], workers: int) -> list[tuple[float, float | None]]:
    """Let points of so many million events run, those of a kind so many times as slowly as estimated; reports twice a second.

    Points are named by kind and number, the longest begin first. Returns when each report was made, and the time left that it gave.
    """
    estimated = {point: Work((point[0],), events=int(size * 1e6)) for point, size in sizes.items()}
    clock = Clock()
    pace = Pace(estimated, clock)
    waiting = sorted(sizes, key=lambda point: sizes[point])
    running: list[tuple[float, str, float]] = []
    told: list[tuple[float, float | None]] = []
    while waiting or running:
        while waiting and len(running) < workers:
            point = waiting.pop()
            pace.within(point, 0, 0)
            heapq.heappush(running, (clock.now + estimated[point].seconds * slowness[point[0]], point, clock.now))
        end = running[0][0]
        while clock.now + 0.5 < end:
            clock.now += 0.5
            for finish, point, began in running:
                pace.within(point, int((clock.now - began) / (finish - began) * estimated[point].events), 0)
            told.append((clock.now, pace.left()))
        clock.now, point, _ = heapq.heappop(running)
        pace.finish(point, estimated[point].events)
        told.append((clock.now, pace.left()))
    assert pace.done == pytest.approx(pace.total)
    assert pace.left() == 0
    return told


@pytest.mark.parametrize("workers", [1, 2])
def test_the_time_left_is_right_within_a_factor_of_two_from_a_tenth_of_the_run_on(workers: int) -> None:
    sizes = {f"a{number}": 5000.0 / 2**number for number in range(12)}
    sizes |= {f"b{number}": 1.0 for number in range(500)}
    sizes |= {f"c{number}": 900.0 for number in range(3)}
    told = follow(sizes, {"a": 1.0, "b": 1.6, "c": 0.7}, workers)
    end = told[-1][0]
    judged = 0
    for now, left in told:
        truth = end - now
        if 0.1 * end <= now and truth > 1:
            assert left is not None
            assert truth / 2 <= left <= 2 * truth, (now, left, truth)
            judged += 1
    assert judged > 100


def test_nothing_is_said_of_the_time_left_before_anything_is_known() -> None:
    clock = Clock()
    pace = Pace({"a": Work(("a",), events=10**9)}, clock)
    assert pace.left() is None
    pace.within("a", 0, 0)
    assert pace.left() is None
    clock.now = 10.0
    pace.within("a", 10**8, 0)
    assert pace.left() == pytest.approx(90, rel=0.01)
    pace.within("a", 3 * 10**9, 0)
    assert pace.done < pace.total, "an estimate that was too low is not the end"


def test_the_time_left_of_what_goes_on_beyond_its_estimate_is_unknown() -> None:
    """As of programs that repeat beside a workload: nobody knows how often."""
    clock = Clock()
    pace = Pace({"a": Work(("a",), events=10**9), "b": Work(("b",), events=10**8)}, clock)
    pace.within("b", 0, 0)
    clock.now = 10.0
    pace.within("b", 10**8, 0)
    clock.now = 60.0
    pace.within("b", 10**8, 0)
    assert pace.left() == pytest.approx(600, rel=0.2), "what is to come is most of it"
    pace.finish("b", 10**8)
    pace.within("a", 10**9, 0)
    assert pace.left() is not None, "it may end as was estimated"
    clock.now = 120.0
    pace.within("a", 10**9, 0)
    assert pace.left() is None


def test_a_point_is_heard_of_while_it_runs(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("operations: 50", "operations: 20000")
    point = expand(load_experiment(write_experiment(tmp_path, text)))[0].point
    heard: list[tuple[int, int, int]] = []
    statistics = simulate(point.machine, point.workload, ("bytes",), None, lambda *so_far: heard.append(so_far))
    events = [number for number, _, built in heard if not built]
    assert events == sorted(events)
    assert len(events) >= 4
    assert events[-1] <= statistics["events"], "what is observed comes from the same pass"
    (work,) = works([Point.of(point.machine, point.workload, ("bytes",))]).values()
    assert work.events == pytest.approx(statistics["events"], rel=0.5)


STORAGE = """\
schema_version: 1
id: storage
storage: cheetah-36es
workload: {kernel: requests, count: 5000}
variants:
  requests: {}
  interleaved: {workload: {kernel: interleaved-read, pages: 5000}}
  scan: {workload: {kernel: layout-scan, layout: dsm, data: {kind: uniform, records: 2000000}}}
  point: {workload: {kernel: layout-point, layout: dsm, table: r, data: {kind: uniform}, records: 500}}
  clotho point: {workload: {kernel: clotho-point, layout: pax, records: 100000, warm_up: 2000, queries: 1000, pool: 1MiB}}
  tpcc:
    workload: {kernel: tpcc, layout: nsm, warehouses: 1, users: 10, pool: 8MiB, page_access: 448us, warm_up: 1s, measured: 2s}
    workload.fill_transactions: 100
"""


def test_storage_kernels_make_about_as_many_steps_as_they_say(tmp_path: Path) -> None:
    points = distinct_points(expand(load_experiment(write_experiment(tmp_path, STORAGE))))
    assert len(points) == 6
    for point in points:
        made: list[int] = []
        (work,) = works([point]).values()
        assert point.run is not None
        assert point.run.kernel is not None
        with steps_told_to(made.append):
            point.run.kernel.run(point.run.system)
        assert work.steps / 2.5 <= made[-1] <= 2.5 * work.steps, point.workload["kernel"]


def test_points_in_threads_of_one_process_each_count_their_own_steps(tmp_path: Path) -> None:
    """As a Dask worker of two threads runs them: neither hears of the other's."""
    points = distinct_points(expand(load_experiment(write_experiment(tmp_path, STORAGE))))[:2]
    alone, together = ([list[int]() for _ in points] for _ in range(2))

    def run(number: int, told: list[list[int]]) -> None:
        point = points[number]
        assert point.run is not None
        assert point.run.kernel is not None
        with steps_told_to(told[number].append):
            point.run.kernel.run(point.run.system)

    for number in range(2):
        run(number, alone)
    threads = [threading.Thread(target=run, args=(number, together)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(alone)
    assert together == alone


def test_estimates_say_what_a_point_builds_and_calls() -> None:
    work = native.estimate_work({"kernel": "index", "operation": "search", "keys": 1_000_000, "operations": 1000, "caches": "empty"})
    assert work["building"] == 1_000_000
    assert 50_000 < work["events"] < 200_000
    assert work["calls"] == 0
    assert native.estimate_work({"kernel": "table", "operation": "scan", "records": 1000})["calls"] == 1000


def test_events_of_coherent_cores_take_longer() -> None:
    join = {"kernel": "parallel-join", "algorithm": "radix", "radix_bits": 4, "build_tuples": 10_000, "probe_tuples": 10_000, "threads": 2}
    coherent = {**load_machine("zen4-server").native(), "cores": 2}
    alone = {name: value for name, value in coherent.items() if name != "coherence"}
    point, other, single = (Point.on_machine(*one) for one in ((coherent, join), (alone, join), (coherent, {**join, "threads": 1})))
    estimated = works([point, other, single])
    assert estimated[point.id].event == pytest.approx(3.4 * estimated[other.id].event)
    assert estimated[single.id].event == estimated[other.id].event


def test_a_tree_is_heard_of_while_it_is_built(tmp_path: Path) -> None:
    large = [parse_set("workload.keys=2000000"), parse_set("workload.maturity=mature")]
    point = expand(load_experiment(write_experiment(tmp_path, EXPERIMENT)), overrides=large)[0].point
    heard: list[tuple[int, int, int]] = []
    simulate(point.machine, point.workload, (), None, lambda *so_far: heard.append(so_far))
    built = [steps for events, _, steps in heard if not events]
    assert len(built) >= 2
    assert built == sorted(built)
    (work,) = works([point]).values()
    shares = [work.done(*so_far) for so_far in heard]
    assert shares == sorted(shares)
    assert 0.3 < work.done(0, 0, built[-1]) < 1, "most of the work is building"
