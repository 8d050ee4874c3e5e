"""Operations on an index simulated, with its pages on the device: a part of the index, and of the memory that it has."""

from __future__ import annotations

from math import ceil, log

from memwalk.analysis.advice.indexes.candidates import Candidate, workload
from memwalk.analysis.advice.indexes.predict import Cost, predict
from memwalk.analysis.advice.indexes.task import LEAST_FRAMES, IndexTask, Operation
from memwalk.analysis.experiments.simulation import StorageRun
from memwalk.analysis.experiments.simulation import simulate as simulate_point
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.simcore.storage.system import System

OPERATIONS: dict[Operation, int] = {"search": 20_000, "scan": 4000, "insert": 5000}
"""How many are measured."""
SCANNED = 400_000
"""TupleIDs that all measured scans read together, at most, unless so few scans read more."""
LEAST_SCANS = 10
MORE = 1.3
"""The warm-up is so many times as long as it takes on average to fill the pool."""


def simulated_frames(candidate: Candidate, task: IndexTask) -> int:
    """Return the frames of the simulated pool, the same share of the index as in reality; 0, every page has one, if that is all of it."""
    frames, pages = task.frames(candidate.page.page_bytes), sum(candidate.pages(task.keys))
    if frames >= pages:
        return 0
    return max(round(frames * sum(candidate.pages(task.simulated_keys)) / pages), LEAST_FRAMES)


def simulate(candidate: Candidate, operation: Operation, task: IndexTask) -> Cost:
    """Simulate an operation on a part of the index, and add what the models say that the rest of the index costs more.

    Raises SpecError for what the kernel does not take.
    """
    frames, keys = simulated_frames(candidate, task), task.simulated_keys
    operations = _operations(operation, task)
    run = workload(candidate, operation=operation, keys=keys, operations=operations, pool_frames=frames, caches="warm")
    if operation == "scan":
        run["range"] = task.simulated_range
    storage = None
    if frames:
        run["warm_up"] = _warm_up(candidate, operation, task, frames)
        storage = StorageRun(None, System(task.device))
    found = simulate_point(dict(task.machine), run, storage=storage)
    measured = Cost(found["cycles"], found["workload"]["pages_read"])
    if frames:
        times = found[STORAGE_TIME]
        served = times["io_seconds"] - times["io_queue_seconds"]
        queued = measured.page_reads * times["io_queue_seconds"] / served if served else 0.0
        measured = Cost(measured.cycles * times["cpu_seconds"] / times["seconds"], measured.page_reads, queued)
    measured *= 1 / operations
    whole = predict(candidate, operation, task, task.keys, task.frames(candidate.page.page_bytes))
    part = predict(candidate, operation, task, keys, frames or sum(candidate.pages(keys)))
    rest = whole + part * -1
    reads = max(measured.page_reads + rest.page_reads, 0.0)
    return Cost(measured.cycles + max(rest.cycles, 0.0), reads, measured.queued)


def _operations(operation: Operation, task: IndexTask) -> int:
    if operation != "scan":
        return OPERATIONS[operation]
    return max(min(OPERATIONS[operation], SCANNED // task.simulated_range), LEAST_SCANS)


def _warm_up(candidate: Candidate, operation: Operation, task: IndexTask, frames: int) -> int:
    """Return the operations until a pool that is smaller than the index is full: each visits some leaf pages, drawn at random."""
    pages = candidate.pages(task.simulated_keys)[0]
    filled = -log(1 - min(frames / pages, 1 - 1 / pages)) * pages
    each = 1 + (task.simulated_range / candidate.entries if operation == "scan" else 0)
    return max(ceil(MORE * filled / each), 1)
