"""What an experiment has run beside its workload: on the storage that it has its pages from, or on the cores of its machine."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, TypeAdapter, create_model

from memwalk.analysis.experiments.parameters import kernels
from memwalk.analysis.experiments.resolve import Resolved, laid_on, on_machine, with_file
from memwalk.analysis.experiments.workload import workload_model
from memwalk.analysis.storage_workloads.program_mix import (
    KERNEL,
    KNOWN_KERNELS,
    MOST_PROGRAMS,
    PROGRAM_KERNELS,
    Beside,
    Programs,
    Timing,
    check_end,
    native_of,
    no_name,
    repeating,
    sides_of,
    work_of,
    workload_of,
)
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.analysis.storage_workloads.side_by_side import first_blocks
from memwalk.simcore.dbms import PART
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import DEFERRED, mistake_at, nearest, validate
from memwalk.simcore.yaml_source import Place, Sourced

BESIDE = "beside"
"""The key of an experiment under which they stand by name, and the root of paths into it."""

ASKING = tuple(name for name, kernel in kernels().items() if kernel.asks_for_pages)
"""Kernels of machines that ask for pages."""


def _fit_beside(programs: dict[str, Beside]) -> dict[str, Beside]:
    for route, message in _mistakes(programs):
        raise mistake_at(route, message)
    return programs


def _mistakes(programs: dict[str, Beside]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, program in programs.items():
        if program.disks is not None:
            yield (name, "disks"), "the workload has all disks of the storage, and programs beside it have them, too; remove it"


_Beside: TypeAlias = Annotated[Programs, AfterValidator(_fit_beside)]

_PROGRAMS: TypeAdapter[dict[str, Beside]] = TypeAdapter(_Beside, config=DEFERRED)
"""Checks programs."""

SHARES, MACHINE = "shares", "machine"
"""What a neighbour says to run on the workload's machine."""


class OnMachine(Timing):
    """What a workload of a machine says besides when it runs beside another."""

    shares: Literal["storage", "machine"] = Field(
        "storage",
        description="What it shares with the workload: the storage, on a machine of its own; or the machine, of whose cores it has others",
    )


class OnThatMachine(Timing):
    """What one says that asks storage for nothing."""

    shares: Literal["machine"] = Field(description="What it shares with the workload: the machine, of whose cores it has others")


def _with_timing(kernel: str) -> Any:
    """Make the model of a kernel's workloads beside others."""
    workload = workload_model(kernels()[kernel])
    timing = OnMachine if kernel in ASKING else OnThatMachine
    return create_model(f"{workload.__name__}Beside", __base__=(timing, workload), __doc__=workload.__doc__)


@cache
def _on_machines() -> TypeAdapter[Any]:
    """Make what checks a workload of a machine."""
    workload: Any = reduce(or_, map(_with_timing, kernels()))
    return TypeAdapter(Annotated[workload, Field(discriminator=KERNEL)])


def json_schema(ref_template: str = "#/$defs/{model}") -> dict[str, Any]:
    """Return the schema of all that may stand below ``beside``."""
    programs, workload = (adapter.json_schema(ref_template=ref_template) for adapter in (_PROGRAMS, _on_machines()))
    each = {"anyOf": [programs["additionalProperties"], {"oneOf": workload["oneOf"], "discriminator": workload["discriminator"]}]}
    return {**programs, "additionalProperties": each, "$defs": programs["$defs"] | workload["$defs"]}


