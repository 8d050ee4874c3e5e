"""Operations on an index simulated, on all cores, with its pages on the device: a part of the index, and of the memory that it has."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from memwalk.analysis.advice.indexes.candidates import Candidate, workload
from memwalk.analysis.advice.indexes.counted_reads import with_counted_reads
from memwalk.analysis.advice.indexes.measured import measured
from memwalk.analysis.advice.indexes.page_reads import held, page_reads
from memwalk.analysis.advice.indexes.predict import Cost, predict
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.advice.indexes.warm_up import cache_filling, pool_filling
from memwalk.analysis.experiments.simulation import StorageRun
from memwalk.analysis.experiments.simulation import simulate as simulate_point
from memwalk.simcore.storage.system import System

OPERATIONS: dict[Operation, int] = {"search": 20_000, "scan": 4000, "insert": 5000}
"""How many are measured, of all cores together."""
SCANNED = 400_000
"""TupleIDs that all measured scans read together, at most, unless so few scans read more."""
LEAST_SCANS = 10


def simulated_frames(candidate: Candidate, task: IndexTask) -> int:
    """Return the frames of the simulated pool, the same share of the index as in reality; 0, every page has one, if that is all of it."""
    frames, pages = task.frames(candidate.page.page_bytes), sum(candidate.pages(task.keys))
    if frames >= pages:
        return 0
    return max(round(frames * sum(candidate.pages(task.simulated_keys)) / pages), task.least_frames)


def simulate(candidate: Candidate, operation: Operation, task: IndexTask) -> Cost:
    """Simulate an operation on a part of the index, and add what the models say that the rest of the index costs more.

    Raises SpecError for what the kernel does not take.
    """
    frames, keys, size = simulated_frames(candidate, task), task.simulated_keys, candidate.page.page_bytes
    until_full = pool_filling(candidate, operation, task, frames) if frames else None
    if until_full is None:
        frames = 0
    # Threads divide a scan's range among themselves: each scans its part, as long as a scan is.
    at_once = task.cores if operation == "scan" else 1
    runs = ceil(_operations(operation, task) / at_once)
    run = workload(candidate, operation=operation, keys=keys, operations=runs, pool_frames=frames, caches="warm")
    if operation == "scan":
        run["range"] = at_once * task.simulated_range
    if task.cores > 1:
        run["threads"] = task.cores
    if task.optimistic:
        run["latching"] = "optimistic"
    if task.skew:
        run["skew"] = task.skew
    storage = None
    if task.cores > 1 and not frames:
        # `auto`, which one core has, warms each of several up for as long as one alone, and so takes minutes for a shared cache.
        run["warm_up"] = cache_filling(candidate, operation, task)
    if until_full is not None:
        run["warm_up"] = until_full
        storage = StorageRun(None, System(task.device))
    found = measured(simulate_point(dict(task.machine), run, storage=storage), operation, task, runs * at_once, size)
    if operation == "scan" and storage is not None:
        found = with_counted_reads(found, run, task)
    rest = predict(candidate, operation, task, task.keys, task.frames(size)) + _predicted_part(candidate, operation, task, frames) * -1
    reads = max(found.page_reads + rest.page_reads, 0.0)
    share = sum(candidate.pages(keys)) / sum(candidate.pages(task.keys))
    found = replace(found, queued=found.queued + share * found.nearby, nearby=share * found.nearby)
    whole = replace(found, cycles=found.cycles + max(rest.cycles, 0.0), page_reads=reads)
    writes = predict(candidate, operation, task, task.keys, task.frames(size)).page_writes
    return replace(whole, queued=_queued(found, replace(whole, page_writes=writes), operation, task, size))


def leaves_reads_to_models(candidate: Candidate, task: IndexTask) -> bool:
    """Tell whether page reads of an operation are what the models say: a pool that so many operations do not fill tells nothing."""
    frames = simulated_frames(candidate, task)
    return frames > 0 and any(pool_filling(candidate, operation, task, frames) is None for operation, weight in task.mix.items() if weight)


def _predicted_part(candidate: Candidate, operation: Operation, task: IndexTask, frames: int) -> Cost:
    """Return what the models say of what is simulated, with so many frames, or with 0 for every page its own."""
    keys = task.simulated_keys
    pages = candidate.pages(keys)
    in_memory = frames or sum(pages)
    part = predict(candidate, operation, replace(task, scan_range=task.simulated_range), keys, in_memory)
    if operation == "scan" and task.skew:
        # The scans at a time are one for the pool.
        scans = replace(task, scan_range=task.cores * task.simulated_range)
        return replace(part, page_reads=page_reads(candidate, operation, scans, keys, in_memory) / task.cores)
    if operation == "scan":
        # All but one of the scans at a time begin on the page where the one before ends: whoever comes first reads it.
        part += Cost(0, -(1 - held(pages, in_memory)[0]) * (1 - 1 / task.cores))
    return part


def _queued(found: Cost, whole: Cost, operation: Operation, task: IndexTask, page_bytes: int) -> float:
    """Return how long page reads of the whole index wait for pages that are written, and for reads of other cores, in times of a read.

    That is as long for each read as in the simulation, and in all no less than the device makes those wait that are not in its buffer.
    Scans of several cores are simulated beside each other, on pages that lie near each other, and begin together; so of them the
    simulation does not tell.
    """
    longer = task.least_seconds(page_bytes, whole.page_reads, whole.page_writes) - task.seconds(whole.cycles)
    least = longer / task.page_seconds(page_bytes) - whole.page_reads
    if (operation == "scan" and task.cores > 1) or not found.page_reads:
        return max(least, 0.0)
    more = whole.page_reads / found.page_reads
    return max(found.queued * more, least + min(found.nearby, 0.0) * more)


def _operations(operation: Operation, task: IndexTask) -> int:
    if operation != "scan":
        return OPERATIONS[operation]
    return max(min(OPERATIONS[operation], SCANNED // task.simulated_range), LEAST_SCANS)
