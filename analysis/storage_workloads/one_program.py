"""What kernels have in common whose run is one program: it is placed on a volume, and runs alone or beside others."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.validation import StrictModel
from memwalk.traces.storage import Client

Columns: TypeAlias = dict[str, float | int]
"""Columns of a result table, names with units."""


class Begun(NamedTuple):
    """A program that is ready to run once."""

    clients: Sequence[Client]
    columns: Callable[[Mapping[str, Period]], Columns]
    """Makes result columns of its periods. Raises UserError if they say nothing."""


@dataclass(frozen=True)
class Placed:
    """A workload with its data on a volume."""

    end_block: int
    """The first block behind its data."""
    prepare: Callable[[System], Callable[[], Begun]]
    """Simulates the processor's part of the work on the system's machine, if it has one; what it returns begins the program anew."""


class OneProgram(StrictModel, ABC):
    """A kernel whose run is one program."""

    throughput: ClassVar[str | None] = None
    """Column of what is done in a time, for programs that have no end of their own; None for those that are done when they are."""
    processes: ClassVar[bool] = False
    """As `StorageKernel` says."""
    traffic: ClassVar[TrafficOf] = always()
    """As `StorageKernel` says."""
    has_data: ClassVar[bool] = True
    """Whether it has data, which lie behind those of programs before it; one without goes where its fields say."""

    def native(self) -> dict[str, Any]:
        """Return the workload's values, as `StorageKernel` says, without what depends on others where nothing is said."""
        return self.model_dump(exclude_none=True)

    @abstractmethod
    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""

    @property
    def warm_up_ps(self) -> int:
        """Time before the throughput is measured of a program that has no end."""
        return 0

    def warmed_up_for(self, warm_up_ps: int) -> "OneProgram":
        """Return the same with another time before its throughput is measured. Raises NotImplementedError if it has an end."""
        raise NotImplementedError(f"{type(self).__name__} has an end and warms up for no time")

    @abstractmethod
    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Place its data on a volume, from ``first_block`` on; programs without data stay where their fields say.

        Raises UserError if they do not fit, or the layout not to the volume; a `MisfitError` where one parameter is to blame.
        """

    def check(self, system: System) -> None:
        """Raise UserError for what the volume has no room for, as `Checked` says."""
        self.place(system.layout())

    def run(self, system: System) -> Columns:
        """Run on ``system``, as `StorageKernel` says. Raises UserError as `place` does, or if the run says nothing."""
        return alone(system, self.place(system.layout()).prepare(system)())


def alone(system: System, program: Begun) -> Columns:
    """Run a program that nothing else runs beside; returns its columns."""
    return program.columns(run(system, program.clients))
