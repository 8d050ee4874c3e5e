"""Overrides by dotted path, and the axes that a grid spans."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from memwalk.analysis.experiments.beside import BESIDE
from memwalk.analysis.experiments.layers import MACHINE, covers, refuse_covered, wholes_first, within
from memwalk.analysis.experiments.parameters import kernels
from memwalk.analysis.experiments.schema import FULL_SCALE, Experiment, scale_settings
from memwalk.analysis.experiments.schema_paths import takes_list, unknown, words
from memwalk.analysis.experiments.storage import STORAGE
from memwalk.simcore.config_files import from_here
from memwalk.simcore.dbms import PART
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting, is_in_words
from memwalk.simcore.yaml_source import Place, Route, Sourced, dotted, parse_value

_ROOTS = ("machine", "dbms", "storage", BESIDE, "workload")
"""The parts of an experiment, below which paths of parameters begin."""

_NAMING_CONFIGS: tuple[Route, ...] = (MACHINE, (PART,), (STORAGE,), (STORAGE, "device"))
"""Where names or paths of machines, DBMS profiles and devices stand."""

MACHINES = "machines"
"""Where an experiment names several machines: an axis of its grid, the slowest."""

Axis: TypeAlias = tuple[Setting, ...]
"""What a path takes in turn, at least one value."""


@dataclass(frozen=True)
class Plan:
    """Everything an experiment varies once scale and overrides are settled, in the order in which it is laid on."""

    base: tuple[Setting, ...]
    scale: tuple[Setting, ...]
    variants: Mapping[str, tuple[Setting, ...]]
    axes: tuple[Axis, ...]
    """One tuple of alternatives per axis: grid first, then repetitions; the last axis runs fastest."""
    pinned: tuple[Setting, ...]

    def everything(self) -> list[Setting]:
        """List all that the experiment sets anywhere."""
        everything = [*self.base, *self.scale, *(one for bundle in self.variants.values() for one in bundle)]
        return [*everything, *(one for axis in self.axes for one in axis), *self.pinned]

    def layers(self, variant: Sequence[Setting], choice: Sequence[Setting]) -> tuple[Sequence[Setting], ...]:
        """List what is laid on in one row, of which a variant and a choice from the axes are given.

        Overrides are of one layer with the axes: some of these may be theirs.
        """
        return self.base, self.scale, variant, wholes_first((*choice, *self.pinned))

    def machine_routes(self) -> list[str]:
        """List every dotted path below ``machine.`` that the experiment sets, in order of appearance."""
        set_ = [setting.route for setting in self.everything() if setting.route[0] == "machine" and len(setting.route) > 1]
        return list(dict.fromkeys(".".join(map(str, route)) for route in set_))


def parse_set(text: str) -> Setting:
    """Read a ``--set a.b=value`` option; the value is YAML, and files that it names lie where the user is, not where the experiment is.

    Raises UserError.
    """
    path, equals, value = text.partition("=")
    place = Place(f"--set {text}")
    if not equals:
        raise UserError(f"{place}: no `=`; write for example --set workload.keys=100000")
    setting = _setting(path.strip(), parse_value(value, place), place)
    return Setting(setting.route, Sourced(_files_from_here(setting.route, setting.value.data), setting.value.spots))


def parse_sets(texts: Iterable[str]) -> list[Setting]:
    """Read all ``--set`` options of a command. Raises UserError for a path that two of them set: one would have no effect."""
    settings: dict[Route, Setting] = {}
    for setting in map(parse_set, texts):
        before = settings.setdefault(setting.route, setting)
        if before is not setting:
            first = before.value.spot(()).value
            raise setting.value.error((), f"{dotted(setting.route)} is set twice, by {first}, too; keep one of them")
    return list(settings.values())


def _files_from_here(route: Route, data: Any) -> Any:
    """Make relative paths of files absolute in what is set at a route."""
    if isinstance(data, dict):
        return {key: _files_from_here((*route, key), value) for key, value in data.items()}
    if isinstance(data, list):
        return [_files_from_here(route, value) for value in data]
    if not isinstance(data, str):
        return data
    if route in _NAMING_CONFIGS:
        return from_here(data)
    return str(Path(data).absolute()) if len(route) > 1 and route[0] in ("workload", BESIDE) and route[-1] in _naming_page_files() else data


@cache
def _naming_page_files() -> frozenset[str]:
    """Return the parameters of workloads that name page files."""
    return frozenset(one.name for kernel in kernels().values() for one in kernel.parameters if one.is_file)


def plan(experiment: Experiment, scale: str, overrides: Sequence[Setting], machine: Setting | None = None) -> Plan:
    """Settle what varies: a list in a scale or override replaces or adds an axis, anything else fixes a value.

    Of a parameter that is a list itself, a list is one value, and a list of lists, or of words that may stand in their place, is an axis.
    In a grid, which has a list of values for every path, such a value is a list in the list.
    ``machine`` takes the place of the experiment's machine, with all that varies in it but by overrides.
    All scales are checked, whichever is asked for. Raises UserError with the place of each mistake.
    """
    source = experiment.source
    scales = {name: _scale(experiment, name) for name in dict.fromkeys([scale, FULL_SCALE, *experiment.body.scales])}
    base = [Setting((part,), source.below((part,))) for part in ("storage", BESIDE, "workload") if part in source.data]
    variants = {name: tuple(wholes_first(_bundle(source.below(("variants", name))))) for name in experiment.body.variants}
    grid = [setting for part in ("grid", "repetitions") for setting in _part(source, part)]
    if MACHINES in source.data:
        grid.insert(0, Setting(MACHINE, source.below((MACHINES,))))
    kernels = _kernels([*base, *grid, *overrides, *(one for bundle in (*variants.values(), *scales.values()) for one in bundle)])
    axes = [_alternatives(setting, kernels) for setting in grid]
    scaled = {name: _lay_over(axes, settings, kernels) for name, settings in scales.items()}
    for name, (fixed, varied) in scaled.items():
        refuse_covered([(*fixed, *bundle) for bundle in variants.values() or [()]], varied, source.spot(()).value.file)
        _refuse_unknown(scales[name], kernels)
    fixed, varied = scaled[scale]
    pinned, varied = _lay_over(varied, overrides, kernels)
    if machine is not None:
        asked = {setting.route for setting in overrides}
        pinned, varied = [*pinned, machine], [axis for axis in varied if axis[0].route[:1] != MACHINE or axis[0].route in asked]
    return Plan(tuple(base), tuple(fixed), variants, tuple(varied), tuple(pinned))


def _scale(experiment: Experiment, name: str) -> list[Setting]:
    found = scale_settings(experiment, name)
    return [] if found is None else wholes_first(_bundle(found))


def _kernels(settings: Iterable[Setting]) -> set[str]:
    """Collect the kernels that settings name."""
    found: list[Any] = []
    for setting in settings:
        values = setting.value.data if isinstance(setting.value.data, list) else [setting.value.data]
        if setting.route == ("workload",):
            found += [value.get("kernel") for value in values if isinstance(value, dict)]
        elif setting.route == ("workload", "kernel"):
            found += values
    return {kernel for kernel in found if isinstance(kernel, str)}


def _lay_over(axes: Iterable[Axis], settings: Iterable[Setting], kernels: set[str]) -> tuple[list[Setting], list[Axis]]:
    """Give what a scale or overrides fix, and the axes then: those that they cover are gone. Of two settings of a path the later counts."""
    last = {setting.route: setting for setting in settings}
    own = {route: _alternatives(setting, kernels) for route, setting in last.items() if _is_axis(setting, kernels)}
    varied = [own.pop(axis[0].route, axis) for axis in axes if axis[0].route in own or not any(covers(one, axis[0].route) for one in last)]
    return [setting for route, setting in last.items() if not _is_axis(setting, kernels)], [*varied, *own.values()]


def _refuse_unknown(settings: Iterable[Setting], kernels: set[str]) -> None:
    """Raise UserError for what is no parameter of anything."""
    for setting in (one for each in settings for one in (_alternatives(each, kernels) if _is_axis(each, kernels) else (each,))):
        for inner in within(setting.value.data):
            if message := unknown((*setting.route, *inner), kernels):
                raise setting.value.error(inner, message, at_key=True)


def _is_axis(setting: Setting, kernels: set[str]) -> bool:
    values = setting.value.data
    if not isinstance(values, list) or not takes_list(setting.route, kernels):
        return isinstance(values, list)
    alone = words(setting.route, kernels)
    return bool(values) and all(isinstance(value, list) or value in alone for value in values)


def _alternatives(setting: Setting, kernels: set[str]) -> Axis:
    values, path = setting.value.data, dotted(setting.route)
    is_list = takes_list(setting.route, kernels)
    if not values:
        remedy = "its values are lists: write [[]] for the empty one" if is_list else "give at least one"
        raise setting.value.error((), f"{path} has no values; {remedy}")
    if len(values) > 1 and setting.route[:1] == MACHINE and is_in_words(setting.route[1:]):
        raise setting.value.error((), f"{path} is only to be read: rows could not be told apart by it; give one value, or remove it")
    alone = words(setting.route, kernels)
    for index, value in enumerate(values if is_list else ()):
        if not isinstance(value, list) and value not in alone:
            either, example = (f"{', '.join(alone)} or lists", alone[0]) if alone else ("lists", "[...]")
            raise setting.value.error((index,), f"{path} takes {either}, so each of its values is one; write [{example}, [...]]")
    seen: set[str] = set()
    for index, value in enumerate(values):
        if repr(value) in seen:
            raise setting.value.error((index,), f"{path} has `{value}` twice; keep one")
        seen.add(repr(value))  # as text: 1 and true are two
    return tuple(Setting(setting.route, setting.value.below((index,))) for index in range(len(values)))


def _part(source: Sourced, part: str) -> Iterable[Setting]:
    return _bundle(source.below((part,))) if part in source.data else ()


def _bundle(source: Sourced) -> tuple[Setting, ...]:
    return tuple(_setting(key, source.below((key,)), source.spot((key,)).key) for key in source.data)


def _setting(path: str, value: Sourced, place: Place) -> Setting:
    route = tuple(path.split("."))
    if route[0] not in _ROOTS or not all(route):
        examples = "workload.keys or machine.memory.latency_cycles"
        raise UserError(f"{place}: `{path}` is no path below machine or workload (or storage, or {BESIDE}), such as {examples}")
    if route[0] == "dbms" and len(route) > 1:
        raise UserError(f"{place}: dbms names a profile as a whole; write machine.{path}")
    return Setting(route, value)
