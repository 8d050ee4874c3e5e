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
    full = _full(best)
    queued = best.queued * best.page_seconds / best.simulated_seconds
    if queued >= NOTICEABLE:
        said.append(f"For {100 * queued:.0f}% of the time a core waits for page reads of other cores{and_written(task)}.")
    if full:
        interval = microseconds(best.device_seconds / (task.cores * best.simulated_page_reads))
        meanwhile = ", and writes those that insertions change" if best.predicted_page_writes else ""
        said.append(f"The device bounds them: it brings a page every {interval}{meanwhile}, however many cores ask.")
    shares = 0.0
    for seconds, what in ((best.latch_seconds, "latches that others hold"), (best.transfer_seconds, "lines in caches of other cores")):
        share = seconds / best.simulated_seconds
        if share >= NOTICEABLE:
            shares += share
            said.append(f"For {100 * share:.0f}% of the time a core waits for {what}.")
    if shares >= MUCH and not task.optimistic:
        less = "hardly wait for either" if not task.mix["insert"] else "wait only for what insertions change"
        said.append(f"A buffer manager whose readers change nothing would {less}: ask with --optimistic.")
    return said


def and_written(task: IndexTask) -> str:
    """Tell what page reads wait for besides those of other cores."""
    return " and pages that are written" if task.mix["insert"] else ""


def _full(best: IndexAdvice) -> bool:
    """Tell whether the device has no time left."""
    alone = best.simulated_page_reads * best.page_seconds
    return best.device_seconds >= max(FULL * alone, (1 - NOTICEABLE) * best.simulated_seconds)
