"""Simulates points, keeps each one as soon as it is finished, and never does a finished one again."""

import multiprocessing
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from memwalk.analysis.experiments.cluster import simulate_on_cluster
from memwalk.analysis.experiments.local import simulate_here, simulate_in_processes
from memwalk.analysis.experiments.points import Finished, Point
from memwalk.analysis.experiments.schedule import Schedule
from memwalk.analysis.experiments.store import PointStore
from memwalk.analysis.experiments.task import HeardOf
from memwalk.analysis.experiments.work import Work, works
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError

_CLUSTER_WORKERS = 16
"""Among how many the points of a cluster are dealt at least: nobody knows how many will come."""


class Progress(Protocol):
    """Who wants to know how a run gets on."""

    def start(self, finished: Sequence[Point], missing: Sequence[Point], estimated: Mapping[str, Work]) -> None:
        """Hear that the run begins: which points were finished before, which will be simulated, and their work by id."""

    def within(self, point: Point, events: int, steps: int, built: int = 0) -> None:
        """Hear that a point has begun, or how many events, steps of storage and steps of building of it have passed."""

    def advance(self, point: Point, statistics: Statistics) -> None:
        """Hear that a point was simulated and is kept."""

    def stop(self) -> None:
        """Hear that the run is over, one way or another."""


def run_points(
    points: Iterable[Point],
    store_dir: Path,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Statistics]:
    """Simulate the points that ``store_dir`` does not hold yet and returns the statistics of all, by point id.

    ``jobs`` is the number of processes (see `processes`; 1 simulates in this process); ``scheduler``, the address of
    a Dask cluster, takes their place. Each finished point is written at once; a run that was killed is resumed by
    calling this again; points that other code computed are simulated again. Raises UserError if the folder cannot be written,
    KeyboardInterrupt on Ctrl-C.
    """
    workers = processes(jobs)
    store = PointStore(store_dir)
    with store.open():
        return finish_points(points, store, workers, scheduler, progress)


def finish_points(
    points: Iterable[Point], store: PointStore, workers: int, scheduler: str | None, progress: Progress | None
) -> dict[str, Statistics]:
    """Do what `run_points` does in a store that is open, with so many processes at most."""
    wanted = {point.id: point for point in points}
    found = store.load(wanted.values())
    missing = [point for point in wanted.values() if point.id not in found]
    estimated = works(missing)
    if progress is not None:
        progress.start([wanted[point] for point in found], missing, estimated)
    heard = _nobody if progress is None else progress.within
    try:
        workers = min(workers, len(missing))
        schedule = Schedule(missing, estimated, _CLUSTER_WORKERS if scheduler else max(workers, 1))
        with closing(_simulated(schedule, workers, scheduler, heard)) as simulated:
            for point, statistics in simulated:
                store.save(point, statistics)
                found[point.id] = statistics
                if progress is not None:
                    progress.advance(point, statistics)
    finally:
        if progress is not None:
            progress.stop()
    return {point: found[point] for point in wanted}


def processes(jobs: int | None) -> int:
    """Return how many processes ``jobs`` asks for: those said, or all cores, or this one where it may have no others.

    Raises UserError if ``jobs`` is no whole number from 1 on, or more than one where this process may have no others.
    """
    may_have_others = not multiprocessing.current_process().daemon  # as a worker of multiprocessing.Pool is
    if jobs is None:
        return _cores() if may_have_others else 1
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UserError(f"jobs={jobs!r}: expected a whole number of processes from 1 on, or None for all cores")
    if jobs > 1 and not may_have_others:
        raise UserError(f"jobs={jobs}: a worker of multiprocessing.Pool may have no processes of its own; give jobs=1")
    return jobs


def _cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _simulated(schedule: Schedule, workers: int, scheduler: str | None, heard: HeardOf) -> Generator[Finished]:
    if not workers:
        return (_ for _ in ())
    if scheduler is not None:
        return simulate_on_cluster(schedule, scheduler, heard)
    return simulate_here(schedule, heard) if workers == 1 else simulate_in_processes(schedule, workers, heard)


def _nobody(point: Point, events: int, steps: int, built: int) -> None:
    """Hears nothing."""
