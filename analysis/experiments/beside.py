"""Programs that an experiment has run beside its workload, on the storage that the workload has its pages from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, TypeAdapter

from memwalk.analysis.experiments.resolve import laid_on
from memwalk.analysis.storage_workloads.commands import MisfitError
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.analysis.storage_workloads.program_mix import (
    MOST_PROGRAMS,
    Beside,
    Programs,
    check_end,
    native_of,
    sides_of,
    work_of,
    workload_of,
)
from memwalk.analysis.storage_workloads.side_by_side import around, columns_of, first_blocks
from memwalk.simcore.dbms import PART
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import mistake_at, validate
from memwalk.simcore.yaml_source import Place, Sourced

BESIDE = "beside"
"""The key of an experiment under which they stand by name, and the root of paths into it."""

T = TypeVar("T")


def _fit_beside(programs: dict[str, Beside]) -> dict[str, Beside]:
    for route, message in _mistakes(programs):
        raise mistake_at(route, message)
    return programs


def _mistakes(programs: dict[str, Beside]) -> Iterator[tuple[tuple[str, ...], str]]:
    if len(programs) > MOST_PROGRAMS:
        yield (), f"{len(programs)} programs; at most {MOST_PROGRAMS} run beside a workload"
    for name, program in programs.items():
        if program.disks is not None:
            yield (name, "disks"), "the workload has all disks of the storage, and programs beside it have them, too; remove it"


_Beside: TypeAlias = Annotated[Programs, AfterValidator(_fit_beside)]

ADAPTER: TypeAdapter[dict[str, Beside]] = TypeAdapter(_Beside)
"""Checks the programs and gives their schema."""


@dataclass(frozen=True)
class Neighbours:
    """Programs, ready to run beside a workload of a machine."""

    programs: dict[str, Beside]

    def native(self) -> dict[str, Any]:
        """Return the programs with their defaults, as plain data: what points are told apart by."""
        return native_of(self.programs)

    def work(self) -> int:
        """Estimate the work of a run, in steps of storage."""
        return work_of(self.programs)

    def check(self, system: System) -> None:
        """Raise a `MisfitError` for what has no room, though the workload's pages took none, and for what cannot run or may have no end."""
        check_end(system, self.programs, {"the workload": None})
        first_blocks(system, sides_of(self.programs))
        for name, program in self.programs.items():
            if workload_of(program).processes and system.machine is not None and PART not in system.machine:
                machine = system.machine["name"]
                message = f"its records are worked on by a DBMS, and machine {machine} has no profile of one; name one as `{PART}`"
                raise MisfitError("kernel", message, (name,))

    def run(self, system: System, first_block: int, run: Callable[[MeteredVolume], T]) -> tuple[T, Columns]:
        """Run each alone and then all beside ``run``, whose data lie before ``first_block``, as `around` says.

        Returns what it returned, and columns of each program. Raises UserError for what does not fit, or gets nothing done.
        """
        sides = sides_of(self.programs)
        found, outcomes = around(system, sides, first_block, run)
        return found, columns_of(outcomes, sides)


def resolve_beside(settings: Iterable[Setting], start: Place, system: System) -> tuple[Neighbours | None, Sourced | None]:
    """Lay the settings below ``beside`` over each other and check the result; returns it with its text. ``start`` is where blame begins.

    Returns nothing, if there are no programs. What is set of a program where there is none, as ``beside`` is null, lies idle;
    it is refused if that is so in all rows.

    Raises UserError with the place of each mistake, and of what cannot run on the system.
    """
    source = laid_on(settings, BESIDE, start)
    if not source.data:
        return None, None
    found = Neighbours(validate(ADAPTER, source))
    try:
        found.check(system)
    except MisfitError as error:
        raise source.error((*error.within, error.parameter), str(error)) from None
    except UserError as error:
        raise source.error((), str(error)) from None
    return found, source
