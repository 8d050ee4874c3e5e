"""Programs side by side on one storage: each alone first, then all at once, and how much slower each is then."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple, TypeVar

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.io_times import IoTimes
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.run import Program, Stepping, run_again, run_beside, run_together
from memwalk.simcore.storage.system import System
from memwalk.traces.storage import Client

T = TypeVar("T")

SECONDS = "seconds"
"""Column of what a program takes, by which those that have an end are compared."""

_PER_TIME = "_per_second"
"""How names of columns end that are rates: what is done over the time it takes."""


@dataclass(frozen=True)
class Side:
    """A workload as one of several."""

    workload: OneProgram
    start_ps: int | None = None
    """When it begins; None for at once if it has no end, and else for when those without an end have warmed up."""
    repeats: bool = False
    disks: tuple[int, ...] | None = None
    """Devices of the system that its volume lies on; all if None."""

    @property
    def endless(self) -> bool:
        """Whether it goes on until the others have ended."""
        return self.workload.throughput is not None

    @property
    def measure(self) -> str:
        """Column by which it is compared with itself alone."""
        return self.workload.throughput or SECONDS

    @property
    def warm_end_ps(self) -> int:
        """When it has warmed up, if it has no end."""
        return (self.start_ps or 0) + self.workload.warm_up_ps

    def on(self, system: System) -> System:
        """Return the system with the devices of this workload only."""
        return system if self.disks is None else system.on(len(self.disks))


class Ran(NamedTuple):
    """One time that a program ran: the period that was measured, and its columns."""

    began_ps: int
    """On the clock of all that ran."""
    measured: Period
    own: Columns
    """Columns of its kernel."""

    @property
    def columns(self) -> Columns:
        """Columns that all programs have, and behind them those of its kernel, which may take their place."""
        return _common((self.measured,)) | self.own


@dataclass(frozen=True)
class Outcome:
    """What became of a workload."""

    measure: str
    alone: Sequence[Ran]
    """As many runs of its own, one behind the other, with its data in the same place."""
    together: Sequence[Ran]
    """Each time that it ran beside the others."""

    @property
    def served(self) -> IoTimes:
        """Requests that devices served for it beside the others."""
        return reduce(add, (ran.measured.served for ran in self.together))

    @property
    def began_ps(self) -> int:
        """When it began first, on the clock of all."""
        return self.together[0].began_ps

    @property
    def end_ps(self) -> int:
        """When it ended, on the clock of all."""
        last = self.together[-1].measured
        return last.began_ps + last.elapsed_ps

    @property
    def columns(self) -> Columns:
        """Columns of what it did beside the others, means if it ran several times."""
        return _means(self.together)

    @property
    def columns_alone(self) -> Columns:
        """Columns of what it did alone, means likewise."""
        return _means(self.alone)

    @property
    def slowdown(self) -> float:
        """How many times longer it takes than alone, or how many times more it gets done alone."""
        alone, together = self.columns_alone[self.measure], self.columns[self.measure]
        return together / alone if self.measure == SECONDS else alone / together


def _means(runs: Sequence[Ran]) -> Columns:
    """Return the columns of one run, or the means of several."""
    if len(runs) == 1:
        return runs[0].columns
    own = {name: _mean(name, runs) for name in runs[0].own if name != SECONDS}
    return _common([ran.measured for ran in runs]) | own


def _mean(column: str, runs: Sequence[Ran]) -> float:
    """Return the mean of a kernel's column; of a rate the one of all runs together."""
    values = [ran.own[column] for ran in runs]
    return _over_time(values, [ran.measured for ran in runs]) if column.endswith(_PER_TIME) else sum(values) / len(runs)


def _over_time(rates: Sequence[float], runs: Sequence[Period]) -> float:
    """Return the rate of runs together, of which the longer ones have more to say."""
    elapsed = [run.elapsed_ps for run in runs]
    return rates[0] if len(runs) == 1 else sum(rate * ps for rate, ps in zip(rates, elapsed, strict=True)) / sum(elapsed)


