"""What the advice leaves out where pages are changed, in plain sentences."""

from __future__ import annotations

from memwalk.analysis.advice.explained import three_digits
from memwalk.analysis.advice.indexes.candidates import left_out
from memwalk.analysis.advice.indexes.rank import IndexAdvice
from memwalk.analysis.advice.indexes.task import IndexTask

MOST_WRITTEN = 0.5
"""A simulated pool that writes less than this share of the pages that it writes in the long run has not gone around."""


def changes(best: IndexAdvice, task: IndexTask) -> list[str]:
    """Tell which indexes are left out for want of latches, and whether too few changed pages are written; nothing without insertions."""
    if not task.mix["insert"]:
        return []
    said = []
    for name in sorted(left_out(task)):
        how = "by several cores" if task.cores > 1 else "where pages are read optimistically"
        said.append(f"{name} is left out: its nodes have parents in other pages, and insertions {how} have no latches for these.")
    written, later = best.simulated_page_writes, best.predicted_page_writes
    if written < MOST_WRITTEN * later:
        said.append(
            f"The simulated pool has no changed pages in the beginning, and writes {three_digits(written)} for each operation with"
            f" {best.index}; in the long run it would be some {three_digits(later)}, for which page reads may wait longer."
        )
    return said
