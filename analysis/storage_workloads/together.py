"""Kernel `together`: several programs side by side on one storage, each with a name, and how much slower they are than alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import add
from statistics import fmean
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.analysis.storage_workloads.program_mix import (
    KERNEL,
    MOST_PROGRAMS,
    Programs,
    check_end,
    native_of,
    repeating,
    sides_of,
    work_of,
    workload_of,
)
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.analysis.storage_workloads.side_by_side import columns_of, first_blocks, side_by_side
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import StrictModel, mistake_at

TOGETHER = "together"
PROGRAMS = "programs"
"""The field that has the programs, by name."""


class Together(StrictModel):
    """Each alone first, and then all at once. Each has buffer pools and a processor of its own: they meet at the disks and at the bus.

    Their data lie one behind the other on a volume, in the order of their names for programs with the same disks. Programs of one kernel
    that have no data draw from seeds of their own, 1, 2 and so on, unless they say theirs.
    """

    processes: ClassVar[bool] = False
    traffic: ClassVar[TrafficOf] = always()

    kernel: Literal["together"]
    programs: Programs = Field(description="Programs by name, two at least")

    @model_validator(mode="after")
    def _fit_together(self) -> "Together":
        for route, message in self._mistakes():
            raise mistake_at((PROGRAMS, *route), message)
        return self

    def _mistakes(self) -> Iterator[tuple[tuple[str, ...], str]]:
        if not 2 <= len(self.programs) <= MOST_PROGRAMS:
            yield (), f"{len(self.programs)} programs; side by side run 2 to {MOST_PROGRAMS}, and one alone is a workload by itself"
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
        """Return the workload as `native_of` says."""
        return {KERNEL: self.kernel, PROGRAMS: native_of(self.programs)}

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return work_of(self.programs)

    def check(self, system: System) -> None:
        """Raise UserError for disks that there are not, for what may have no end, and for what has no room, as `Checked` says."""
        for name, program in self.programs.items():
            for disk in program.disks or ():
                if disk >= system.disks:
                    known = f"the storage has {system.disks}, numbered from 0"
                    raise MisfitError("disks", f"{name}: there is no disk {disk}; {known}", (PROGRAMS, name))
        ending = {name: one for name, one in self.programs.items() if not one.repeat and workload_of(one).throughput is None}
        with _told_by_program():
            check_end(system, repeating(self.programs), {name: program.disks for name, program in ending.items()})
            first_blocks(system, sides_of(self.programs))

    def run(self, system: System) -> Columns:
        """Return columns of each program, as `columns_of` says, and of all of them.

        ``seconds`` of all pass from when the first begins to when the last has ended. Raises UserError if something does not fit
        or gets nothing done.
        """
        with _told_by_program():
            outcomes = side_by_side(system, sides := sides_of(self.programs))
        return {
            "seconds": seconds(max(one.end_ps for one in outcomes.values()) - min(one.began_ps for one in outcomes.values())),
            "mean_slowdown": fmean(outcome.slowdown for outcome in outcomes.values()),
            **io_columns(reduce(add, (outcome.served for outcome in outcomes.values()))),
            **columns_of(outcomes, sides),
        }


@contextmanager
def _told_by_program() -> Iterator[None]:
    """Say of what does not fit where in the workload the program stands."""
    try:
        yield
    except MisfitError as error:
        raise MisfitError(error.parameter, str(error), (PROGRAMS, *error.within)) from None
