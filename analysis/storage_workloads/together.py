"""Kernel `together`: several programs side by side on one storage, each with a name, and how much slower they are than alone."""

from collections.abc import Iterator, Mapping
from functools import cache, reduce
from itertools import count
from operator import add, or_
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, StrictBool, create_model, field_validator, model_validator

from memwalk.analysis.storage_workloads.clotho import ClothoColumn, ClothoInsert, ClothoPoint, ClothoScan
from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.commands import MisfitError
from memwalk.analysis.storage_workloads.interleaved_read import InterleavedRead
from memwalk.analysis.storage_workloads.layout_point import LayoutPoint
from memwalk.analysis.storage_workloads.layout_scan import ALL, LayoutScan
from memwalk.analysis.storage_workloads.limits import LONGEST_PS
from memwalk.analysis.storage_workloads.oltp import Tpcc
from memwalk.analysis.storage_workloads.one_program import Columns, OneProgram
from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.analysis.storage_workloads.side_by_side import Outcome, Side, first_blocks, side_by_side
from memwalk.analysis.storage_workloads.tpch import ClothoTpch
from memwalk.simcore.storage.device import MOST_DEVICES
from memwalk.simcore.storage.queues import AGED_SPTF, SPTF
from memwalk.simcore.storage.system import System
from memwalk.simcore.units import Count, Picoseconds
from memwalk.simcore.validation import StrictModel, mistake_at

TOGETHER = "together"
PROGRAMS = "programs"
"""The field that has the programs, by name."""

_KERNEL = "kernel"
_SEED = "seed"
_KERNELS: tuple[type[OneProgram], ...] = (
    Requests,
    InterleavedRead,
    LayoutPoint,
    LayoutScan,
    ClothoColumn,
    ClothoInsert,
    ClothoPoint,
    ClothoScan,
    ClothoTpch,
    Tpcc,
)
"""Kernels whose run is one program."""
_PARAMETERS = ("machine", "storage", "workload")
"""What columns of parameters begin with: a program of that name would have columns among them."""
_MOST_PROGRAMS = 64
"""More are no mix that anybody measures, and each has some twenty columns."""
_WHY_NOT: Mapping[str, str] = {
    "together": "has programs of its own; name these here, one by one",
    "compound": "is two programs itself, tpcc and clotho-tpch; name these here",
    "layout-update": "is many runs, one for each beginning of the file; layout-point with operation: update is one",
    "layout-space": "only counts pages, and takes no time",
    "super-block": "only places columns, and takes no time",
}
"""What kernels on storage are not one program, and why."""


class Beside(StrictModel):
    """What a program says besides its workload when it runs beside others."""

    start: Picoseconds | None = Field(
        None,
        le=LONGEST_PS,
        description="When it begins; if absent, when the users of tpcc have warmed up, or at once if there are none, or it is tpcc",
    )
    repeat: StrictBool = Field(False, description="Whether it begins again when it has ended, as long as one that does not repeat goes on")
    disks: list[Annotated[Count, Field(lt=MOST_DEVICES)]] | None = Field(
        None, min_length=1, description="Disks of the storage that its volume lies on, by number from 0; all if absent"
    )

    def __reduce__(self) -> tuple[Any, ...]:
        """Name the workload's model: what is made of it stands in no module, where a worker to which points go would look for it."""
        workload, _ = type(self).__bases__
        return _empty, (workload,), self.__getstate__()


@cache
def _beside(workload: type[OneProgram]) -> Any:
    """Make the model of a kernel's workloads beside others."""
    return create_model(f"{workload.__name__}Beside", __base__=(workload, Beside), __doc__=workload.__doc__)


def _empty(workload: type[OneProgram]) -> Any:
    """Make a program that has no values yet."""
    model = _beside(workload)
    return model.__new__(model)


if TYPE_CHECKING:
    _Program: TypeAlias = Beside
else:
    _Program = Annotated[reduce(or_, map(_beside, _KERNELS)), Field(discriminator=_KERNEL)]


