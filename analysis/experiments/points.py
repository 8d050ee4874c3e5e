"""From an experiment to its points: what is simulated, and the rows of the result table that ask for it."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memwalk.analysis.experiments.beside import BESIDE, Neighbours, ResolvedBeside, check_beside, resolve_beside
from memwalk.analysis.experiments.effect import Effects, Run, unmet_need_of_storage
from memwalk.analysis.experiments.layers import not_taken_away
from memwalk.analysis.experiments.provenance import Provenance, provenance
from memwalk.analysis.experiments.resolve import Resolved, resolve_workload
from memwalk.analysis.experiments.schema import FULL_SCALE, Experiment
from memwalk.analysis.experiments.settings import Plan, plan
from memwalk.analysis.experiments.simulation import Observation, StorageRun
from memwalk.analysis.experiments.storage import Systems, parameter_paths, storage_columns
from memwalk.analysis.storage_workloads import Checked, StorageKernel
from memwalk.analysis.storage_workloads.commands import MisfitError
from memwalk.simcore.config_files import ConfigNotFoundError
from memwalk.simcore.dbms import PART
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, MachineLayers, Setting, build_machine, read_machine
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
    """Programs, and workloads of machines, that run on that system beside the workload, by name; empty if there are none."""
    run: StorageRun | None = field(default=None, compare=False, repr=False)
    """What simulates the storage; a point that was read from a file does not have it."""

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
    ) -> "Point":
        """Make the point and its id."""
        point = cls("", machine, workload, tuple(observe), storage or {}, beside or {}, run)
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
        if system is None:
            return cls.of(machine, workload, observe)
        beside = {} if neighbours is None else neighbours.native()
        run = StorageRun(None, system, neighbours)
        return cls.of(machine, workload, observe, storage=system.native(), beside=beside, run=run)

    def provenance(self) -> Provenance:
        """Say what code simulates the point in this process."""
        return provenance(storage=bool(self.storage))

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


def canonical(value: Any) -> str:
    """Write plain data as JSON in the one form that is hashed: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def expand(
    experiment: Experiment,
    scale: str = FULL_SCALE,
    overrides: Sequence[Setting] = (),
    heard: Callable[[int, int], None] | None = None,
    machine: Setting | None = None,
) -> list[Row]:
    """List an experiment's rows: variants x grid x repetitions, the last path fastest. ``heard`` is told how many of how many there are.

    Values are laid on in this order: base, scale, variant, grid, repetitions, overrides (``--set``); of what varies, wholes before parts.
    ``machine`` takes the place of the experiment's machine, with all that varies in it.
    Every machine and workload is checked here, before anything runs, and what is set without effect on any row is refused. Raises
    UserError with the place of each mistake.
    """
    expansion = _Expansion(experiment, plan(experiment, scale, overrides, machine))
    rows = []
    for number in range(expansion.count):
        rows.append(expansion.row(number))
        if heard is not None:
            heard(len(rows), expansion.count)
    expansion.effects.check()
    return rows


def count_rows(experiment: Experiment, scale: str = FULL_SCALE, overrides: Sequence[Setting] = ()) -> int:
    """Say how many rows `expand` would list, at once. Raises UserError as `expand` does, but not for single rows."""
    return _Expansion(experiment, plan(experiment, scale, overrides)).count