def first_blocks(system: System, sides: Mapping[str, Side], first_block: int = 0) -> dict[str, int]:
    """Say where the data of each begin: behind those of the workloads before it that have the same devices, the first at ``first_block``.

    Raises a `MisfitError` below the name of the workload for what does not fit.
    """
    found: dict[str, int] = {}
    ends: dict[tuple[int, ...] | None, int] = {}
    for name, side in sides.items():
        found[name] = ends.get(side.disks, first_block)
        try:
            ends[side.disks] = side.workload.place(side.on(system).layout(), found[name]).end_block
        except MisfitError as error:
            raise MisfitError(error.parameter, str(error), (name, *error.within)) from None
        except UserError as error:
            raise MisfitError("kernel", str(error), (name,)) from None
    return found


def side_by_side(system: System, sides: Mapping[str, Side]) -> dict[str, Outcome]:
    """Run each alone and then all together, as if the system was just switched on each time.

    What has no end is measured from when all have begun and have warmed up, until the others have ended and its own time is over. What
    has repeated beside the others runs alone as often. Raises UserError for what does not fit, and for what gets nothing done, before
    anything else is run.
    """
    mix = _Mix(system, sides)
    return mix.outcomes(run_together(system, mix.together()))


def around(
    system: System, sides: Mapping[str, Side], first_block: int, stepping: Callable[[int], Sequence[Stepping[T]]]
) -> tuple[list[list[T]], dict[str, Outcome]]:
    """Run each alone and then all around some who step the clock, whose data lie before ``first_block``.

    ``stepping`` is told when all that have no end have warmed up, which are measured from then on, and returns these; to the others they
    are more of their kind. Returns what the runs of each of them returned, and the outcomes of the others. Raises as `side_by_side`.
    """
    mix = _Mix(system, sides, first_block, around=True)
    found, periods = run_beside(system, mix.together(), stepping(mix.warm_ps))
    return found, mix.outcomes(periods)


def columns_of(outcomes: Mapping[str, Outcome], sides: Mapping[str, Side]) -> Columns:
    """Return columns of each program, which begin with its name and a dot.

    ``slowdown`` is how many times longer it takes than alone or, if it has no end, how many times more it gets done alone.
    """
    columns: Columns = {}
    for name, outcome in outcomes.items():
        columns |= {f"{name}.{column}": value for column, value in _columns(outcome, repeats=sides[name].repeats).items()}
    return columns


def _columns(outcome: Outcome, *, repeats: bool) -> Columns:
    """Put what became of a program behind how it compares with itself alone."""
    compared = {
        "slowdown": outcome.slowdown,
        outcome.measure: outcome.columns[outcome.measure],
        f"{outcome.measure}_alone": outcome.columns_alone[outcome.measure],
    }
    return compared | ({"runs": len(outcome.together)} if repeats else {}) | outcome.columns


