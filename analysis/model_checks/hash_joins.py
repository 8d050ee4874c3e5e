"""Group sizes and prefetch distances of prefetching hash joins: equations 4.1 and 4.2 against sweeps of both.

The times of stages that the equations want are measured (`memwalk.analysis.stage_times`); T1 and T_next are the machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pandas as pd

from memwalk.analysis import stage_times
from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import rows
from memwalk.analysis.cost_models import MissCosts, hash_join
from memwalk.analysis.model_checks.comparison import MODEL_TOLERANCE, Check, ModelStudy, is_best
from memwalk.analysis.slots import in_cycles
from memwalk.simcore.machine import load_machine

TOLERANCE = 0.05
"""What a choice may cost over the best one: the equations leave out page walks, and lines that take the bus for somebody else."""
GROUP_SIZE, DISTANCE = "workload.group_size", "workload.prefetch_distance"


@dataclass(frozen=True, eq=False)
class Phase:
    """A phase of a hash join whose stages are measured."""

    name: str
    workload: Mapping[str, Any]
    """What `stage_times.stage_cycles` runs; the phase takes `stage_times.TUPLES` tuples of 100 bytes through its stages."""
    tuples: str
    """Where results have the number of its tuples."""
    by_group: tuple[str, str]
    """The panel and the variant that a figure sweeps group sizes in."""
    by_distance: tuple[str, str]
    """The same for distances."""
    overrides: tuple[str, ...]
    """Sizes for a check."""


PROBING = Phase(
    name="probe",
    workload={"kernel": "hash-join", "build_tuples": stage_times.TUPLES // 2, "probe_tuples": stage_times.TUPLES},
    tuples="workload.probe_tuples",
    by_group=("group", "by G"),
    by_distance=("distance", "by D"),
    # A fifth: 10 MB of build tuples and hash table, and L3 has 2 MB at most.
    overrides=("workload.build_tuples=78000", "workload.probe_tuples=156000"),
)
BUILDING = Phase(
    name="build",
    workload={"kernel": "hash-join", "build_tuples": stage_times.TUPLES, "probe_tuples": 0},
    tuples="workload.build_tuples",
    by_group=PROBING.by_group,
    by_distance=PROBING.by_distance,
    overrides=PROBING.overrides,
)
PARTITIONING = Phase(
    name="partition",
    workload={"kernel": "hash-partition", "tuples": stage_times.TUPLES, "partitions": 100},
    tuples="workload.tuples",
    by_group=("partition", "group"),
    by_distance=("partition", "pipelined"),
    overrides=("workload.tuples=120000",),
)


_UNIT = "cycles a tuple"


@dataclass(frozen=True)
class Tuning:
    """A phase on a machine, with a figure that tunes it."""

    figure: str
    phase: Phase
    machine: str
    latency: int | None = None
    """T1 in cycles, if it is another than the machine file's."""
    groups: tuple[int, ...] = (2, 4, 8, 17, 18, 25, 50)
    distances: tuple[int, ...] = (1, 2, 3, 4, 6, 32)
    """Those that are swept, from far too few to more than enough; a choice of the model that is not among them fails."""
    published_group: int | None = None
    published_distance: int | None = None
    """What the thesis finds best, where simulation does too."""

    def group_study(self) -> ModelStudy:
        """Sweep group sizes."""
        return self._study(self.phase.by_group, f"{GROUP_SIZE}={list(self.groups)}", self.group)

    def distance_study(self) -> ModelStudy:
        """Sweep prefetch distances."""
        return self._study(self.phase.by_distance, f"{DISTANCE}={list(self.distances)}", self.distance)

    def group(self, study: Study) -> Iterable[Check]:
        """Compare the time at the modelled group size, and at the published one, with the best."""
        modelled = hash_join.group_size(self.stages(), self.costs(study))
        yield from self._best("group size (4.1)", "G", self.cycles(study, self.phase.by_group, GROUP_SIZE), modelled, self.published_group)

    def distance(self, study: Study) -> Iterable[Check]:
        """Compare the time at the modelled prefetch distance, and at the published one, with the best."""
        modelled = hash_join.prefetch_distance(self.stages(), self.costs(study))
        cycles = self.cycles(study, self.phase.by_distance, DISTANCE)
        yield from self._best("prefetch distance (4.2)", "D", cycles, modelled, self.published_distance)

    def hidden(self, study: Study) -> Iterable[Check]:
        """Compare the time at the best group size with that of the stages: with all misses hidden, nothing else is left."""
        cycles = self.cycles(study, self.phase.by_group, GROUP_SIZE)
        yield Check("hidden misses (4.1)", f"{self}: C_0 + ... + C_k", sum(self.stages()), float(cycles.min()), MODEL_TOLERANCE, unit=_UNIT)

    def hidden_study(self) -> ModelStudy:
        """Sweep group sizes where the bus has no limit and page walks are free, of which the equations do not know."""
        ideal = ("machine.memory.interval_cycles=1cycles", "machine.dtlb.walk_latency_cycles=0cycles")
        return self._study(self.phase.by_group, f"{GROUP_SIZE}={list(self.groups)}", self.hidden, ideal)

    def costs(self, study: Study) -> MissCosts:
        """Return T1, T_next and T_tlb."""
        costs = study.costs(self.machine)
        return costs if self.latency is None else replace(costs, full=self.latency)

    def stages(self) -> tuple[float, ...]:
        """Return C_0 ... C_k, in cycles."""
        return _stages(self.phase, self.machine)

    def cycles(self, study: Study, by: tuple[str, str], axis: str) -> pd.Series[float]:
        """Return the cycles per tuple of the phase along an axis."""
        panel, variant = by
        points = rows(study[panel], variant).set_index(axis)
        slots: pd.Series[float] = points[f"slots_in_{self.phase.name}"]
        return in_cycles(study.machine(self.machine), slots) / points[self.phase.tuples]

    def _study(
        self, by: tuple[str, str], sweep: str, look: Callable[[Study], Iterable[Check]], settings: tuple[str, ...] = ()
    ) -> ModelStudy:
        panel, variant = by
        slower = () if self.latency is None else (f"machine.memory.latency_cycles={self.latency}cycles",)
        return ModelStudy(self.figure, (panel,), (*self.phase.overrides, *slower, *settings, sweep), look, (variant,))

    def _best(self, group: str, symbol: str, cycles: pd.Series[float], modelled: int, published: int | None) -> Iterable[Check]:
        yield is_best(group, f"{self}: {symbol}={modelled} is best", cycles, modelled, TOLERANCE, unit=_UNIT)
        if published is not None:
            yield is_best(
                group, f"{self}: the published {symbol}={published} is best", cycles, published, TOLERANCE, unit=_UNIT, by="the thesis"
            )

    def __str__(self) -> str:
        latency = "" if self.latency is None else f" with T1 = {self.latency}"
        return f"{self.phase.name} on {self.machine}{latency}"