class Together(StrictModel):
    """Each alone first, and then all at once. Each has buffer pools and a processor of its own: they meet at the disks and at the bus.

    Their data lie one behind the other on a volume, in the order in which programs with the same disks are named. Programs of one kernel
    that have no data draw from seeds of their own, 1, 2 and so on, unless they say theirs.
    """

    processes: ClassVar[bool] = False

    kernel: Literal["together"]
    programs: dict[str, _Program] = Field(description="Programs by name, two at least")

    @field_validator(PROGRAMS, mode="before")
    @classmethod
    def _can_run_beside_others(cls, programs: Any) -> Any:
        """Say why, of kernels that exist and cannot."""
        if isinstance(programs, dict):
            for name, program in programs.items():
                kernel = str(program.get(_KERNEL)) if isinstance(program, dict) else ""
                if kernel in _WHY_NOT:
                    raise mistake_at((name, _KERNEL), f"{kernel} {_WHY_NOT[kernel]}")
        return programs

    @field_validator(PROGRAMS)
    @classmethod
    def _ask_for_blocks_of_their_own(cls, programs: dict[str, Beside]) -> dict[str, Beside]:
        """Give programs without data a seed that no other of their kernel has, unless they say one.

        With one seed they would ask for the same blocks of the same disks. Data of others lie apart, and they keep their default.
        """
        taken: dict[type[Beside], set[int]] = {type(program): set() for program in programs.values()}
        for program in programs.values():
            if _SEED in program.model_fields_set:
                taken[type(program)].add(getattr(program, _SEED))
        own = dict(programs)
        for name, program in programs.items():
            if not _workload(program).has_data and _SEED in type(program).model_fields and _SEED not in program.model_fields_set:
                seeds = taken[type(program)]
                seed = next(number for number in count(1) if number not in seeds)
                seeds.add(seed)
                own[name] = program.model_copy(update={_SEED: seed})
        return own

    @model_validator(mode="after")
    def _fit_together(self) -> "Together":
        for route, message in (*self._mistakes_of_each(), *self._mistakes_of_all()):
            raise mistake_at((PROGRAMS, *route), message)
        return self

    def _mistakes_of_each(self) -> Iterator[tuple[tuple[str, ...], str]]:
        for name, program in self.programs.items():
            if not name.replace("-", "_").isidentifier() or name in _PARAMETERS:
                allowed = "letters, digits, - and _, begins with a letter"
                yield (
                    (name,),
                    f"`{name}` is no name for a program, whose columns begin with it: one has {allowed}, and is not {_any_of(_PARAMETERS)}",
                )
            if isinstance(program, LayoutScan) and program.query == ALL:
                yield (name, "query"), f"`{ALL}` is several runs; name one query"
            if program.repeat and _workload(program).throughput is not None:
                yield (name, "repeat"), "it has no end, and goes on until the others have ended anyway; remove it"
            if program.disks is not None and len(set(program.disks)) < len(program.disks):
                yield (name, "disks"), f"{program.disks} names a disk twice; name each once"

    def _mistakes_of_all(self) -> Iterator[tuple[tuple[str, ...], str]]:
        if not 2 <= len(self.programs) <= _MOST_PROGRAMS:
            yield (), f"{len(self.programs)} programs; side by side run 2 to {_MOST_PROGRAMS}, and one alone is a workload by itself"
        if all(program.repeat for program in self.programs.values()):
            yield (), "all programs repeat, so that the run has no end; have one that does not"
        users: dict[int, tuple[str, list[int]]] = {}
        for name, program in self.programs.items():
            if program.disks is None and any(other.disks is not None for other in self.programs.values()):
                yield (name,), "other programs name their disks, and this one has all; give it `disks`, too"
            for disk in program.disks or ():
                other, theirs = users.setdefault(disk, (name, program.disks or []))
                if theirs != program.disks:
                    yield (name, "disks"), f"{program.disks} and the disks of {other}, {theirs}, overlap; have the same, or others"

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults, without what programs leave to a default that depends on others."""
        each = {name: _workload(program).native() for name, program in self.programs.items()}
        said = {name: {key: value for key, value in one.items() if value is not None} for name, one in each.items()}
        return {_KERNEL: self.kernel, PROGRAMS: said}

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says: each runs alone and beside the others."""
        return 2 * sum(_workload(program).work() for program in self.programs.values())

    def check(self, system: System) -> None:
        """Raise UserError for disks that there are not, and for what has no room, as `Checked` says."""
        for name, program in self.programs.items():
            for disk in program.disks or ():
                if disk >= system.disks:
                    known = f"the storage has {system.disks}, numbered from 0"
                    raise MisfitError("disks", f"{name}: there is no disk {disk}; {known}", (PROGRAMS, name))
        self._check_end(system)
        try:
            first_blocks(system, self._sides())
        except MisfitError as error:
            raise MisfitError(error.parameter, str(error), (PROGRAMS, *error.within)) from None

    def _check_end(self, system: System) -> None:
        """Raise UserError if the run may have no end: SPTF lets a far request wait as long as there are near ones."""
        if system.queue != SPTF:
            return
        for name, program in self.programs.items():
            endless = _workload(program).throughput is not None
            around = [other for other, beside in self.programs.items() if beside.repeat and beside.disks == program.disks]
            if around and not program.repeat and not endless:
                message = (
                    f"with queue: {SPTF}, requests of {name} may wait for ever beside {around[0]}, which repeats until {name} has ended"
                )
                raise MisfitError("repeat", f"{message}; write queue: {AGED_SPTF}", (PROGRAMS, around[0]))

    def run(self, system: System) -> Columns:
        """Return columns of each program, which begin with its name and a dot, and of all of them.

        Of a program, ``slowdown`` is how many times longer it takes than alone or, if it has no end, how many times more it gets done
        alone. ``seconds`` of all pass from when the first begins to when the last has ended. Raises UserError if something does not fit
        or gets nothing done.
        """
        outcomes = side_by_side(system, self._sides())
        columns: Columns = {}
        for name, outcome in outcomes.items():
            columns |= {f"{name}.{column}": value for column, value in _columns(outcome, repeats=self.programs[name].repeat).items()}
        return {
            "seconds": seconds(max(outcome.end_ps for outcome in outcomes.values())),
            "mean_slowdown": fmean(outcome.slowdown for outcome in outcomes.values()),
            **io_columns(reduce(add, (outcome.served for outcome in outcomes.values()))),
            **columns,
        }

    def _sides(self) -> dict[str, Side]:
        return {
            name: Side(_workload(program), program.start, program.repeat, None if program.disks is None else tuple(program.disks))
            for name, program in self.programs.items()
        }


def _columns(outcome: Outcome, *, repeats: bool) -> Columns:
    """Put what became of a program behind how it compares with itself alone."""
    compared = {
        "slowdown": outcome.slowdown,
        outcome.measure: outcome.columns[outcome.measure],
        f"{outcome.measure}_alone": outcome.alone.columns[outcome.measure],
    }
    return compared | ({"runs": len(outcome.together)} if repeats else {}) | outcome.columns


def _workload(program: Beside) -> OneProgram:
    """Take a program as the workload that it is, too."""
    assert isinstance(program, OneProgram)
    return program


def _any_of(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
