"""The processor's time in a program on storage: a sample of its work is simulated, and scaled up."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from memwalk.simcore.engines import native
from memwalk.simcore.units import PS_PER_SECOND


@dataclass(frozen=True)
class Sampled:
    """What was simulated, and what it stands for."""

    statistics: Mapping[str, Any]
    slot_seconds: float
    """Time of the whole that a graduation slot of the sample stands for."""

    @property
    def seconds(self) -> float:
        """Time of all the work."""
        return float(self.statistics["slots"]["total"] * self.slot_seconds)

    @property
    def ps(self) -> int:
        """The same in picoseconds."""
        return round(self.seconds * PS_PER_SECOND)

    def phases_ps(self, phases: Collection[str]) -> int:
        """Return the part of `ps` that phases of the kernel take."""
        in_phases = sum(row["slots"]["total"] for row in self.statistics["breakdown"] if row["phase"] in phases)
        return int(self.ps * in_phases // self.statistics["slots"]["total"])


def scaled_up(statistics: Mapping[str, Any], machine: Mapping[str, Any], times: float) -> Sampled:
    """Take statistics of a sample that ran on ``machine``; the whole is ``times`` as much."""
    return Sampled(statistics, times * statistics["cycles"] / machine["clock_hz"] / statistics["slots"]["total"])


def simulate_sample(machine: Mapping[str, Any], workload: Mapping[str, Any], times: float) -> Sampled:
    """Simulate a kernel's workload of which the whole is ``times`` as much."""
    return scaled_up(native.simulate(dict(machine), dict(workload)), machine, times)
