"""A workload beside others on the cores of its machine: each alone first, and then all at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memwalk.analysis.experiments.beside import MachineSide, Neighbours
from memwalk.analysis.experiments.heard import Heard, Runs, listeners
from memwalk.analysis.experiments.slower import BESIDE_TIME, OWN, alone, check_takes_time, slower
from memwalk.analysis.experiments.storage_time import STORAGE_TIME, page_spec, storage_times, timed_pages
from memwalk.analysis.storage_workloads.columns import cpu_parts
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Side
from memwalk.simcore.storage.program_pages import ProgramPages, ProgramSpec
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import TimedPages
from memwalk.simcore.units import PS_PER_SECOND


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
        seconds, working = self.seconds(found), found["slots"]["total"] * self._slot_seconds(found)
        return {"seconds": seconds, "cpu_seconds": working} | ({"ended_seconds": seconds - working} if "cores" in found else {})

    def processor(self, found: native.Statistics) -> Columns:
        """Split a workload's time by cause, and say what it moved between the caches and memory."""
        lines = sum(found["bus"].get(part, 0) for part in ("fills", "write_backs", "write_throughs", "non_temporal"))
        return {**cpu_parts(found["slots"], self._slot_seconds(found)), "memory_lines": lines}

    def _slot_seconds(self, found: native.Statistics) -> float:
        """Return what a graduation slot of a workload takes, of several cores in the mean."""
        cores = len(found.get("cores", [found]))
        per_second: int = self.machine["clock_hz"] * self.machine["core"]["issue_width"] * cores
        return 1 / per_second


def simulate_on_one_machine(
    shared: SharedMachine, workload: dict[str, Any], asked: Mapping[str, Any], neighbours: Neighbours, heard: Heard | None
) -> native.Statistics:
    """Run a workload beside others on one machine, each of which runs alone first, with its data and pages in the same place.

    ``asked`` is what is observed of it. Returns the statistics of the workload beside the others, and in `BESIDE_TIME` how much slower
    it is than alone, and the same of each of the others with what it waited for. Pages lie behind those of the ones before.

    Raises UserError for what takes no time, or does not fit; a `MisfitError` below the name of the one to blame.
    """
    runs, first_block = Runs(heard), 0
    each_alone: list[_Alone] = []
    for number, (name, side) in enumerate({OWN: MachineSide(workload), **neighbours.workloads}.items()):
        each_alone.append(_Alone(shared, name, _side(shared.machine, side, number), first_block, runs))
        first_block = each_alone[-1].end_block
    pages = None
    if shared.system is not None:
        pages = ProgramPages(shared.system.switched_on(), [one.spec for one in each_alone], shared.system.device.name)
    sides = [one.side for one in each_alone]
    together = native.simulate_side_by_side(shared.machine, sides, *listeners(runs.one()), asked, pages)
    times: Columns = {}
    for number, (one, (found, ran)) in enumerate(zip(each_alone, together, strict=True)):
        took = shared.times(found, None if pages is None else pages.programs[number])
        if one.name == OWN:
            own = found if pages is None else found | {STORAGE_TIME: took}
            times |= slower(took["seconds"], one.seconds(1))
            continue
        took |= shared.processor(found)
        columns = slower(took["seconds"] / ran, one.seconds(ran)) | ({"runs": ran} if one.side.runs is None else {})
        columns = {column: value / ran for column, value in took.items()} | columns
        times |= {f"{one.name}.{column}": value for column, value in columns.items()}
    return own | {BESIDE_TIME: times}


class _Alone:
    """A workload that has run alone on the machine, where it lies beside the others."""

    def __init__(self, shared: SharedMachine, name: str, side: Side, first_block: int, runs: Runs) -> None:
        """Run it. Raises UserError if it cannot run, or takes no time; a `MisfitError` below the name of a neighbour."""
        self.name = name
        self.side = side
        self.end_block = first_block
        """The first block behind its pages."""

        def took(times: int) -> float:
            pages = None if shared.system is None else timed_pages(shared.system, side.workload, first_block)
            once = replace(side, start_cycle=0, runs=times)
            ((found, _),) = native.simulate_side_by_side(shared.machine, [once], *listeners(runs.one()), None, pages)
            if pages is not None:
                self.end_block = pages.end_block
            return shared.seconds(found)

        with alone(name, shared.machine):
            self._first = took(1)
            check_takes_time(name, self._first)
            self._second = took(2) - self._first if side.runs is None else 0.0
        if shared.system is not None:
            self.spec = ProgramSpec(page_spec(shared.system, side.workload), first_block, native.threads(side.workload))

    def seconds(self, runs: int) -> float:
        """Return the mean of so many runs: all but the first find what was left in the caches, and take as long as the second."""
        return (self._first + (runs - 1) * self._second) / runs


def _side(machine: Mapping[str, Any], one: MachineSide, number: int) -> Side:
    start_cycle = -(-(one.start_ps or 0) * machine["clock_hz"] // PS_PER_SECOND)
    return Side(dict(one.values), number, start_cycle, None if one.repeats else 1)
