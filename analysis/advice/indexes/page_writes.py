"""Changed pages that leave the pool, and are written, in the long run: once it has all that the operations of a mix change."""

from __future__ import annotations

import numpy as np

from memwalk.analysis.advice.indexes.candidates import Candidate
from memwalk.analysis.advice.indexes.page_reads import leaves_visited
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cost_models.page_accesses import changed_share, characteristic_time


def page_writes(candidate: Candidate, operation: Operation, task: IndexTask, keys: int, frames: int) -> float:
    """Return the changed pages that an operation of the mix pushes out of a pool of so many frames, on average.

    A leaf page that it reads takes the place of another, which an insertion may have changed, whatever operation has wanted it last.
    Pages above leaves are hardly ever changed. Keys are all alike, as no popular ones are inserted.
    """
    insertions = task.share("insert")
    if not insertions:
        return 0.0
    leaves = sum(task.share(one) * leaves_visited(candidate, one, task, keys) for one in task.mix)
    pages, visited = np.array(candidate.wanted(keys)).T
    visited[0] = leaves
    time = characteristic_time(visited / pages, frames, pages)
    missed = float(np.exp(-leaves / pages[0] * time))
    return leaves_visited(candidate, operation, task, keys) * missed * changed_share(1 - missed, insertions / leaves)
