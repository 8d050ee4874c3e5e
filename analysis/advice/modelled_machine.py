"""The machine that advice is for, as equations see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memwalk.analysis.cost_models import MissCosts
from memwalk.analysis.cost_models.memory import miss_costs
from memwalk.simcore.errors import UserError
from memwalk.simcore.memories import only_memory


@dataclass(frozen=True)
class ModelledMachine:
    """A machine whose memory equations know, with what they ask of it."""

    machine: Mapping[str, Any] = field(repr=False)
    """As the simulator takes it."""

    def expect_one_latency(self, who: str) -> None:
        """Raise UserError for memory that equations do not cover: several, or simulated DRAM. ``who`` does not take them."""
        if only_memory(self.machine, who)["model"] != "fixed":
            name = self.machine["name"]
            raise UserError(f"--machine {name}: it simulates its DRAM, and the models need one memory latency; zen4-server has one")

    @property
    def costs(self) -> MissCosts:
        """T1, T_next and T_tlb of the machine."""
        return miss_costs(self.machine)

    @property
    def last_cache(self) -> Mapping[str, Any]:
        """The cache before the memory."""
        last: Mapping[str, Any] = self.machine["caches"][-1]
        return last

    def seconds(self, cycles: float) -> float:
        """Convert cycles of a core, or of several at the same time, to seconds."""
        return cycles / float(self.machine["clock_hz"])
