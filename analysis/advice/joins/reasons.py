"""Why one join algorithm is best, and by what the others lose, in plain sentences."""

from __future__ import annotations

from math import ceil

from memwalk.analysis.advice.explained import CLOSE, explains, three_digits
from memwalk.analysis.advice.joins.algorithms import Tuning
from memwalk.analysis.advice.joins.rank import JoinAdvice
from memwalk.analysis.advice.joins.task import LEAST_TUPLES, JoinTask
from memwalk.analysis.causes import describe


def reasons(ranked: list[JoinAdvice], tuning: Tuning) -> list[str]:
    """Say why the first algorithm is best, what each other loses by, which G and D to take, and what was simulated."""
    task, best = tuning.task, ranked[0]
    said = [*_too_small(task), f"{best.algorithm} is best: {best.does}, and {_limit(best, task)}."]
    said += [_against(other, best) for other in ranked[1:]]
    said += [_tuned(tuning), *_room_on_the_bus(best, task)]
    preferred = min(ranked, key=lambda one: one.predicted_cycles)
    ahead = best.predicted_cycles / preferred.predicted_cycles
    if ahead > CLOSE:
        models = f"they have {preferred.predicted_cycles:,.0f} cycles a tuple for it and {best.predicted_cycles:,.0f} for {best.algorithm}"
        simulation = f"where simulation has {preferred.simulated_cycles:,.0f} and {best.simulated_cycles:,.0f}"
        said.append(f"The models prefer {preferred.algorithm}, by a factor of {ahead:.2f}: {models}, {simulation}.")
    return [*said, *_simulated(task)]


def _limit(one: JoinAdvice, task: JoinTask) -> str:
    if one.is_limited_by_bus:
        who = f"{task.cores} cores" if task.cores > 1 else "one core"
        bounds = "it waits for" if one.fills_bus else "bounds it by the models"
        return f"the bus is what {bounds}: {one.lines:,.1f} lines a tuple of {who} take {_part(one.bus_cycles, one)}"
    if one.waiting_cycles > one.instruction_cycles:
        return f"waiting takes {one.waiting_cycles:,.0f} of its {one.predicted_cycles:,.0f} predicted cycles a tuple"
    cause = max(one.by_cause, key=lambda name: one.by_cause[name], default="")
    if one.by_cause and one.by_cause[cause] > one.instruction_cycles:
        much = "mostly" if explains(one.by_cause[cause], one.simulated_cycles) else "most of all"
        return f"what takes its time is {much} {describe(cause)}, {_part(one.by_cause[cause], one)} a tuple"
    return f"its instructions take {_part(one.instruction_cycles, one)} a tuple"


def _part(cycles: float, one: JoinAdvice) -> str:
    """Tell of a part that was not simulated with the whole, or as a mean of cores, how much of the simulated cycles it is."""
    part = f"{cycles:,.0f}" if cycles < one.simulated_cycles else "all"
    return f"{part} of its {one.simulated_cycles:,.0f} cycles"


def _against(other: JoinAdvice, best: JoinAdvice) -> str:
    times = other.simulated_cycles / best.simulated_cycles
    head = f"{other.algorithm} takes {times:.2f} times as long"
    if times <= CLOSE:
        return f"{head}, hardly a difference: {other.does}."
    longer = other.simulated_cycles - best.simulated_cycles
    moves = f"the bus moves {other.lines:,.1f} lines for a tuple instead of {best.lines:,.1f}"
    if other.is_limited_by_bus and best.is_limited_by_bus:
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
    if explains(lost[reason], longer):
        return f"{head}: {reason}."
    cause = _cause(other, best)
    return f"{head}: {cause}." if lost[reason] <= (CLOSE - 1) * longer else f"{head}: {cause}; {reason}."


def _cause(other: JoinAdvice, best: JoinAdvice) -> str:
    """Tell what an algorithm spends more time on in simulation, of all causes the one with the most."""
    more = {cause: cycles - best.by_cause[cause] for cause, cycles in other.by_cause.items()}
    cause = max(more, key=lambda name: more[name])
    much = "mostly" if explains(more[cause], other.simulated_cycles - best.simulated_cycles) else "most of all"
    return f"{much} {describe(cause)}, {other.by_cause[cause]:,.0f} cycles a tuple instead of {best.by_cause[cause]:,.0f}"


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
    size = _asked("G", tuning.group_size, tuning.asked_group_size, "for group prefetching", "equation 4.1")
    distance = _asked("D", tuning.prefetch_distance, tuning.asked_prefetch_distance, "for software-pipelined prefetching", "equation 4.2")
    return (
        f"Take {size} and {distance}: a probe tuple's stages{of} take {cycles[0]} cycles, a build tuple's {cycles[1]},"
        f" and a miss {tuning.task.costs.full}."
    )


def _asked(name: str, taken: int, asked: int, what: str, equation: str) -> str:
    """Tell a number that an equation asks for, or the most that the kernel takes if it asks for more."""
    if taken == asked:
        return f"{name} = {taken} {what} ({equation})"
    return f"{name} = {taken} {what}, the most that is simulated ({equation} asks for {asked:,})"


def _room_on_the_bus(best: JoinAdvice, task: JoinTask) -> list[str]:
    """Tell on how many cores the bus is full, or what is left of it."""
    alone, line = best.instruction_cycles + best.waiting_cycles, best.lines * task.costs.next
    if line <= 0:
        return []
    full = max(1, ceil(alone / line))
    if best.is_limited_by_bus:
        lines = "while it moves as many lines a tuple"
        if not best.fills_bus:
            gain = best.simulated_cycles / best.bus_cycles
            return [f"On more cores, {best.algorithm} gains a factor of {gain:.2f} at most {lines}."]
        return [f"The bus is full from {full} core{'s' * (full > 1)} on: with more, {best.algorithm} gains nothing {lines}."]
    return [f"By the models, with {best.algorithm} the bus is full from {full} cores on."] if full > task.cores else []


def _simulated(task: JoinTask) -> list[str]:
    build, probe = task.simulated_build, task.simulated_probe
    if (build, probe) == (task.build, task.probe):
        return ["Both relations were simulated whole."]
    said = [f"Simulated were {build:,} build and {probe:,} probe tuples, and scaled up to {task.build:,} and {task.probe:,}."]
    if task.leaves_cache and task.is_cut_by_sample and not task.is_small:
        times = f"{three_digits(task.caches(build))} times what a core has of {task.last_cache['name']}"
        said.append(f"These partitions are {times}, of which much lies there: with a larger --sample, times are longer.")
    if task.exceeds_sample:
        each = f"{task.least_build:,} build and {LEAST_TUPLES} probe tuples"
        said.append(f"That is more than the {task.sample:,} of --sample: a core has all build tuples of a key, and no fewer than {each}.")
    return said


def _too_small(task: JoinTask) -> list[str]:
    if not task.is_small:
        return []
    simulated, real = (three_digits(task.caches(build)) for build in (task.simulated_build, task.build))
    sizes = (
        f"What was simulated is {simulated} times what a core has of {task.last_cache['name']}, and the real partitions are {real} times"
    )
    return [f"{sizes}: too much of it lies there, and times are too low; simulate more with --sample."]
