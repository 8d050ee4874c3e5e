"""Why one index and page size are best, and by what the others lose, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable

from memwalk.analysis.advice.explained import CLOSE, microseconds, three_digits
from memwalk.analysis.advice.indexes.changes import changes
from memwalk.analysis.advice.indexes.popular_keys import popular_keys
from memwalk.analysis.advice.indexes.rank import IndexAdvice
from memwalk.analysis.advice.indexes.task import IndexTask
from memwalk.analysis.advice.indexes.together import and_written, together


def reasons(ranked: list[IndexAdvice], task: IndexTask) -> list[str]:
    """Say why the first is best, what the other indexes and page sizes lose by, and what was simulated."""
    best = ranked[0]
    said = [*_too_small(ranked, task), f"{_named(best)} is best: {_does(best)}, and {_limit(best, task)}.", *together(best, task)]
    said += [_against(other, best) for other in _first_of_each(ranked, lambda one: one.index) if other.index != best.index]
    said += [_other_size(other, best) for other in ranked if other.index == best.index and other.page_bytes != best.page_bytes]
    said += _conscious(ranked)
    preferred = min(ranked, key=lambda one: one.predicted_seconds)
    ahead = best.predicted_seconds / preferred.predicted_seconds
    if ahead > CLOSE:
        left_out = "they leave out instructions, hardware prefetchers and nearer caches than the last"
        if task.cores > 1:
            left_out = "they leave out instructions, hardware prefetchers, and what cores take from each other: latches, lines and the bus"
        said.append(f"The models prefer {_named(preferred)}, by a factor of {ahead:.2f}: {left_out}.")
    return [*said, *_leaves_in_a_row(best, task), *popular_keys(ranked, task), *changes(best, task), _simulated(ranked, task)]


def _named(one: IndexAdvice) -> str:
    return f"{one.index} in pages of {_kb(one)}"


def _kb(one: IndexAdvice) -> str:
    return f"{one.page_bytes >> 10} KB"


def _limit(one: IndexAdvice, task: IndexTask) -> str:
    if one.held >= 1:
        pages = "its only page" if one.pages == 1 else f"all of its {one.pages:,} pages"
        return f"the memory holds {pages}, so that its {microseconds(one.simulated_seconds)} are the processor's"
    reads = _reads(one)
    others = "pages that are written" if task.cores == 1 else f"those of other cores{and_written(task)}"
    behind = f", behind {others}," if one.queued * one.page_seconds > (CLOSE - 1) * one.simulated_seconds else ""
    return f"{reads}{behind} take {microseconds(one.io_seconds)} of its {microseconds(one.simulated_seconds)}"


def _reads(one: IndexAdvice) -> str:
    number = one.simulated_page_reads
    return f"{f'{number:.2f}' if number >= 0.01 else f'{number:.2g}'} page reads of {microseconds(one.page_seconds)}"


def _first_of_each(ranked: list[IndexAdvice], of: Callable[[IndexAdvice], str]) -> list[IndexAdvice]:
    found: dict[str, IndexAdvice] = {}
    for one in ranked:
        found.setdefault(of(one), one)
    return list(found.values())


def _against(other: IndexAdvice, best: IndexAdvice) -> str:
    times = other.simulated_seconds / best.simulated_seconds
    head = f"{_named(other)} takes {times:.2f} times as long"
    if times <= CLOSE:
        return f"{head}, hardly a difference: {_does(other)}."
    return f"{head}: {_lost(other, best)}."


def _does(one: IndexAdvice) -> str:
    """Tell what an index does in its pages: when something is inserted, if the processor mostly does that."""
    return one.moves if 2 * one.inserting_seconds > one.processor_seconds else one.does


def _lost(other: IndexAdvice, best: IndexAdvice) -> str:
    """Tell where the most of the difference comes from."""
    if other.io_seconds - best.io_seconds > other.processor_seconds - best.processor_seconds:
        return f"it waits {microseconds(other.io_seconds)} for page reads instead of {microseconds(best.io_seconds)}"
    return (
        f"{_does(other)}, and the processor takes {microseconds(other.processor_seconds)} instead of {microseconds(best.processor_seconds)}"
    )


def _other_size(other: IndexAdvice, best: IndexAdvice) -> str:
    times = other.simulated_seconds / best.simulated_seconds
    head = f"Pages of {_kb(other)} take {times:.2f} times as long"
    if times <= CLOSE:
        return f"{head}, hardly a difference."
    if other.io_seconds - best.io_seconds > other.processor_seconds - best.processor_seconds:
        waits = [microseconds(one.io_seconds) for one in (other, best)]
        reads = [_reads(one) for one in (other, best)]
        return f"{head}: {reads[0]} instead of {reads[1]}, which is a wait of {waits[0]} instead of {waits[1]}."
    return f"{head}: the processor takes {microseconds(other.processor_seconds)} instead of {microseconds(best.processor_seconds)}."


def _conscious(ranked: list[IndexAdvice]) -> list[str]:
    """Tell whether pages made for the caches pay: the best of them against the best of the others."""
    made = next((one for one in ranked if one.is_conscious), None)
    plain = next((one for one in ranked if not one.is_conscious), None)
    if made is None or plain is None:
        return []
    saved = plain.simulated_seconds - made.simulated_seconds
    of = f"of the {microseconds(plain.simulated_seconds)} of {_named(plain)}"
    head = "Pages made for the caches"
    if max(plain.simulated_seconds / made.simulated_seconds, made.simulated_seconds / plain.simulated_seconds) <= CLOSE:
        return [f"{head} make hardly a difference here: what they change is less than {100 * (CLOSE - 1):.0f}% {of}."]
    if saved < 0:
        return [f"{head} do not pay here: {_named(made)}, the best of them, takes {microseconds(-saved)} more than {_named(plain)}."]
    return [f"{head} pay here: {_named(made)} saves {microseconds(saved)} {of}."]


def _leaves_in_a_row(best: IndexAdvice, task: IndexTask) -> list[str]:
    """Tell that each page counts as one anywhere, if scans of several leaf pages would have most of them one after another."""
    next_page = task.next_page_seconds(best.page_bytes)
    reads_several = best.simulated_page_reads > 0 and task.scan_range * best.pages > task.keys
    if not (task.mix["scan"] and reads_several and best.page_seconds > CLOSE * next_page):
        return []
    row = f"the device brings the next one in {microseconds(next_page)}, and scans take less than this"
    return [
        f"Leaf pages of a scan count as pages anywhere, {microseconds(best.page_seconds)} each. In an index that was built at once"
        f" they lie in a row: {row}."
    ]


def _simulated(ranked: list[IndexAdvice], task: IndexTask) -> str:
    if task.simulated_keys == task.keys:
        return f"The index was simulated with all of its {task.keys:,} keys."
    most = max(ranked, key=lambda one: one.simulated_held / one.held)
    share = "the same share of the pages in memory"
    if most.simulated_held > CLOSE * most.held:
        simulated, real = (three_digits(100 * held) for held in (most.simulated_held, most.held))
        share = f"{simulated}% of the pages of {_named(most)} in memory, where the real index has {real}%"
    return f"Simulated were {task.simulated_keys:,} keys of {task.keys:,}, with {share}; what more keys cost is what the models say."


def _too_small(ranked: list[IndexAdvice], task: IndexTask) -> list[str]:
    small = [one for one in ranked if task.is_small(one.simulated_pages * one.page_bytes, one.pages * one.page_bytes)]
    if not small:
        return []
    least = min(small, key=lambda one: one.simulated_pages * one.page_bytes)
    which = "What was simulated" if len(small) == len(ranked) else f"What was simulated of {_named(least)}"
    size = f"{three_digits(least.simulated_pages * least.page_bytes / task.cache_bytes)} times the last cache"
    return [f"{which} is {size}, and the real index is larger: misses are too few; simulate more with --sample."]
