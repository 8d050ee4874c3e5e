"""A workload of a machine beside others on the storage that it has its pages from: each alone first, and then all at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Protocol

from memwalk.analysis.experiments.beside import MachineSide, Neighbours
from memwalk.analysis.experiments.heard import Heard, Runs
from memwalk.analysis.experiments.slower import OWN, alone, check_takes_time, slower
from memwalk.analysis.experiments.storage_time import STORAGE_TIME, page_spec, timed_pages
from memwalk.analysis.slots import slot_seconds
from memwalk.analysis.storage_workloads.columns import cpu_parts
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.analysis.storage_workloads.program_mix import sides_of
from memwalk.analysis.storage_workloads.side_by_side import around, columns_of
from memwalk.simcore.engines import native
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.run import Stepping, run_beside
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import TimedPages
from memwalk.simcore.storage.turns import Turn


class Simulate(Protocol):
    """Runs a workload of a machine that has its pages from storage; what they take stands in its statistics as `STORAGE_TIME`."""

    def __call__(self, workload: Mapping[str, Any], observe: Sequence[Any], pages: TimedPages, heard: Heard | None) -> native.Statistics:
        """Run it."""


@dataclass(frozen=True)
class SharedStorage:
    """A storage that equal machines share."""

    system: System
    machine: Mapping[str, Any]
    simulate: Simulate
    """Runs a workload on one of them."""


def simulate_beside(
    shared: SharedStorage, workload: Mapping[str, Any], observe: Sequence[Any], neighbours: Neighbours, heard: Heard | None
) -> native.Statistics:
    """Run a workload beside others, each of which runs alone first, with its pages in the same place.

    Pages of a workload of a machine lie behind those of the ones before it, and data of programs behind them all: where pages end is known
    when their workload has run alone. One that has repeated beside the others runs alone once more, as often.

    Returns the statistics of the workload beside the others; behind its times come how much slower it is than alone, and the columns of
    each of the others.

    Raises UserError for what does not fit, or takes no time; a `MisfitError` below the name of the one to blame.
    """
    runs, first_block = Runs(heard), 0
    workloads: list[_Workload] = []
    for name, side in {OWN: MachineSide(workload), **neighbours.workloads}.items():
        workloads.append(_Workload(shared, name, side, first_block, runs))
        first_block = workloads[-1].end_block

    def stepping(warm_ps: int) -> list[Stepping[native.Statistics]]:
        own, *others = workloads
        return [own.beside(warm_ps, observe), *(other.beside(warm_ps, ()) for other in others)]

    programs = sides_of(neighbours.programs)
    ((found,), *each), outcomes = around(shared.system, programs, first_block, stepping)
    times = found[STORAGE_TIME] | workloads[0].slower([found[STORAGE_TIME]])
    for one, ran in zip(workloads[1:], each, strict=True):
        times |= {f"{one.name}.{column}": value for column, value in one.columns(ran).items()}
    return found | {STORAGE_TIME: times | columns_of(outcomes, programs)}


class _Workload:
    """A workload of a machine that has run alone."""

    def __init__(self, shared: SharedStorage, name: str, side: MachineSide, first_block: int, runs: Runs) -> None:
        """Run it alone, with its pages from ``first_block`` on. Raises UserError if they do not fit, or it takes no time."""
        self.name = name
        self._shared = shared
        self._side = side
        self._first_block = first_block
        with alone(name, shared.machine):
            pages = timed_pages(shared.system, side.values, first_block)
            self._alone = shared.simulate(side.values, (), pages, runs.one())[STORAGE_TIME]
            check_takes_time(name, self._alone["seconds"])
        self.end_block = pages.end_block
        """The first block behind its pages."""
        self._runs = runs
        self._heard = runs.one()

    def beside(self, warm_ps: int, observe: Sequence[Any]) -> Stepping[native.Statistics]:
        """Return its run beside others, which begins when those that have no end have warmed up, unless it says when."""
        start_ps = warm_ps if self._side.start_ps is None else self._side.start_ps
        return Stepping(partial(self._run, observe, self._heard), start_ps, self._side.repeats)

    def slower(self, together: Sequence[Mapping[str, float | int]]) -> Columns:
        """Say by the times of its runs beside others how much slower it is than alone."""
        return slower(fmean(times["seconds"] for times in together), self._seconds_alone(len(together)))

    def columns(self, ran: Sequence[native.Statistics]) -> Columns:
        """Return its columns where it is not the experiment's own, by its runs beside others: their means."""
        times = [found[STORAGE_TIME] | self._processor(found) for found in ran]
        means = times[0] if len(times) == 1 else {column: fmean(of[column] for of in times) for column in times[0]}
        return self.slower(times) | ({"runs": len(times)} if self._side.repeats else {}) | means

    def _seconds_alone(self, runs: int) -> float:
        """Return what it takes alone, in the mean of so many runs: later ones find in the devices what those before left there."""
        if runs == 1:
            seconds: float = self._alone["seconds"]
            return seconds
        again = Stepping(partial(self._run, (), self._runs.one()), times=runs)
        (each,), _ = run_beside(self._shared.system, {}, [again])
        return fmean(found[STORAGE_TIME]["seconds"] for found in each)

    def _run(self, observe: Sequence[Any], tell: Heard, volume: MeteredVolume, turn: Turn) -> native.Statistics:
        def heard(*passed: int) -> None:
            turn.look()
            tell(*passed)

        system, values = self._shared.system, self._side.values
        pages = TimedPages(volume, page_spec(system, values), system.device.name, turn, self._first_block)
        found = self._shared.simulate(values, observe, pages, heard)
        assert pages.end_block <= self.end_block, "it asks for what it asked for alone"
        return found

    def _processor(self, found: native.Statistics) -> Columns:
        """Split the processor's time of a run by cause, of several processors in the mean."""
        return dict(cpu_parts(found["slots"], slot_seconds(self._shared.machine, found)))
