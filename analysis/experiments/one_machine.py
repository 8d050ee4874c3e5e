"""A workload beside others on the cores of its machine: each alone first, and then all at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypeAlias

from memwalk.analysis.experiments.beside import MachineSide, Neighbours
from memwalk.analysis.experiments.heard import Heard, Runs, listeners
from memwalk.analysis.experiments.slower import BESIDE_TIME, OWN, alone, check_takes_time, slower
from memwalk.analysis.experiments.storage_time import STORAGE_TIME, page_spec, storage_times
from memwalk.analysis.slots import slot_seconds
from memwalk.analysis.storage_workloads.columns import cpu_parts
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Side
from memwalk.simcore.storage.program_pages import ProgramPages, ProgramSpec
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import TimedPages
from memwalk.simcore.units import PS_PER_SECOND

_Pages: TypeAlias = ProgramPages | None
"""Pages of all, if there is storage."""


@dataclass(frozen=True)
class SharedMachine:
    """A machine that several share."""

    machine: dict[str, Any]
    system: System | None
    """Where their pages come from; None if they are in memory."""

    def seconds(self, found: native.Statistics) -> float:
        """Return how long all runs of a workload took together."""
        seconds: float = found["cycles"] / self.machine["clock_hz"]
        return seconds

    def times(self, found: native.Statistics, pages: TimedPages | None) -> Columns:
        """Return ``seconds``, ``cpu_seconds`` and the like of all runs of a workload together."""
        if pages is not None:
            return storage_times(self.machine, pages, found)
        seconds, working = self.seconds(found), found["slots"]["total"] * slot_seconds(self.machine, found)
        return {"seconds": seconds, "cpu_seconds": working} | ({"ended_seconds": max(0.0, seconds - working)} if "cores" in found else {})

    def processor(self, found: native.Statistics) -> Columns:
        """Split a workload's time by cause, and say what it moved between the caches and memory."""
        lines = sum(found["bus"].get(part, 0) for part in ("fills", "write_backs", "write_throughs", "non_temporal"))
        return {**cpu_parts(found["slots"], slot_seconds(self.machine, found)), "memory_lines": lines}


def simulate_on_one_machine(
    shared: SharedMachine, workload: dict[str, Any], asked: Mapping[str, Any], neighbours: Neighbours, heard: Heard | None
) -> native.Statistics:
    """Run a workload beside others on one machine, each of which runs alone first, with its data and pages in the same place.

    ``asked`` is what is observed of it. Returns the statistics of the workload beside the others, and in `BESIDE_TIME` how much slower
    it is than alone, and the same of each of the others with what it waited for. Pages lie behind those of the ones before.

    Raises UserError for what takes no time, or does not fit; a `MisfitError` below the name of the one to blame.
    """
    runs = Runs(heard)
    sides = {OWN: MachineSide(workload), **neighbours.workloads}
    mix = _Mix(shared, sides, runs)
    for number in range(len(sides)):
        mix.run_alone_first(number)
    runs.expect(mix.expected_events(), neighbours.work("events", workload))
    together, pages = mix.run([one.beside for one in mix.each], asked)
    times: Columns = {}
    for number, (one, (found, ran)) in enumerate(zip(mix.each, together, strict=True)):
        took = shared.times(found, None if pages is None else pages.programs[number])
        slow = slower(took["seconds"] / ran, mix.seconds_alone(number, ran))
        if one.name == OWN:
            own = found if pages is None else found | {STORAGE_TIME: took}
            times |= slow
            continue
        took |= shared.processor(found)
        columns = {column: value / ran for column, value in took.items()} | slow | ({"runs": ran} if one.repeats else {})
        times |= {f"{one.name}.{column}": value for column, value in columns.items()}
    return own | {BESIDE_TIME: times}


