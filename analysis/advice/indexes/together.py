"""What several cores do together with an index, and what they wait for each other for, in plain sentences."""

from __future__ import annotations

from memwalk.analysis.advice.explained import microseconds, three_digits
from memwalk.analysis.advice.indexes.rank import IndexAdvice
from memwalk.analysis.advice.indexes.task import IndexTask

NOTICEABLE = 0.03
"""Waiting for less of the time is not told."""
MUCH = 0.1
"""Waiting for more of the time than this for what readers change is a reason to change nothing."""
FULL = 1.5
"""The device is what bounds cores if reads take so many times as long while all of them wait for one as alone, and take all of the time."""


def together(best: IndexAdvice, task: IndexTask) -> list[str]:
    """Tell the throughput of several cores with the best index, and what bounds it; of one core there is nothing to tell."""
    if task.cores == 1:
        return []
    rate = best.operations_per_second
    said = [
        f"{task.cores} cores do {three_digits(rate)} operations per second together with {best.index}, one every {microseconds(1 / rate)}."
    ]
    full = _full(best, task)
    queued = best.queued * best.page_seconds / best.simulated_seconds
    if queued >= NOTICEABLE:
        said.append(f"For {100 * queued:.0f}% of the time a core waits for page reads of other cores.")
    if full:
        said.append(f"The device bounds them: it brings a page every {microseconds(best.page_interval_seconds)}, however many cores ask.")
    shares = 0.0
    for seconds, what in ((best.latch_seconds, "latches that others hold"), (best.transfer_seconds, "lines in caches of other cores")):
        share = seconds / best.simulated_seconds
        if share >= NOTICEABLE:
            shares += share
            said.append(f"For {100 * share:.0f}% of the time a core waits for {what}.")
    if shares >= MUCH and not task.optimistic:
        said.append("A buffer manager whose readers change nothing would hardly wait for either: ask with --optimistic.")
    return said


def _full(best: IndexAdvice, task: IndexTask) -> bool:
    """Tell whether the device has no time left."""
    least = task.cores * best.simulated_page_reads * best.page_interval_seconds
    waits = task.cores * best.page_interval_seconds / best.page_seconds
    return waits >= FULL and least >= (1 - NOTICEABLE) * best.simulated_seconds
