"""Points, each of which is one simulation, and the rows of a result table that ask for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memwalk.analysis.experiments.beside import BESIDE, Neighbours
from memwalk.analysis.experiments.canonical import digest
from memwalk.analysis.experiments.provenance import Provenance, provenance
from memwalk.analysis.experiments.simulation import Observation, StorageRun
from memwalk.analysis.experiments.storage import storage_columns
from memwalk.analysis.storage_workloads import StorageKernel
from memwalk.simcore.dbms import PART
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.system import System
from memwalk.simcore.yaml_source import Sourced, lookup


@dataclass(frozen=True)
class Point:
    """One simulation: a resolved machine, a resolved workload, and what is observed. Equal points are simulated once.

    An experiment that names a storage has a resolved storage system, and a workload that runs there a machine only if its
    processor's time counts. ``id`` is the first 16 hexadecimal digits of the SHA-256 of what is not empty of them, as canonical JSON.
    """

    id: str
    machine: dict[str, Any] = field(compare=False, repr=False)
    """Empty if none is needed."""
    workload: dict[str, Any] = field(compare=False, repr=False)
    observe: tuple[Observation, ...] = field(default=(), compare=False)
    storage: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The system that the workload runs on, or has its pages from; empty if there is none."""
    beside: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Who runs on that system, or on the machine, beside the workload, by name; empty if there are none."""
    run: StorageRun | None = field(default=None, compare=False, repr=False)
    """What simulates the storage; a point that was read from a file does not have it."""
    neighbours: Neighbours | None = field(default=None, compare=False, repr=False)
    """What `beside` is; a point that was read from a file does not have it."""

    @classmethod
    def of(
        cls,
        machine: dict[str, Any],
        workload: dict[str, Any],
        observe: Sequence[Observation] = (),
        *,
        storage: dict[str, Any] | None = None,
        beside: dict[str, Any] | None = None,
        run: StorageRun | None = None,
        neighbours: Neighbours | None = None,
    ) -> "Point":
        """Make the point and its id."""
        point = cls("", machine, workload, tuple(observe), storage or {}, beside or {}, run, neighbours)
        return replace(point, id=digest(point._asked())[:16])

    @classmethod
    def on_storage(cls, kernel: StorageKernel, system: System) -> "Point":
        """Make the point of a workload that runs on storage."""
        return cls.of(system.machine or {}, kernel.native(), storage=system.native(), run=StorageRun(kernel, system))

    @classmethod
    def on_machine(
        cls,
        machine: dict[str, Any],
        workload: dict[str, Any],
        observe: Sequence[Observation] = (),
        *,
        system: System | None = None,
        neighbours: Neighbours | None = None,
    ) -> "Point":
        """Make the point of a workload that runs on a machine, and has its pages from ``system`` if there is one, beside ``neighbours``."""
        beside = {} if neighbours is None else neighbours.native()
        storage, run = ({}, None) if system is None else (system.native(), StorageRun(None, system))
        return cls.of(machine, workload, observe, storage=storage, beside=beside, run=run, neighbours=neighbours)

    def provenance(self) -> Provenance:
        """Say what code simulates the point in this process."""
        return provenance(alone=not self.storage and not self.beside)

    def content(self) -> dict[str, Any]:
        """Return the point as its file has it."""
        return {"point": self.id} | self._asked()

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Point":
        """Take a point out of what `content` returned. Raises KeyError for something else."""
        machine, observe = content.get("machine", {}), content.get("observe", ())
        return cls.of(machine, content["workload"], observe, storage=content.get("storage"), beside=content.get(BESIDE))

    def _asked(self) -> dict[str, Any]:
        """Say what is simulated; what is empty leaves no trace."""
        asked = {"machine": self.machine, "workload": self.workload, "observe": list(self.observe), "storage": self.storage}
        asked |= {BESIDE: self.beside}
        return {part: value for part, value in asked.items() if value}


Finished = tuple[Point, native.Statistics]
"""A point and what its simulation gave."""


@dataclass(frozen=True)
class Row:
    """One row of a result table: which point stands in it, and why."""

    experiment: str
    variant: str
    """The variant's name; empty if the experiment has none."""
    parameters: dict[str, Any]
    """Values by dotted path: names of machine and storage, all of the workload, and what the experiment sets in machine and devices."""
    point: Point
    asked: str = ""
    """Digest of what the experiment says for this row, as written: names of files, not what stands in them."""
    workload_source: Sourced | None = field(default=None, compare=False, repr=False)
    """The workload as written, with its places: what is refused when it runs is told there."""
    machine_source: Sourced | None = field(default=None, compare=False, repr=False)
    """The same of the machine; None if there is none."""
    beside_source: Sourced | None = field(default=None, compare=False, repr=False)
    """The same of programs beside the workload; None if there are none."""


def refuse_storage(points: Iterable[Point], what: str) -> None:
    """Raise UserError if a workload runs on storage: it has no memory accesses, which ``what`` needs."""
    for point in points:
        if point.run is not None and point.run.kernel is not None:
            raise UserError(f"{what}: kernel {point.workload['kernel']} runs on storage and has no memory accesses; `memwalk run` runs it")


def distinct_points(rows: Iterable[Row]) -> list[Point]:
    """Return the points of the rows, each once, in order of first appearance."""
    return list({row.point.id: row.point for row in rows}.values())


def config_hash(rows: Iterable[Row]) -> str:
    """Identify what a set of rows stands for, down to the last number in the files that it names."""
    return digest([[row.experiment, row.variant, row.parameters, row.point.id] for row in rows])


def asked_hash(rows: Iterable[Row]) -> str:
    """Identify what a set of rows asks for, as experiments say it: the same when a machine's or a device's file has changed."""
    return digest([[row.experiment, row.variant, row.asked or row.parameters] for row in rows])


def parameters_of(point: Point, machine_routes: Iterable[str] = ()) -> dict[str, Any]:
    """List a point's parameters by dotted path: the machine's name, what is asked for of it, all of the workload, the storage."""
    found: dict[str, Any] = {}
    if point.machine:
        found["machine.name"] = point.machine["name"]
        if PART in point.machine:
            found["machine.dbms.name"] = point.machine[PART]["name"]
        for path in machine_routes:
            found |= _leaves(lookup(point.machine, path.removeprefix("machine.")), path)
    found |= _leaves(point.workload, "workload") | _leaves(point.beside, BESIDE)
    return found | storage_columns(point.storage) if point.storage else found


def _leaves(data: Any, path: str) -> dict[str, Any]:
    """Flattens plain data to its scalars, keyed by dotted path."""
    if isinstance(data, dict):
        items: Iterable[tuple[Any, Any]] = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    else:
        return {path: data}
    return {leaf: value for key, part in items for leaf, value in _leaves(part, f"{path}.{key}").items()}


def varying_parameters(rows: Sequence[Row]) -> list[str]:
    """List the parameters in which the rows differ, in the order of their first appearance."""
    names = dict.fromkeys(name for row in rows for name in row.parameters)
    return [name for name in names if len({str(row.parameters.get(name)) for row in rows}) > 1]
