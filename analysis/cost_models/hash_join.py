"""How many tuples a prefetching hash join has under way: equations 4.1 and 4.2; sizes of its cache-sized parts: equation 5.1.

A tuple takes ``k + 1`` pieces of code, of which all but the first wait for a memory reference; ``stage_cycles`` are their times
C_0 ... C_k in cycles. Every reference misses, and the bus and the caches have nobody else's lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from memwalk.analysis.cost_models.memory import MissCosts


def group_size(stage_cycles: Sequence[float], costs: MissCosts) -> int:
    """Return the smallest G of group prefetching that hides all misses (equation 4.1), in tuples.

    The other tuples of the group take the time of a miss in every stage. Raises ValueError if there is no such group: the first
    stage takes no time, and the misses behind it cannot be hidden.
    """
    first, *others = _stages(stage_cycles)
    if first == 0:
        raise ValueError("stage_cycles: the first stage takes no time, so no group hides the misses behind it")
    shortest = min([first, *(max(stage, costs.next) for stage in others)])
    return 1 + math.ceil(costs.full / shortest)


def prefetch_distance(stage_cycles: Sequence[float], costs: MissCosts) -> int:
    """Return the smallest D of software-pipelined prefetching that hides all misses in the steady state (equation 4.2), in iterations."""
    first, *between, last = _stages(stage_cycles)
    iteration = max(first + last, costs.next) + sum(max(stage, costs.next) for stage in between)
    return math.ceil(costs.full / iteration)


def sub_partition_pages(page_bytes: int, page_tuples: int, table_bytes: float, cache_bytes: int) -> int:
    """Return the most build pages K whose tuples and hash table, of ``table_bytes`` a key, fit in a cache (equation 5.1).

    ``cache_bytes`` is what a join may have of the cache, such as half of it.
    """
    given = {"page_bytes": page_bytes, "page_tuples": page_tuples, "table_bytes": table_bytes, "cache_bytes": cache_bytes}
    for name, value in given.items():
        if value <= 0:
            raise ValueError(f"{name} is {value}; it is a positive number")
    return int(cache_bytes / (page_bytes + page_tuples * table_bytes))


def _stages(stage_cycles: Sequence[float]) -> list[float]:
    stages = list(stage_cycles)
    if len(stages) < 2:
        raise ValueError(f"stage_cycles has {len(stages)} stages; a tuple that waits for memory has two or more")
    if min(stages) < 0:
        raise ValueError(f"stage_cycles has {min(stages)}; a stage takes no negative time")
    return stages
