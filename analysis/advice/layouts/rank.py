"""Layouts in the order of what they cost, and what that cost is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field

from memwalk.analysis.advice.explained import CLOSE, explains, three_digits
from memwalk.analysis.advice.layouts import super_blocks
from memwalk.analysis.advice.layouts.files import Task
from memwalk.analysis.advice.layouts.predict import Layout, Prediction, predict
from memwalk.analysis.advice.layouts.scans import PAGE_HEADER_BYTES
from memwalk.analysis.advice.layouts.simulate import Platform, Simulated, check, simulate
from memwalk.analysis.advice.layouts.unit_costs import measured_costs
from memwalk.analysis.causes import describe

_FAR = 2.0
"""Pages, or a processor, that take so many times what is predicted, or are so many times faster, are told of."""
_UNEVEN = 1.1
"""Records of a sample that take more times as long as those of its second half are told of."""


@dataclass(frozen=True)
class Advice:
    """What a layout costs for the whole mix of queries, weights applied: seconds, and what they go to."""

    layout: Layout
    simulated_seconds: float
    """The sum of the next two."""
    io_seconds: float
    processor_seconds: float
    predicted_seconds: float
    """The sum of the next four."""
    predicted_io_seconds: float
    iteration_seconds: float
    reconstruction_seconds: float
    predicted_waiting_seconds: float
    """For lines."""
    megabytes_read: float
    """Predicted; millions of bytes, from storage: none if pages are in memory."""
    lines_per_record: float
    """Lines fetched from memory per record and query, simulated."""
    waiting_seconds: float = 0.0
    """The part of the processor's time in which it waits for lines and translations, simulated."""
    seconds_by_cause: dict[str, float] = field(default_factory=dict)
    """The processor's time by cause (`memwalk.analysis.causes`), simulated."""
    unevenness: float = 1.0
    """How many times as long records of the whole sample take as those of its second half: of the query of which that is most."""

    @property
    def predicted_processor_seconds(self) -> float:
        """The processor's part of the prediction."""
        return self.iteration_seconds + self.reconstruction_seconds + self.predicted_waiting_seconds


def advise(task: Task, platform: Platform, sample: int, progress: Callable[[str], None]) -> list[Advice]:
    """Rank the layouts by simulated cost, the cheapest first. ``progress`` hears what is being simulated.

    Raises UserError, with the place of each mistake, for a table that cannot be simulated or is larger than the device.
    """
    check(task, platform, sample)
    progress("the cost of an iteration, a field and a line")
    costs = measured_costs(task, platform, sample)
    ranked = []
    for layout in platform.layouts():
        progress(layout)
        laid = super_blocks.lay_out(task, platform.disk, PAGE_HEADER_BYTES) if layout == "mbsm" and platform.disk is not None else None
        simulated = [simulate(layout, query, task, platform, sample, laid=laid) for query in task.workload.queries]
        predicted = [predict(layout, query, task, costs, laid) for query in task.workload.queries]
        ranked.append(_weighed(layout, task, predicted, simulated, stored=platform.device is not None))
    return sorted(ranked, key=lambda advice: advice.simulated_seconds)


def _weighed(layout: Layout, task: Task, predicted: list[Prediction], simulated: list[Simulated], *, stored: bool) -> Advice:
    queries = task.workload.queries
    runs = sum(query.weight for query in queries)

    def total(values: list[float]) -> float:
        return sum(query.weight * value for query, value in zip(queries, values, strict=True))

    return Advice(
        layout=layout,
        simulated_seconds=total([one.seconds for one in simulated]),
        io_seconds=total([one.io_seconds for one in simulated]),
        processor_seconds=total([one.cpu_seconds for one in simulated]),
        predicted_seconds=total([one.seconds for one in predicted]),
        predicted_io_seconds=total([one.cost.io for one in predicted]),
        iteration_seconds=total([one.cost.iteration for one in predicted]),
        reconstruction_seconds=total([one.cost.reconstruction for one in predicted]),
        predicted_waiting_seconds=total([one.waiting for one in predicted]),
        megabytes_read=total([one.bytes_read for one in predicted]) / 1e6 if stored else 0.0,
        lines_per_record=total([one.lines_per_record for one in simulated]) / runs,
        waiting_seconds=total([one.processing.waiting_seconds for one in simulated]),
        seconds_by_cause={
            cause: total([one.processing.by_cause[cause] for one in simulated]) for cause in simulated[0].processing.by_cause
        },
        unevenness=max(one.processing.unevenness for one in simulated),
    )


