"""What the advice knows of popular keys, and what it does not, in plain sentences."""

from __future__ import annotations

from memwalk.analysis.advice.indexes.rank import IndexAdvice
from memwalk.analysis.advice.indexes.task import IndexTask
from memwalk.analysis.advice.indexes.warm_up import MOST_LEAVES


def popular_keys(ranked: list[IndexAdvice], task: IndexTask) -> list[str]:
    """Tell what is left out of popular keys, and whose page reads are not simulated; nothing if all keys are alike."""
    if not task.skew:
        return []
    said = [
        f"Popular keys (skew {task.skew:g}) lie anywhere among the others. The models know of them in the pool, as if it were LRU and not"
        " CLOCK, which misses more, and in the last cache; not in nearer caches and the TLB."
    ]
    if task.mix["scan"]:
        said.append("A scan's pages are wanted together, where the models have them one by one: long scans read more pages than predicted.")
    modelled = [f"{one.index} in pages of {one.page_bytes >> 10} KB" for one in ranked if one.reads_are_modelled]
    if modelled:
        which = "all of them" if len(modelled) == len(ranked) else ", ".join(modelled)
        said.append(
            f"Operations that visit {MOST_LEAVES:,} leaf pages would not warm the pool up, as most pages are hardly wanted:"
            f" page reads are what the models say, for {which}."
        )
    return said
