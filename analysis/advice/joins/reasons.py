"""Why one join algorithm is best, and by what the others lose, in plain sentences."""

from __future__ import annotations

from math import ceil

from memwalk.analysis.advice.explained import CLOSE, explains
from memwalk.analysis.advice.joins.algorithms import Tuning
from memwalk.analysis.advice.joins.rank import JoinAdvice
from memwalk.analysis.advice.joins.task import LEAST_TUPLES, JoinTask


def reasons(ranked: list[JoinAdvice], tuning: Tuning) -> list[str]:
    """Say why the first algorithm is best, what each other loses by, which G and D to take, and what was simulated."""
    task, best = tuning.task, ranked[0]
    said = [*_too_small(task), f"{best.algorithm} is best: {best.does}, and {_limit(best, task)}."]
    said += [_against(other, best) for other in ranked[1:]]
    said += [_tuned(tuning), *_room_on_the_bus(best, task)]
    preferred = min(ranked, key=lambda one: one.predicted_cycles)
    ahead = best.predicted_cycles / preferred.predicted_cycles
    if ahead > CLOSE:
        left_out = "they leave out page walks and misses of the nearer caches"
        said.append(f"The models prefer {preferred.algorithm}, by a factor of {ahead:.2f}: {left_out}.")
    return [*said, *_simulated(task)]


def _limit(one: JoinAdvice, task: JoinTask) -> str:
    if one.is_bound_by_bus:
        who = f"{task.cores} cores" if task.cores > 1 else "one core"
        takes = f"{one.lines:,.1f} lines a tuple of {who} take {one.bus_cycles:,.0f} of its {one.simulated_cycles:,.0f} cycles"
        return f"the bus is what it waits for: {takes}"
    if one.waiting_cycles > one.instruction_cycles:
        return f"waiting takes {one.waiting_cycles:,.0f} of its {one.predicted_cycles:,.0f} predicted cycles a tuple"
    return f"its instructions take {one.instruction_cycles:,.0f} of its {one.simulated_cycles:,.0f} cycles a tuple"


def _against(other: JoinAdvice, best: JoinAdvice) -> str:
    times = other.simulated_cycles / best.simulated_cycles
    head = f"{other.algorithm} takes {times:.2f} times as long"
    if times <= CLOSE:
        return f"{head}, hardly a difference: {other.does}."
    longer = other.simulated_cycles - best.simulated_cycles
    moves = f"the bus moves {other.lines:,.1f} lines for a tuple instead of {best.lines:,.1f}"
    if other.is_bound_by_bus and best.is_bound_by_bus:
        # Instructions and waits lie beneath what the bus takes; what is longer and not the bus's, it is idle in.
        if explains(other.bus_cycles - best.bus_cycles, longer):
            return f"{head}: {moves}."
        idle = [max(one.simulated_cycles - one.bus_cycles, 0) for one in (other, best)]
        return f"{head}: the bus is idle for {idle[0]:,.0f} of its {other.simulated_cycles:,.0f} cycles a tuple instead of {idle[1]:,.0f}."
    waits, works = other.waiting_cycles - best.waiting_cycles, other.instruction_cycles - best.instruction_cycles
    lost = {
        # More than there is cannot be all true, and gives way to what was measured.
        f"{other.does}, {_waiting(other, best)}": 0.0 if waits > longer and explains(works, longer) else waits,
        f"its instructions take {other.instruction_cycles:,.0f} cycles a tuple instead of {best.instruction_cycles:,.0f}": works,
        moves: other.bus_cycles - best.bus_cycles,
    }
    reason = max(lost, key=lambda name: lost[name])
    left_out = "misses of the nearer caches and page walks, which the models leave out"
    if lost[reason] <= (CLOSE - 1) * longer:
        return f"{head}: {left_out}."
    if explains(lost[reason], longer):
        return f"{head}: {reason}."
    return f"{head}: mostly {left_out}; {reason}."


def _waiting(other: JoinAdvice, best: JoinAdvice) -> str:
    """Tell how long an algorithm waits, and that it is the models' wait if it is longer than what there is: a processor overlaps waits."""
    cycles, longer = f"{other.waiting_cycles:,.0f} cycles of waiting a tuple", other.simulated_cycles - best.simulated_cycles
    if other.waiting_cycles - best.waiting_cycles <= longer:
        return f"which is {cycles}"
    return f"for which the models, which let no waits overlap, have {cycles}, more than the {longer:,.0f} that it takes longer"


def _tuned(tuning: Tuning) -> str:
    cycles = [f"{sum(stages):,.0f}" for stages in (tuning.probe_stages, tuning.build_stages)]
    measured, matches = tuning.measured_duplicates, tuning.task.duplicates
    of = f" with {measured} of its {matches:,} matches" if measured < matches else ""
    return (
        f"Take G = {tuning.group_size} for group prefetching (equation 4.1) and D = {tuning.prefetch_distance} for software-pipelined"
        f" prefetching (equation 4.2): a probe tuple's stages{of} take {cycles[0]} cycles, a build tuple's {cycles[1]},"
        f" and a miss {tuning.task.costs.full}."
    )


def _room_on_the_bus(best: JoinAdvice, task: JoinTask) -> list[str]:
    """Tell on how many cores the bus is full."""
    alone, line = best.instruction_cycles + best.waiting_cycles, best.lines * task.costs.next
    if line <= 0:
        return []
    full = max(1, ceil(alone / line))
    if best.is_bound_by_bus:
        return [f"The bus is full from {full} core{'s' * (full > 1)} on: with more, {best.algorithm} gains nothing."]
    return [f"With {best.algorithm} the bus is full from {full} cores on."] if full > task.cores else []


def _simulated(task: JoinTask) -> list[str]:
    build, probe = task.simulated_build, task.simulated_probe
    if (build, probe) == (task.build, task.probe):
        return ["Both relations were simulated whole."]
    said = [f"Simulated were {build:,} build and {probe:,} probe tuples, and scaled up to {task.build:,} and {task.probe:,}."]
    if task.exceeds_sample:
        each = f"{task.least_build:,} build and {LEAST_TUPLES} probe tuples"
        said.append(f"That is more than the {task.sample:,} of --sample: a core has all build tuples of a key, and no fewer than {each}.")
    return said


def _too_small(task: JoinTask) -> list[str]:
    if not task.is_small:
        return []
    size = f"{task.partition_bytes(task.build) >> 10:,} KiB"
    lies = f"What was simulated lies in {task.last_cache['name']}, and the real partitions of {size} do not"
    return [f"{lies}: misses are too few; simulate more with --sample."]