def reasons(ranked: list[Advice]) -> list[str]:
    """Say why the first layout comes first, and whether the prediction agrees."""
    best = ranked[0]
    processing = "iterating over its records" if best.iteration_seconds > best.reconstruction_seconds else "reconstructing tuples"
    parts = {
        processing: best.processor_seconds - best.waiting_seconds,
        "reading its pages": best.io_seconds,
        "waiting for lines and translations": best.waiting_seconds,
    }
    dearest = max(parts, key=lambda part: parts[part])
    most = "most" if explains(parts[dearest], best.simulated_seconds) else "the largest part"
    said = [f"{best.layout} is best: {most} of its time goes to {dearest}."]
    for other in ranked[1:]:
        times = other.simulated_seconds / best.simulated_seconds
        why = ", hardly a difference" if times <= CLOSE else f": {_against(other, best)}"
        said.append(f"{other.layout} takes {times:.2f} times as long{why}.")
    preferred = min(ranked, key=lambda advice: advice.predicted_seconds)
    if preferred.layout != best.layout:
        said.append(f"The cost model prefers {preferred.layout}, which predicates and branches do not enter.")
    return [*_too_small(ranked), *said, *filter(None, map(_unlike_predicted, ranked)), *_processor_unlike_predicted(ranked)]


def _too_small(ranked: list[Advice]) -> list[str]:
    """Warn of a sample in which scans have hardly begun."""
    most = max(ranked, key=lambda one: one.unevenness)
    if most.unevenness <= _UNEVEN:
        return []
    times = three_digits(most.unevenness)
    counted = "only those count for the rest, and they are few: simulate more with --sample"
    return [f"The sample is small: with {most.layout} its records take {times} times as long as those of its second half; {counted}."]


def _unlike_predicted(one: Advice) -> str:
    """Say if pages take far longer, or shorter, than the model predicts; nothing if they do not."""
    times = one.io_seconds / one.predicted_io_seconds if one.predicted_io_seconds else 1.0
    if 1 / _FAR < times < _FAR:
        return ""
    why = (
        "; the model has them come in runs, where a scan asks for a page of each attribute in turn"
        if one.layout == "dsm" and times > 1
        else ""
    )
    took = f"{three_digits(one.io_seconds)} s, {three_digits(times)} times what the cost model predicts"
    return f"The pages of {one.layout} take {took}{why}."


def _processor_unlike_predicted(ranked: list[Advice]) -> list[str]:
    """Say with which layouts the processor takes far longer, or shorter, than the model predicts."""
    times = {one.layout: one.processor_seconds / predicted for one in ranked if (predicted := one.predicted_processor_seconds)}
    far = [(layout, f"{three_digits(found)} times") for layout, found in times.items() if not 1 / _FAR < found < _FAR]
    if not far:
        return []
    (layout, found), *others = far
    more = "".join(f", {found} with {layout}" for layout, found in others)
    return [f"The processor takes {found} what the cost model predicts with {layout}{more}."]


def _against(other: Advice, best: Advice) -> str:
    """Name what the other layout loses most by in simulation: its pages, or what its processor takes longer for.

    That is waits for lines if they are most of it, or another cause, with what the model has for that.
    """
    pages, processor = other.io_seconds - best.io_seconds, other.processor_seconds - best.processor_seconds
    if pages > max(0.0, processor):
        took = [f"{three_digits(one.io_seconds)} s" for one in (other, best)]
        read = [f"{three_digits(one.megabytes_read)} MB" for one in (other, best)]
        return f"its pages take {took[0]} instead of {took[1]} (predicted: {read[0]} instead of {read[1]})"
    fetched = [f"{one.lines_per_record:.2f}" for one in (other, best)]
    more = other.lines_per_record > best.lines_per_record and fetched[0] != fetched[1]
    lines = f"fetches {fetched[0]} lines per record instead of {fetched[1]}"
    waiting = other.waiting_seconds - best.waiting_seconds
    if waiting > 0 and explains(waiting, processor):
        waits = [f"{three_digits(one.waiting_seconds)} s" for one in (other, best)]
        return f"it waits for lines and translations for {waits[0]} instead of {waits[1]}" + (f", and {lines}" if more else "")
    took = [f"{three_digits(one.processor_seconds)} s" for one in (other, best)]
    return f"the processor takes {took[0]} instead of {took[1]}{_cause(other, best)}, {_by_the_model(other, best)}"


def _by_the_model(other: Advice, best: Advice) -> str:
    """Say what the model has the processor take longer for. It explains that by no more than there is, and by most of it."""
    lost = {
        "it steps the storage manager's iterator more often": other.iteration_seconds - best.iteration_seconds,
        "it puts more values together, one call each": other.reconstruction_seconds - best.reconstruction_seconds,
    }
    reason = max(lost, key=lambda name: lost[name])
    longer = other.processor_seconds - best.processor_seconds
    explained = 0 < lost[reason] <= longer * CLOSE and explains(lost[reason], longer)
    return f"as {reason} by the cost model" if explained else "which the cost model does not explain"


def _cause(other: Advice, best: Advice) -> str:
    """Tell what the processor spends more time on in simulation, of all causes the one with the most."""
    more = {cause: seconds - best.seconds_by_cause[cause] for cause, seconds in other.seconds_by_cause.items()}
    if not more:
        return ""
    cause = max(more, key=lambda name: more[name])
    much = "mostly" if explains(more[cause], other.processor_seconds - best.processor_seconds) else "most of all"
    took = [f"{three_digits(one.seconds_by_cause[cause])} s" for one in (other, best)]
    return f" ({much} {describe(cause)}, {took[0]} instead of {took[1]})"
