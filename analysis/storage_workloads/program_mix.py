"""A mix of programs, which run beside each other or beside a workload of a machine: what is said of each, and what became of it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import count
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, create_model

from memwalk.analysis.storage_workloads.clotho import ClothoColumn, ClothoInsert, ClothoPoint, ClothoScan
from memwalk.analysis.storage_workloads.columns import PARAMETERS
from memwalk.analysis.storage_workloads.interleaved_read import InterleavedRead
from memwalk.analysis.storage_workloads.layout_point import LayoutPoint
from memwalk.analysis.storage_workloads.layout_scan import ALL, LayoutScan
from memwalk.analysis.storage_workloads.limits import LONGEST_PS
from memwalk.analysis.storage_workloads.oltp import Tpcc
from memwalk.analysis.storage_workloads.one_program import OneProgram
from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.analysis.storage_workloads.side_by_side import Side
from memwalk.analysis.storage_workloads.tpch import ClothoTpch
from memwalk.simcore.storage.device import MOST_DEVICES
from memwalk.simcore.storage.queues import AGED_SPTF, SPTF
from memwalk.simcore.storage.system import System
from memwalk.simcore.units import Count, Picoseconds
from memwalk.simcore.validation import StrictModel, mistake_at

KERNEL = "kernel"
"""The parameter of every workload that names its kernel."""
_SEED = "seed"
Disks: TypeAlias = Sequence[int] | None
"""Numbers of the disks that somebody has; all if None."""
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
PROGRAM_KERNELS = tuple(name for kernel in _KERNELS for name in get_args(kernel.model_fields[KERNEL].annotation))
"""Their names."""
MOST_PROGRAMS = 64
"""More are no mix that anybody measures, and each has some twenty columns."""
_WHY_NOT: Mapping[str, str] = {
    "together": "has programs of its own; name these here, one by one",
    "compound": "is two programs itself, tpcc and clotho-tpch; name these here",
    "layout-update": "is many runs, one for each beginning of the file; layout-point with operation: update is one",
    "layout-space": "only counts pages, and takes no time",
    "super-block": "only places columns, and takes no time",
}
"""What kernels on storage are not one program, and why."""
KNOWN_KERNELS = (*PROGRAM_KERNELS, *_WHY_NOT)
"""All kernels on storage."""


class Timing(StrictModel):
    """When something runs that runs beside others."""

    start: Picoseconds | None = Field(
        None,
        le=LONGEST_PS,
        description="When it begins; if absent, when the users of tpcc have warmed up, or at once if there are none, or it is tpcc",
    )
    repeat: StrictBool = Field(False, description="Whether it begins again when it has ended, as long as one that does not repeat goes on")


class Beside(Timing):
    """What a program says besides its workload when it runs beside others."""

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
    _Program = Annotated[reduce(or_, map(_beside, _KERNELS)), Field(discriminator=KERNEL)]


def _can_run_beside_others(programs: Any) -> Any:
    """Say why, of kernels that exist and cannot."""
    if isinstance(programs, dict):
        for name, program in programs.items():
            kernel = str(program.get(KERNEL)) if isinstance(program, dict) else ""
            if kernel in _WHY_NOT:
                raise mistake_at((name, KERNEL), f"{kernel} {_WHY_NOT[kernel]}")
    return programs


def _ask_for_blocks_of_their_own(programs: dict[str, Beside]) -> dict[str, Beside]:
    """Give programs without data a seed that no other of their kernel has, unless they say one.

    With one seed they would ask for the same blocks of the same disks. Data of others lie apart, and they keep their default.
    Seeds go by name: the order in which programs are written means nothing.
    """
    taken: dict[type[Beside], set[int]] = {type(program): set() for program in programs.values()}
    for program in programs.values():
        if _SEED in program.model_fields_set:
            taken[type(program)].add(getattr(program, _SEED))
    own = dict(programs)
    for name, program in sorted(programs.items()):
        if not workload_of(program).has_data and _SEED in type(program).model_fields and _SEED not in program.model_fields_set:
            seeds = taken[type(program)]
            seed = next(number for number in count(1) if number not in seeds)
            seeds.add(seed)
            own[name] = program.model_copy(update={_SEED: seed})
    return own


def _fit(programs: dict[str, Beside]) -> dict[str, Beside]:
    """Refuse what is a mistake of one program, whoever runs beside it."""
    for route, message in _mistakes(programs):
        raise mistake_at(route, message)
    return programs


def _mistakes(programs: dict[str, Beside]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, program in programs.items():
        if (message := no_name(name)) is not None:
            yield (name,), message
        if isinstance(program, LayoutScan) and program.query == ALL:
            yield (name, "query"), f"`{ALL}` is several runs; name one query"
        if program.repeat and workload_of(program).throughput is not None:
            yield (name, "repeat"), "it has no end, and goes on until the others have ended anyway; remove it"
        if program.disks is not None and len(set(program.disks)) < len(program.disks):
            yield (name, "disks"), f"{program.disks} names a disk twice; name each once"


Programs: TypeAlias = Annotated[
    dict[str, _Program], BeforeValidator(_can_run_beside_others), AfterValidator(_ask_for_blocks_of_their_own), AfterValidator(_fit)
]
"""Programs by name. Those of one kernel that have no data draw from seeds of their own, 1, 2 and so on, unless they say theirs."""


def workload_of(program: Beside) -> OneProgram:
    """Take a program as the workload that it is, too."""
    assert isinstance(program, OneProgram)
    return program


def native_of(programs: Mapping[str, Beside]) -> dict[str, dict[str, Any]]:
    """Return the programs with their defaults, without what they leave to a default that depends on others."""
    return {name: workload_of(program).native() for name, program in programs.items()}


def work_of(programs: Mapping[str, Beside]) -> int:
    """Estimate the work of a run, as `StorageKernel` says: each runs alone and beside the others."""
    return 2 * sum(workload_of(program).work() for program in programs.values())


def repeating(programs: Mapping[str, Beside]) -> dict[str, Disks]:
    """Return those of the programs that repeat, with their disks."""
    return {name: program.disks for name, program in programs.items() if program.repeat}


def sides_of(programs: Mapping[str, Beside]) -> dict[str, Side]:
    """Return the programs as those that run side by side, in the order of their names: in which order they are written means nothing."""
    return {
        name: Side(workload_of(program), program.start, program.repeat, None if program.disks is None else tuple(program.disks))
        for name, program in sorted(programs.items())
    }


def no_name(name: str) -> str | None:
    """Say why a program cannot have a name; None if it can."""
    if name.replace("-", "_").isidentifier() and name not in PARAMETERS:
        return None
    allowed = "letters, digits, - and _, begins with a letter"
    return f"`{name}` is no name for a program, whose columns begin with it: one has {allowed}, and is not {_any_of(PARAMETERS)}"


def check_end(system: System, repeating: Mapping[str, Disks], waited_for: Mapping[str, Disks]) -> None:
    """Raise a `MisfitError` if the run may have no end: SPTF lets a far request wait as long as there are near ones.

    ``repeating`` are those that repeat until all of ``waited_for`` have ended, each with its disks.
    """
    if system.queue != SPTF:
        return
    for name, disks in waited_for.items():
        around = next((other for other, theirs in repeating.items() if theirs == disks), None)
        if around is not None:
            message = f"with queue: {SPTF}, requests of {name} may wait for ever beside {around}, which repeats until {name} has ended"
            raise MisfitError("repeat", f"{message}; write queue: {AGED_SPTF}", (around,))


def _any_of(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
