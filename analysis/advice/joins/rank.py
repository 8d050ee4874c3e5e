"""Join algorithms in the order of what they take, with what the models say of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memwalk.analysis.advice.explained import CLOSE
from memwalk.analysis.advice.joins.algorithms import ALGORITHMS, Algorithm, Tuning, check
from memwalk.analysis.advice.joins.simulate import Simulated, needed_bytes, part, simulate
from memwalk.analysis.advice.joins.task import JoinTask
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError


@dataclass(frozen=True)
class JoinAdvice:
    """What a join takes with an algorithm. Cycles are those that a core spends on each of its probe tuples, building included."""

    algorithm: str
    does: str
    simulated_seconds: float
    predicted_seconds: float
    simulated_cycles: float
    predicted_cycles: float
    by_cause: dict[str, float]
    """The simulated cycles by cause (`memwalk.analysis.causes`), the data cache by level."""
    instruction_cycles: float
    """Measured where every access finds its line at once; part of the prediction, as are the next two."""
    waiting_cycles: float
    """For references that nothing hides, each of which takes the whole latency."""
    bus_cycles: float
    """That the lines of all cores take the bus."""
    lines: float
    """Lines that the bus moves for a probe tuple, simulated."""
    workload: dict[str, Any] = field(default_factory=dict)
    """What was simulated, as an experiment says it; it runs on as many cores as it has threads."""

    @property
    def is_bound_by_bus(self) -> bool:
        """Whether the prediction is that of the bus."""
        return self.bus_cycles >= self.instruction_cycles + self.waiting_cycles

    @property
    def fills_bus(self) -> bool:
        """Whether the lines take the bus for all of the simulated time, or nearly."""
        return self.simulated_cycles <= CLOSE * self.bus_cycles

    @property
    def is_limited_by_bus(self) -> bool:
        """Whether the bus is what it waits for, in simulation or by the prediction."""
        return self.fills_bus or self.is_bound_by_bus


def advise(tuning: Tuning, progress: Callable[[str], None]) -> list[JoinAdvice]:
    """Rank the algorithms by simulated time, the fastest first. ``progress`` hears what is being simulated.

    Raises UserError for relations that the kernel does not take, or that there is too little memory for.
    """
    ranked = []
    try:
        check(tuning.task)
        progress("a tuple's stages")
        tuning.group_size  # noqa: B018 (measured before the algorithms that want it)
        _check_memory(tuning)
        for algorithm in ALGORITHMS:
            progress(algorithm.name)
            ranked.append(_advice(algorithm, tuning, simulate(algorithm, tuning)))
    except native.SpecError as error:
        name, message = error.args
        raise UserError(f"{_OPTIONS.get(name, name)}: {message}") from None
    return sorted(ranked, key=lambda one: one.simulated_cycles)


def _check_memory(tuning: Tuning) -> None:
    """Refuse, by the options of the advice, a part that takes more memory than there is."""
    task, needed, free = tuning.task, max(needed_bytes(algorithm, tuning) for algorithm in ALGORITHMS), native.free_memory()
    if needed > free:
        simulated = f"{task.simulated_build:,} build and {task.simulated_probe:,} probe tuples with {task.duplicates:,} matches each"
        raise UserError(
            f"--sample {task.sample}: simulating {simulated} takes about {_gib(needed)} of memory, and {_gib(free)} are free;"
            " lower --sample, or --duplicates"
        )


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


_OPTIONS = {
    "tuple_bytes": "--tuple",
    "duplicates": "--duplicates",
    "partitions": "--sample",
    "cache_bytes": "--sample",
    "threads": "--cores",
}
"""Options by the kernel's parameters that follow from them."""


def _advice(algorithm: Algorithm, tuning: Tuning, found: Simulated) -> JoinAdvice:
    task = tuning.task
    waiting = tuning.references * latency(algorithm, task)
    bus = found.lines * task.costs.next * task.cores
    predicted = max(found.instruction_cycles + waiting, bus)
    share = task.probe / task.cores
    return JoinAdvice(
        algorithm=algorithm.name,
        does=algorithm.does_on(task),
        simulated_seconds=task.seconds(found.cycles * share),
        predicted_seconds=task.seconds(predicted * share),
        simulated_cycles=found.cycles,
        predicted_cycles=predicted,
        by_cause=found.by_cause,
        instruction_cycles=found.instruction_cycles,
        waiting_cycles=waiting,
        bus_cycles=bus,
        lines=found.lines,
        workload=part(algorithm, tuning),
    )


def latency(algorithm: Algorithm, task: JoinTask) -> float:
    """Cycles that a reference of an algorithm waits on average: for memory as often as the last cache has no room for what it goes to."""
    if algorithm.waits == "nowhere":
        return 0.0
    far = task.memory_share if algorithm.waits == "memory" else 0.0
    return far * task.costs.full + (1 - far) * float(task.last_cache["latency_cycles"])
