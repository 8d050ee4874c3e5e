"""Overrides by dotted path, and the axes that a grid spans."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memwalk.analysis.experiments.beside import BESIDE
from memwalk.analysis.experiments.list_parameters import takes_list, words
from memwalk.analysis.experiments.schema import Experiment
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import Place, Route, Sourced, dotted, parse_value

_ROOTS = ("machine", "dbms", "storage", BESIDE, "workload")
"""The parts of an experiment, below which paths of parameters begin."""

_MACHINE = ("machine",)
MACHINES = "machines"
"""Where an experiment names several machines: an axis of its grid, the slowest."""


@dataclass(frozen=True)
class Plan:
    """Everything an experiment varies once scale and overrides are settled, in the order in which it is laid on."""

    base: tuple[Setting, ...]
    scale: tuple[Setting, ...]
    variants: Mapping[str, tuple[Setting, ...]]
    axes: tuple[tuple[Setting, ...], ...]
    """One tuple of alternatives per axis: grid first, then repetitions; the last axis runs fastest."""
    pinned: tuple[Setting, ...]

    def everything(self) -> list[Setting]:
        """List all that the experiment sets anywhere."""
        everything = [*self.base, *self.scale, *(one for bundle in self.variants.values() for one in bundle)]
        return [*everything, *(one for axis in self.axes for one in axis), *self.pinned]

    def layers(self, variant: Sequence[Setting], choice: Sequence[Setting]) -> tuple[Sequence[Setting], ...]:
        """List what is laid on in one row, of which a variant and a choice from the axes are given.

        Overrides are of one layer with the axes: some may be theirs, and what these vary is laid on before them.
        """
        varied = [one for one in self.pinned if any(_is_in(axis[0].route, one.route) for axis in self.axes)]
        return self.base, self.scale, variant, (*varied, *choice, *(one for one in self.pinned if one not in varied))

    def machine_routes(self) -> list[str]:
        """List every dotted path below ``machine.`` that the experiment sets, in order of appearance."""
        set_ = [setting.route for setting in self.everything() if setting.route[0] == "machine" and len(setting.route) > 1]
        return list(dict.fromkeys(".".join(map(str, route)) for route in set_))


def not_taken_away(layers: Iterable[Sequence[Setting]]) -> list[Setting]:
    """List the settings of layers without those in whose place a later layer puts null, or an empty map: that is what these are for."""
    left: list[Setting] = []
    for layer in layers:
        empty = {setting.route for setting in layer if setting.value.data in (None, {})}
        left = [one for one in left if not any(_is_in(one.route, route) for route in empty)]
        left += layer
    return left


def parse_set(text: str) -> Setting:
    """Read a ``--set a.b=value`` option; the value is YAML. Raises UserError."""
    path, equals, value = text.partition("=")
    place = Place(f"--set {text}")
    if not equals:
        raise UserError(f"{place}: no `=`; write for example --set workload.keys=100000")
    return _setting(path.strip(), parse_value(value, place), place)


def plan(experiment: Experiment, scale: Sourced | None, overrides: Sequence[Setting]) -> Plan:
    """Settle what varies: a list in a scale or override replaces or adds an axis, anything else fixes a value.

    Of a parameter that is a list itself, a list is one value, and a list of lists, or of words that may stand in their place, is an axis.
    In a grid, which has a list of values for every path, such a value is a list in the list.
    Raises UserError with the place of each mistake.
    """
    source = experiment.source
    kernels = _kernels(experiment, overrides)
    base = [Setting((part,), source.below((part,))) for part in ("storage", BESIDE, "workload") if part in source.data]
    variants = {name: _bundle(source.below(("variants", name))) for name in experiment.body.variants}
    grid = [setting for part in ("grid", "repetitions") for setting in _part(source, part)]
    if MACHINES in source.data:
        grid.insert(0, Setting(_MACHINE, source.below((MACHINES,))))
    axes = {setting.route: _alternatives(setting, kernels) for setting in grid}
    for name, bundle in variants.items():
        for setting in bundle:
            if setting.route in axes:
                path = ".".join(map(str, setting.route))
                raise setting.value.error((), f"variant {name} sets {path}, which the grid varies too; keep one of them")
    scaled: list[Setting] = []
    for setting in _bundle(scale) if scale else ():
        _fix(setting, axes, scaled, kernels)
    pinned: list[Setting] = []
    for setting in overrides:
        _fix(setting, axes, pinned, kernels)
    return Plan(tuple(base), tuple(scaled), variants, tuple(axes.values()), tuple(pinned))


def _kernels(experiment: Experiment, overrides: Sequence[Setting]) -> set[str]:
    """Collect the kernels that an experiment names anywhere."""
    body = experiment.body
    whole = [body.workload, *(bundle["workload"] for bundle in body.variants.values() if "workload" in bundle)]
    choices = [workload.get("kernel") for workload in whole if isinstance(workload, dict)]
    choices += [bundle.get("workload.kernel") for bundle in body.variants.values()]
    choices += body.grid.get("workload.kernel", [])
    choices += [setting.value.data for setting in overrides if setting.route == ("workload", "kernel")]
    return {choice for choice in choices if isinstance(choice, str)}


def _fix(setting: Setting, axes: dict[Route, tuple[Setting, ...]], fixed: list[Setting], kernels: set[str]) -> None:
    if _is_axis(setting, kernels):
        axes[setting.route] = _alternatives(setting, kernels)
        return
    for route in [route for route in axes if _is_in(route, setting.route)]:
        del axes[route]
    fixed.append(setting)


def _is_in(route: Route, whole: Route) -> bool:
    return route[: len(whole)] == whole


def _is_axis(setting: Setting, kernels: set[str]) -> bool:
    values = setting.value.data
    if not isinstance(values, list) or not takes_list(setting.route, kernels):
        return isinstance(values, list)
    alone = words(setting.route, kernels)
    return bool(values) and all(isinstance(value, list) or value in alone for value in values)


def _alternatives(setting: Setting, kernels: set[str]) -> tuple[Setting, ...]:
    values, path = setting.value.data, dotted(setting.route)
    is_list = takes_list(setting.route, kernels)
    if not values:
        remedy = "its values are lists: write [[]] for the empty one" if is_list else "give at least one"
        raise setting.value.error((), f"{path} has no values; {remedy}")
    alone = words(setting.route, kernels)
    for index, value in enumerate(values if is_list else ()):
        if not isinstance(value, list) and value not in alone:
            either, example = (f"{', '.join(alone)} or lists", alone[0]) if alone else ("lists", "[...]")
            raise setting.value.error((index,), f"{path} takes {either}, so each of its values is one; write [{example}, [...]]")
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
