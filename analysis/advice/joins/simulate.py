"""Joins simulated: on all cores, and on one where nothing waits for memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memwalk.analysis import stage_times
from memwalk.analysis.advice.joins.algorithms import Algorithm, Tuning, workload
from memwalk.analysis.advice.joins.task import JoinTask
from memwalk.analysis.experiments.results import causes
from memwalk.analysis.slots import in_cycles
from memwalk.simcore.engines import native

IDEAL_BUILD = 8192
"""Build tuples of a run whose instructions alone take time."""


@dataclass(frozen=True)
class Simulated:
    """What a join takes on each core for each of its probe tuples, build tuples and their share of memory included."""

    cycles: float
    by_cause: dict[str, float]
    """The same cycles by cause (`memwalk.analysis.causes`), the data cache by level."""
    instruction_cycles: float
    """Where every access finds its line at once."""
    lines: float
    """Lines that the bus moves."""


def simulate(algorithm: Algorithm, tuning: Tuning) -> Simulated:
    """Simulate a part of a join and scale it up, phase by phase: building by build tuples, probing by probe tuples, the rest by both.

    Raises SpecError for what the kernel does not take.
    """
    task = tuning.task
    build, probe = task.simulated_build, task.simulated_probe
    machine = {**task.machine, "cores": task.cores} if task.cores > 1 else dict(task.machine)
    found = native.simulate(machine, part(algorithm, tuning))
    memory = task.machine["memory"]
    moved = found["bus"]["fills"] + (found["bus"]["write_backs"] if memory.get("write_backs_use_bus") else 0)
    # Lines are not counted by phase: each has them by its accesses.
    accesses = sum(part["accesses"] for part in found["breakdown"])
    stretch = _scaled_up(found, task, build, probe, lambda part: part["accesses"]) / accesses
    by_cause = _by_cause(found, task, build, probe)
    return Simulated(sum(by_cause.values()), by_cause, _instructions(algorithm, tuning), moved * stretch / task.probe)


def needed_bytes(algorithm: Algorithm, tuning: Tuning) -> int:
    """Estimate the memory that `simulate` takes of this process. Raises SpecError as it."""
    return native.estimate_memory(part(algorithm, tuning))["running"]


def part(algorithm: Algorithm, tuning: Tuning) -> dict[str, Any]:
    """Write the part of a join that is simulated, as the workload of an experiment."""
    task = tuning.task
    return workload(algorithm, tuning, task.cores, task.simulated_build, task.simulated_probe)


def _instructions(algorithm: Algorithm, tuning: Tuning) -> float:
    task = tuning.task
    build = max(min(IDEAL_BUILD, task.simulated_build), task.duplicates)
    probe = max(build * task.simulated_probe // task.simulated_build, 2)
    ideal = stage_times.without_misses(task.machine)
    return sum(_by_cause(native.simulate(ideal, workload(algorithm, tuning, 1, build, probe)), task, build, probe).values())


def _by_cause(found: Mapping[str, Any], task: JoinTask, build: int, probe: int) -> dict[str, float]:
    """Cycles that a core spends on each of its probe tuples in the whole join, by cause; slots are those of all cores."""

    def cycles(cause: str) -> float:
        slots = _scaled_up(found, task, build, probe, lambda part: causes(part["slots"])[cause])
        return in_cycles(task.machine, slots) / task.probe

    return {cause: cycles(cause) for cause in causes(found["slots"])}


def _scaled_up(found: Mapping[str, Any], task: JoinTask, build: int, probe: int, counted: Callable[[Mapping[str, Any]], int]) -> float:
    """Sum up what is counted in the parts of a run's breakdown, each scaled up by the tuples of its phase."""
    scales = {"build": task.build / build, "probe": task.probe / probe}
    rest = (task.build + task.probe) / (build + probe)
    return sum(counted(part) * scales.get(part["phase"], rest) for part in found["breakdown"])