def sample_rows(experiment: Experiment, scale: str, overrides: Sequence[Setting], most: int) -> list[Row]:
    """List some of an experiment's rows, at equal distances. What has an effect on none of them may have one on others: it is not refused.

    Raises UserError with the place of each mistake in these rows.
    """
    expansion = _Expansion(experiment, plan(experiment, scale, overrides))
    taken = min(most, expansion.count)
    return [expansion.row(number * expansion.count // taken) for number in range(taken)]


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


class _Expansion:
    """Resolves the rows of one experiment; reads each machine file once and checks each distinct machine once."""

    def __init__(self, experiment: Experiment, settled: Plan) -> None:
        self.experiment = experiment
        self.start = experiment.source.spot(()).value
        self.plan = settled
        self.bundles = list(settled.variants.items()) or [("", ())]
        self.machine_routes = settled.machine_routes()
        self.layers: dict[str, MachineLayers] = {}
        self.machines: dict[str, Machine] = {}
        self.effects = Effects(self.start.file)
        source = experiment.source
        self.profile = [Setting((PART,), source.below((PART,)))] if PART in source.data else []
        self.systems = Systems(experiment.folder, parameter_paths(settled.everything()))

    @property
    def count(self) -> int:
        """Rows there are."""
        return len(self.bundles) * math.prod(len(axis) for axis in self.plan.axes)

    def row(self, number: int) -> Row:
        """Resolve the row of a number, counted from 0; values of the last axis vary fastest."""
        choice: list[Setting] = []
        for axis in reversed(self.plan.axes):
            number, place = divmod(number, len(axis))
            choice.append(axis[place])
        variant, bundle = self.bundles[number]
        return self._resolved(variant, self.plan.layers(bundle, choice[::-1]))

    def _resolved(self, variant: str, layers: Sequence[Sequence[Setting]]) -> Row:
        settings = [setting for layer in layers for setting in layer]
        machine = self.machine(settings)
        workload = resolve_workload(settings, self.start, self.experiment.folder)
        system = self.systems.system(settings, None if machine is None else machine.native())
        run = _run(workload, machine, system)
        beside = None
        if workload.kernel is None and system is not None and unmet_need_of_storage(run) is None:
            beside = resolve_beside(settings, self.start, self.experiment.folder)
        if beside is not None and system is not None:
            check_beside(beside, system)
            _check_asking(beside, run)
            threads = max([run.threads, *(one.threads for one in beside.workloads.values())])
            run = replace(run, beside=beside.neighbours.native(), threads=threads)
        self.effects.see(not_taken_away((self.profile, *layers)), run)
        observe = self.experiment.body.observe
        if workload.kernel is None:
            if machine is None:
                raise self._missing("machine", workload.values)
            for one in (workload, *(() if beside is None else beside.workloads.values())):
                _check_cores(one, machine)
            neighbours = None if beside is None else beside.neighbours
            point = Point.on_machine(machine.native(), workload.values, observe, system=system, neighbours=neighbours)
        elif system is None:
            raise self._missing("storage", workload.values)
        elif observe:
            raise self.experiment.source.error(("observe",), "only what runs on a machine is observed; this workload runs on storage")
        else:
            self._check_room(workload, system)
            point = Point.on_storage(workload.kernel, system)
        parameters, written = parameters_of(point, self.machine_routes), None if machine is None else machine.source
        beside_source = None if beside is None else beside.source
        return Row(self.experiment.name, variant, parameters, point, self._asked(settings), workload.source, written, beside_source)

    def _check_room(self, workload: Resolved, system: System) -> None:
        """Raise UserError, where the workload says so, for what the system has no room for."""
        try:
            if isinstance(workload.kernel, Checked):
                workload.kernel.check(system)
        except MisfitError as error:
            raise workload.source.error((*error.within, error.parameter), str(error)) from None
        except UserError as error:
            raise workload.source.error((), str(error)) from None

    def _asked(self, settings: Sequence[Setting]) -> str:
        named = {part: self.experiment.source.data.get(part) for part in ("machine", PART, "observe")}
        return digest([named, [[setting.route, setting.value.data] for setting in settings]])

    def _missing(self, part: str, workload: dict[str, Any]) -> UserError:
        return self.experiment.source.error((), f"`{part}` is missing; a workload of kernel {workload['kernel']} runs on one", at_key=True)

    def machine(self, settings: Sequence[Setting]) -> Machine | None:
        machine, dbms = (self._named(part, settings) for part in ("machine", PART))
        overrides = [Setting(one.route[1:], one.value) for one in settings if one.route[0] == "machine" and len(one.route) > 1]
        if machine is None:
            if dbms is not None or overrides:
                unused = dbms or overrides[0].value
                raise unused.error((), "is for a machine, and the experiment has none; name one as `machine` or remove it")
            return None
        names = canonical([machine.data, dbms and dbms.data])
        key = canonical([names, [[setting.route, setting.value.data] for setting in overrides]])
        if key not in self.machines:
            if names not in self.layers:
                self.layers[names] = self._read(machine, dbms)
            self.machines[key] = build_machine(self.layers[names], overrides)
        return self.machines[key]

    def _named(self, part: str, settings: Sequence[Setting]) -> Sourced | None:
        """Return the name that the experiment and its settings give for a part, if they give one."""
        chosen = [setting.value for setting in settings if setting.route == (part,)]
        if not chosen and part in self.experiment.source.data:
            chosen = [self.experiment.source.below((part,))]
        if not chosen or (part == PART and chosen[-1].data is None):
            return None
        if not isinstance(chosen[-1].data, str):
            raise chosen[-1].error((), f"{part} is given by name or path, as text")
        return chosen[-1]

    def _read(self, machine: Sourced, dbms: Sourced | None) -> MachineLayers:
        """Read the files; one that is not there is a mistake of whoever named it."""
        folder = self.experiment.folder
        try:
            layers = read_machine(machine.data, folder)
        except ConfigNotFoundError as error:
            raise machine.error((), str(error)) from None
        if dbms is None:
            return layers
        try:
            return layers.with_dbms(dbms.data, folder)
        except ConfigNotFoundError as error:
            raise dbms.error((), str(error)) from None


def _run(workload: Resolved, machine: Machine | None, system: System | None) -> Run:
    on, storage = ({} if part is None else part.native() for part in (machine, system))
    return Run(workload.values, on, storage, threads=workload.threads)


def _check_asking(beside: ResolvedBeside, run: Run) -> None:
    """Raise UserError for workloads of machines beside a run that ask its storage for nothing."""
    for name, one in beside.workloads.items():
        if (unmet := unmet_need_of_storage(replace(run, workload=one.values, threads=one.threads))) is not None:
            raise one.source.error((), f"{name}: it asks `storage` for nothing, which is for {unmet}; remove it")


def _check_cores(workload: Resolved, machine: Machine) -> None:
    """Raise UserError for more threads than the machine has cores."""
    cores = machine.native().get("cores", 1)
    if workload.threads > cores:
        name = machine.native()["name"]
        remedy = f"set machine.cores: {workload.threads}, or take fewer threads"
        raise workload.source.error((), f"{workload.threads} threads need as many cores, but machine {name} has {cores}; {remedy}")


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