@cache
def _stages(phase: Phase, machine: str) -> tuple[float, ...]:
    return tuple(stage_times.stage_cycles(load_machine(machine).native(), phase.workload, phase.name))


SIMULATOR, ITANIUM2 = "thesis-simulator", "itanium2-900"
# The published D of 1 on the simulator costs 35%: docs/fidelity.md#a-distance-of-one.
PROBE = Tuning("fig-4.13", PROBING, SIMULATOR, published_group=25)
BUILD = Tuning("fig-4.13", BUILDING, SIMULATOR, published_group=25)
SLOW_PROBE = Tuning("fig-4.13", PROBING, SIMULATOR, latency=1000, groups=(4, 8, 16, 32, 63), distances=(1, 3, 5, 6, 7, 12))
ITANIUM2_PROBE = Tuning(
    "fig-4.23", PROBING, ITANIUM2, groups=(2, 3, 6, 8, 14, 25), distances=(1, 2, 16, 64), published_group=14, published_distance=1
)
PARTITION = Tuning("fig-4.17", PARTITIONING, SIMULATOR, groups=(2, 4, 8, 16, 25), distances=(1, 2, 3, 4, 256))

STUDIES: tuple[ModelStudy, ...] = (
    *(study for tuning in (PROBE, SLOW_PROBE, ITANIUM2_PROBE, PARTITION) for study in (tuning.group_study(), tuning.distance_study())),
    BUILD.group_study(),  # D=3 costs 25%, as stages of different tuples overlap: docs/fidelity.md#a-distance-of-one
    *(replace(tuning, groups=(17, 25)).hidden_study() for tuning in (PROBE, PARTITION)),
)
