"""From an experiment to its points: what is simulated, and the rows of the result table that ask for it."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from analysis.experiments.schema import FULL_SCALE, Experiment, scale_settings
from analysis.experiments.settings import Plan, plan
from analysis.experiments.simulation import Observation
from analysis.experiments.workload import Index, PointerArray, PointerChase, Table, Tpch, Workload
from simcore.config_files import ConfigNotFoundError
from simcore.dbms import PART
from simcore.engines import native
from simcore.machine import Machine, MachineLayers, Setting, build_machine, read_machine, spec_error
from simcore.storage import DeviceFile, load_device
from simcore.validation import validate
from simcore.yaml_source import Place, Sourced, lookup


@dataclass(frozen=True)
class Point:
    """One simulation: a resolved machine, a resolved workload, and what is observed. Equal points are simulated once.

    ``id`` is the first 16 hexadecimal digits of the SHA-256 of what is not empty of them, as canonical JSON.
    """

    id: str
    machine: dict[str, Any] = field(compare=False, repr=False)
    workload: dict[str, Any] = field(compare=False, repr=False)
    observe: tuple[Observation, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, machine: dict[str, Any], workload: dict[str, Any], observe: Sequence[Observation] = ()) -> "Point":
        """Make the point and its id."""
        asked = {"machine": machine, "workload": workload} | ({"observe": list(observe)} if observe else {})
        return cls(digest(asked)[:16], machine, workload, tuple(observe))

    def content(self) -> dict[str, Any]:
        """Return the point as its file has it."""
        whole = {"point": self.id, "machine": self.machine, "workload": self.workload}
        return whole | ({"observe": list(self.observe)} if self.observe else {})

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Point":
        """Take a point out of what `content` returned. Raises KeyError for something else."""
        return cls.of(content["machine"], content["workload"], content.get("observe", ()))


Finished = tuple[Point, native.Statistics]
"""A point and what its simulation gave."""


@dataclass(frozen=True)
class Row:
    """One row of a result table: which point stands in it, and why."""

    experiment: str
    variant: str
    """The variant's name; empty if the experiment has none."""
    parameters: dict[str, Any]
    """Values by dotted path: the machine's name, all of the workload, and what the experiment sets in the machine."""
    point: Point
    storage: DeviceFile | None = None
    """The device whose time is added to the point's."""


def canonical(value: Any) -> str:
    """Write plain data as JSON in the one form that is hashed: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def expand(experiment: Experiment, scale: str = FULL_SCALE, overrides: Sequence[Setting] = ()) -> list[Row]:
    """List an experiment's rows: variants x grid x repetitions, the last path fastest.

    Values are laid on in this order: base, scale, variant, grid, repetitions, overrides (``--set``).
    Every machine and workload is checked here, before anything runs. Raises UserError with the place of each mistake.
    """
    return list(_Expansion(experiment, plan(experiment, scale_settings(experiment, scale), overrides)).rows())


def distinct_points(rows: Iterable[Row]) -> list[Point]:
    """Return the points of the rows, each once, in order of first appearance."""
    return list({row.point.id: row.point for row in rows}.values())


def config_hash(rows: Iterable[Row]) -> str:
    """Identify what a set of rows asks for: a results folder belongs to one such hash."""
    return digest([[row.experiment, row.variant, row.parameters, row.point.id] for row in rows])


_WORKLOAD: TypeAdapter[Index | PointerArray | PointerChase | Table | Tpch] = TypeAdapter(Workload)


class _Expansion:
    """Resolves the rows of one experiment; reads each machine file once and checks each distinct machine once."""

    def __init__(self, experiment: Experiment, settled: Plan) -> None:
        self.experiment = experiment
        self.start = experiment.source.spot(()).value
        self.plan = settled
        self.machine_routes = settled.machine_routes()
        self.layers: dict[str, MachineLayers] = {}
        self.machines: dict[str, Machine] = {}
        self.storage = self._storage()

    def rows(self) -> Iterator[Row]:
        bundles = self.plan.variants or {"": ()}
        for variant, bundle in bundles.items():
            for choice in itertools.product(*self.plan.axes):
                settings = (*self.plan.base, *bundle, *choice, *self.plan.pinned)
                machine = self.machine(settings)
                point = Point.of(machine.native_json(), resolve_workload(settings, self.start), self.experiment.body.observe)
                parameters = parameters_of(point, self.machine_routes)
                if self.storage is not None:
                    parameters |= {"storage.device": self.storage.name} | {
                        f"storage.{name}": value for name, value in self.storage.facts().items()
                    }
                yield Row(self.experiment.name, variant, parameters, point, self.storage)

    def _storage(self) -> DeviceFile | None:
        name = self.experiment.body.storage
        if name is None:
            return None
        try:
            return load_device(name, self.experiment.folder)
        except ConfigNotFoundError as error:
            raise self.experiment.source.error(("storage",), str(error)) from None

    def machine(self, settings: Sequence[Setting]) -> Machine:
        machine, dbms = (self._named(part, settings) for part in ("machine", PART))
        overrides = [Setting(one.route[1:], one.value) for one in settings if one.route[0] == "machine" and len(one.route) > 1]
        assert machine is not None, "an experiment names a machine"
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


def resolve_workload(settings: Iterable[Setting], start: Place) -> dict[str, Any]:
    """Lays the settings below ``workload`` over each other and checks the result; ``start`` is where blame begins.

    Returns the workload as the kernels take it. Raises UserError with the place of each mistake.
    """
    source = Sourced.uniform({}, start)
    for setting in settings:
        if setting.route[0] == "workload":
            source = setting.value if len(setting.route) == 1 else source.replaced(setting.route[1:], setting.value)
    resolved = validate(_WORKLOAD, source).native()
    try:
        native.check_workload(resolved)
    except native.SpecError as error:
        raise spec_error(error, source) from None
    return resolved


def parameters_of(point: Point, machine_routes: Iterable[str] = ()) -> dict[str, Any]:
    """List a point's parameters by dotted path: the machine's name, what is asked for of it, all of the workload."""
    found: dict[str, Any] = {"machine.name": point.machine["name"]}
    if PART in point.machine:
        found["machine.dbms.name"] = point.machine[PART]["name"]
    for path in machine_routes:
        found |= _leaves(lookup(point.machine, path.removeprefix("machine.")), path)
    return found | _leaves(point.workload, "workload")


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