class _Mix:
    """Workloads that have run alone, and are to run side by side."""

    def __init__(self, system: System, sides: Mapping[str, Side], first_block: int = 0, *, around: bool = False) -> None:
        """Those without an end are measured from when all have begun; ``around`` somebody, from when he begins, as they have warmed up."""
        first = first_blocks(system, sides, first_block)

        def prepared(name: str, workload: OneProgram) -> Callable[[], Begun]:
            own = sides[name].on(system)
            return workload.place(own.layout(), first[name]).prepare(own)

        self._begin = begin = {name: prepared(name, side.workload) for name, side in sides.items()}
        self._system = system
        self._sides = sides
        self._alone: dict[str, Ran] = {}
        for name in sorted(sides, key=lambda one: not sides[one].endless):  # which may get nothing done in their time
            (self._alone[name],) = self._run_alone(name, begin[name], 1)
        self.warm_ps = max((side.warm_end_ps for side in sides.values() if side.endless), default=0)
        """When all that have no end have warmed up."""
        self._starts = {name: self._start(side) for name, side in sides.items()}
        measured_from = self.warm_ps if around else max(max(self._starts[name], side.warm_end_ps) for name, side in sides.items())
        for name, side in sides.items():
            if side.endless and side.warm_end_ps < measured_from:
                begin[name] = prepared(name, side.workload.warmed_up_for(measured_from - self._starts[name]))
        self._runs = {name: _Runs(name, side.measure, begin[name]) for name, side in sides.items()}

    def _start(self, side: Side) -> int:
        """Say when one begins."""
        if side.start_ps is not None:
            return side.start_ps
        return 0 if side.endless else self.warm_ps

    def together(self) -> dict[str, Program]:
        """Return them as programs, to be run once."""
        return {name: Program(self._runs[name].clients, self._starts[name], side.repeats, side.disks) for name, side in self._sides.items()}

    def outcomes(self, periods: Mapping[str, Sequence[Mapping[str, Period]]]) -> dict[str, Outcome]:
        """Say what became of each, by its periods of each time that it ran beside the others."""
        together = {name: self._runs[name].read("beside the others", periods[name]) for name in self._sides}
        return {
            name: Outcome(side.measure, self._alone_as_often(name, len(together[name])), together[name])
            for name, side in self._sides.items()
        }

    def _alone_as_often(self, name: str, times: int) -> list[Ran]:
        """Return as many runs alone as there were beside the others: later ones find in the devices what those before left there."""
        return [self._alone[name]] if times == 1 else self._run_alone(name, self._begin[name], times)

    def _run_alone(self, name: str, begin: Callable[[], Begun], times: int) -> list[Ran]:
        side = self._sides[name]
        runs = _Runs(name, side.measure, begin)
        return runs.read("alone", run_again(side.on(self._system), runs.clients, times))


class _Runs:
    """Begins a program as often as it is asked to, and reads what became of it."""

    def __init__(self, name: str, measure: str, begin: Callable[[], Begun]) -> None:
        self._name = name
        self._measure = measure
        self._begin = begin
        self._columns: list[Callable[[Mapping[str, Period]], Columns]] = []

    def clients(self) -> Sequence[Client]:
        clients, columns = self._begin()
        self._columns.append(columns)
        return clients

    def read(self, when: str, each: Iterable[Mapping[str, Period]]) -> list[Ran]:
        """Make the columns of each time.

        Raises a `MisfitError`, which says ``when`` that was, if nothing was done that could be compared.
        """
        try:
            found = [_ran([*periods.values()], columns(periods)) for columns, periods in zip(self._columns, each, strict=True)]
        except UserError as error:
            raise self._misfit(when, str(error)) from None
        if not all(ran.columns[self._measure] for ran in found):
            remedy = "give it something to do" if self._measure == SECONDS else "measure longer"
            raise self._misfit(when, f"its {self._measure} is 0, which nothing can be compared with; {remedy}")
        return found

    def _misfit(self, when: str, message: str) -> MisfitError:
        return MisfitError("kernel", f"program {self._name}, {when}: {message}", (self._name,))


def _ran(periods: Sequence[Period], own: Columns) -> Ran:
    """Put together what became of a run; the last of its periods is what was measured."""
    return Ran(periods[0].began_ps, periods[-1], own)


def _common(runs: Sequence[Period]) -> Columns:
    """Return the columns that all programs have: counts and times of a run in the mean, and rates of all runs together."""
    elapsed = seconds(sum(run.elapsed_ps for run in runs))
    served = reduce(add, (run.served for run in runs))
    totals = {SECONDS: elapsed} | io_columns(served)
    a_run = totals if len(runs) == 1 else {name: total / len(runs) for name, total in totals.items()}
    rates = {
        "requests_per_second": served.requests / elapsed if elapsed else 0.0,
        "MB_per_second": served.blocks * BLOCK_BYTES / 1e6 / elapsed if elapsed else 0.0,
        "mean_response_ms": 1000 * seconds(served.response_ps) / served.requests if served.requests else 0.0,
        "disk_utilization": _over_time([run.utilization for run in runs], runs),
    }
    return {SECONDS: a_run.pop(SECONDS)} | rates | a_run