@dataclass
class _One:
    """One of those that share the machine."""

    name: str
    beside: Side
    """How it runs beside the others."""
    spec: ProgramSpec | None
    """Its pages, if there is storage."""
    seconds: float = 0.0
    """What its first run takes alone."""
    events: int = 0
    """Events of that run, its warm-up included."""
    warming: float = 1.0
    """How many times as many those are as without the warm-up."""

    @property
    def repeats(self) -> bool:
        """Whether it goes on as long as others do."""
        return self.beside.runs is None


class _Mix:
    """Workloads that are ready to run on one machine."""

    def __init__(self, shared: SharedMachine, sides: Mapping[str, MachineSide], runs: Runs) -> None:
        """Build what they run on."""
        self._shared, self._runs = shared, runs
        workloads = [dict(one.values) for one in sides.values()]
        progress, building = listeners(runs.one())
        stored = shared.system is not None
        self._ready = native.SideBySide(shared.machine, workloads, stored=stored, progress=progress, building=building)
        self.each = [_One(name, _side(shared.machine, one), self._spec(one)) for name, one in sides.items()]

    def run(self, sides: Sequence[Side], asked: Mapping[str, Any] | None = None) -> tuple[list[tuple[native.Statistics, int]], _Pages]:
        """Run them as ``sides`` say: the statistics of each, how often it ran, and their pages."""
        pages, system = None, self._shared.system
        if system is not None:
            pages = ProgramPages(system.switched_on(), [one.spec for one in self.each if one.spec is not None], system.device.name)
        progress, _ = listeners(self._runs.one())
        return self._ready.run(sides, progress, asked, pages), pages

    def run_alone_first(self, number: int) -> None:
        """Run one of them alone, and lay the pages of the next one behind its own.

        Raises UserError if it cannot run, or takes no time; a `MisfitError` below the name of a neighbour.
        """
        one = self.each[number]
        with alone(one.name, self._shared.machine):
            found, pages = self._alone(number, 1)
            one.seconds = self._shared.seconds(found)
            # To find that nothing is to be written takes a cycle.
            check_takes_time(one.name, one.seconds if found["instructions"] else 0.0)
        # What is told now and then stops short of the end, and statistics leave the warm-up out.
        one.events = max(self._runs.latest, found["events"])
        one.warming = one.events / found["events"]
        if pages is not None and number + 1 < len(self.each):
            following = self.each[number + 1]
            assert following.spec is not None
            following.spec = replace(following.spec, first_block=pages.programs[number].end_block)

    def seconds_alone(self, number: int, runs: int) -> float:
        """Return what one of them takes alone, in the mean of so many runs: later ones find in the caches what the first left there."""
        if runs == 1:
            return self.each[number].seconds
        found, _ = self._alone(number, runs)
        return self._shared.seconds(found) / runs

    def expected_events(self) -> int:
        """Estimate the events of all together, and of those that repeat alone once more, by what each took alone."""
        hz = self._shared.machine["clock_hz"]
        end = max(one.beside.start_cycle / hz + one.seconds * one.warming for one in self.each if not one.repeats)
        expected = 0
        for one in self.each:
            again = max(1, ceil((end - one.beside.start_cycle / hz) / one.seconds))
            expected += 2 * again * one.events if one.repeats else one.events
        return expected

    def _alone(self, number: int, runs: int) -> tuple[native.Statistics, _Pages]:
        """Run one of them so many times from the beginning on, while the others stand still."""
        sides = [Side(runs=runs if other == number else 0) for other in range(len(self.each))]
        found, pages = self.run(sides)
        return found[number][0], pages

    def _spec(self, one: MachineSide) -> ProgramSpec | None:
        system, values = self._shared.system, dict(one.values)
        return None if system is None else ProgramSpec(page_spec(system, values), 0, native.threads(values))


def _side(machine: Mapping[str, Any], one: MachineSide) -> Side:
    return Side(-(-(one.start_ps or 0) * machine["clock_hz"] // PS_PER_SECOND), None if one.repeats else 1)