@dataclass(frozen=True)
class MachineSide:
    """A workload of a machine of its own, equal to the experiment's, as one of several on a storage; or one of several on that machine."""

    values: Mapping[str, Any]
    start_ps: int | None = None
    """As `Timing.start`."""
    repeats: bool = False
    shares_machine: bool = False

    def work(self, unit: str, around: int) -> int:
        """Estimate the work of its runs, alone and beside a workload whose work is ``around`` for each of its threads.

        Both are in a unit of `native.estimate_work`. One that repeats goes on as long as the workload: its threads are taken to do as much
        in that time as those of the workload, in whole runs. It runs alone once, and once more as often as beside it.
        """
        one_run: int = native.estimate_work(dict(self.values))[unit]
        if not self.repeats or not one_run:
            return 2 * one_run
        beside = -(-around * native.threads(dict(self.values)) // one_run)
        return (1 + 2 * max(beside, 1)) * one_run

    def native(self) -> dict[str, Any]:
        """Return it with its defaults, as plain data."""
        start = {} if self.start_ps is None else {"start": self.start_ps}
        shares = {SHARES: MACHINE} if self.shares_machine else {}
        return {**self.values, **start, **shares, "repeat": self.repeats}


@dataclass(frozen=True)
class Neighbours:
    """Who runs beside a workload of a machine, ready to run in any process."""

    programs: Mapping[str, Beside] = field(default_factory=dict)
    workloads: Mapping[str, MachineSide] = field(default_factory=dict)
    """Those of machines, in the order of their names: in which order they are written means nothing."""

    @property
    def share_machine(self) -> bool:
        """Whether they run on the workload's machine. They all do, or none does."""
        return any(one.shares_machine for one in self.workloads.values())

    def native(self) -> dict[str, Any]:
        """Return all with their defaults, as plain data: what points are told apart by."""
        return native_of(self.programs) | {name: one.native() for name, one in self.workloads.items()}

    def steps(self) -> int:
        """Estimate the work of a run, in steps of storage."""
        return work_of(self.programs)

    def work(self, unit: str, workload: dict[str, Any]) -> int:
        """Estimate the work of the machines, that of the workload among them, each alone and all together: as `MachineSide.work`."""
        own: int = native.estimate_work(workload)[unit]
        return 2 * own + sum(one.work(unit, own // native.threads(workload)) for one in self.workloads.values())

    def building(self) -> int:
        """Estimate the work of building what the workloads run on, which is kept from one run to the next."""
        return sum(native.estimate_work(dict(one.values))["building"] for one in self.workloads.values())

    def check(self, system: System) -> None:
        """Raise a `MisfitError` for what has no room, though pages of machines took none, and for what cannot run or may have no end."""
        again = repeating(self.programs) | {name: None for name, one in self.workloads.items() if one.repeats}
        check_end(system, again, {"the workload": None})
        first_blocks(system, sides_of(self.programs))
        for name, program in self.programs.items():
            if workload_of(program).processes and system.machine is not None and PART not in system.machine:
                machine = system.machine["name"]
                message = f"its records are worked on by a DBMS, and machine {machine} has no profile of one; name one as `{PART}`"
                raise MisfitError(KERNEL, message, (name,))


@dataclass(frozen=True)
class ResolvedBeside:
    """Checked neighbours, as they were written."""

    neighbours: Neighbours
    source: Sourced
    workloads: Mapping[str, Resolved]
    """Those of machines."""


def resolve_beside(settings: Iterable[Setting], start: Place, folder: Path, *, stored: bool) -> ResolvedBeside | None:
    """Lay the settings below ``beside`` over each other and check the result.

    The workload has its pages from storage if they are ``stored``, or they take no time. ``start`` is where blame begins; files are
    looked for in ``folder``.

    Returns nothing, if there are no neighbours, or they share a storage that there is not. What is set of them then lies idle; it is
    refused if that is so in all rows.

    Raises UserError with the place of each mistake.
    """
    source = laid_on(settings, BESIDE, start)
    if not source.data:
        return None
    on_machines = _named_on_machines(source)
    programs = validate(_PROGRAMS, source.without(on_machines))
    workloads, sides = {}, {}
    for name in sorted(on_machines):
        whole, file = with_file(source.below((name,)), folder)
        model = validate(_on_machines(), whole)
        workloads[name] = one = on_machine(model, whole, file)
        sides[name] = MachineSide(one.values, model.start, model.repeat, model.shares == MACHINE)
    neighbours = Neighbours(programs, sides)
    if neighbours.share_machine:
        _check_sharing(neighbours, source)
    elif not stored:
        return None
    return ResolvedBeside(neighbours, source, workloads)


def _check_sharing(neighbours: Neighbours, source: Sourced) -> None:
    """Raise UserError for what cannot run where some share the workload's machine."""
    for name in neighbours.programs:
        raise source.error(
            (name,), f"{name}: it runs on storage, and others here share the workload's machine; both at once is not simulated"
        )
    for name, one in neighbours.workloads.items():
        if not one.shares_machine:
            raise source.error((name,), f"{name}: others share the workload's machine, so it has to, too: write {SHARES}: {MACHINE}")
        check_caches(one.values, source.below((name,)))


def check_caches(values: Mapping[str, Any], source: Sourced) -> None:
    """Raise UserError for a workload that empties caches which others use at the same time."""
    if values.get("caches") == "cold":
        raise source.error(("caches",), "others use the caches, too, so they cannot be emptied before each operation; write warm, or empty")


def check_beside(beside: ResolvedBeside, system: System) -> None:
    """Raise UserError, with the place of the mistake, for what cannot run on the system."""
    try:
        beside.neighbours.check(system)
    except MisfitError as error:
        raise beside.source.error((*error.within, error.parameter), str(error)) from None
    except UserError as error:
        raise beside.source.error((), str(error)) from None


def _named_on_machines(source: Sourced) -> list[str]:
    """Tell which of what stands below ``beside`` are workloads of machines. Raises UserError for kernels that cannot run there."""
    if not isinstance(source.data, dict):
        return []
    if len(source.data) > MOST_PROGRAMS:
        raise source.error((), f"{len(source.data)} programs; at most {MOST_PROGRAMS} run beside a workload")
    found = []
    for name, one in source.data.items():
        kernel = one.get(KERNEL) if isinstance(one, dict) else None
        if not isinstance(kernel, str):
            continue  # which the check of programs tells
        if kernel in ASKING or (kernel in kernels() and one.get(SHARES) == MACHINE):
            found.append(name)
            if (message := no_name(name)) is not None:
                raise source.error((name,), f"{name}: {message}")
        elif kernel in kernels():
            message = f"{name}: kernel {kernel} asks storage for no pages; of a machine's, {', '.join(ASKING)} do"
            raise source.error((name, KERNEL), f"{message}. With {SHARES}: {MACHINE} it runs on the workload's machine")
        elif kernel not in KNOWN_KERNELS:
            raise source.error((name, KERNEL), f"{name}: there is no kernel `{kernel}`; {nearest(kernel, (*kernels(), *PROGRAM_KERNELS))}")
    return found
