"""What a memory system offers, in the thesis's three numbers (section 2.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memwalk.simcore.errors import UserError
from memwalk.simcore.memories import only_memory

MIB = 1 << 20


@dataclass(frozen=True)
class MissCosts:
    """Costs of misses, in cycles."""

    full: int
    """T1: a miss to memory."""
    next: float
    """T_next: one more miss pipelined behind it. A bus with a clock of its own has fractions of the processor's cycles."""
    tlb: int
    """T_tlb: a data TLB miss."""

    def __post_init__(self) -> None:
        if self.full < 1 or self.next <= 0 or self.tlb < 0:
            raise ValueError(f"{self}: latencies are positive numbers of cycles")


def miss_costs(machine: Mapping[str, Any]) -> MissCosts:
    """Take T1, T_next and T_tlb from a machine, in cycles. Raises UserError for several memories, or one without one latency.

    Of a machine with a ``page_table``, T_tlb is the constant part of a walk only: what its reads of the table take depends on the caches,
    and may be most of a miss. On ``zen4-server`` T_tlb is 8 cycles, and a chase of pointers with cold translations takes 703 cycles a line
    where T1 is 437.
    """
    memory, walk = only_memory(machine, "a cost model"), machine["dtlb"]["walk_latency_cycles"]
    if memory["model"] != "fixed":
        raise UserError(f"cost models need one memory latency, but {machine['name']} simulates its DRAM")
    return MissCosts(memory["latency_cycles"], memory["interval_cycles"], walk)


def normalized_bandwidth(costs: MissCosts) -> float:
    """B = T1 / T_next, misses served at once (section 2.2.2, equations 2.10 and 2.11)."""
    return costs.full / costs.next


def tlb_reach_mib(entries: int, page_bytes: int) -> float:
    """Memory covered by a data TLB, in MiB (section 2.2.2)."""
    return entries * page_bytes / MIB
