"""Overrides by dotted path, and the axes that a grid spans."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memwalk.analysis.experiments.schema import Experiment
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import Place, Sourced, parse_value

_ROOTS = ("machine", "dbms", "storage", "workload")


@dataclass(frozen=True)
class Plan:
    """Everything an experiment varies once scale and overrides are settled, in the order in which it is laid on."""

    base: tuple[Setting, ...]
    variants: Mapping[str, tuple[Setting, ...]]
    axes: tuple[tuple[Setting, ...], ...]
    """One tuple of alternatives per axis: grid first, then repetitions; the last axis runs fastest."""
    pinned: tuple[Setting, ...]

    def everything(self) -> list[Setting]:
        """List all that the experiment sets anywhere."""
        everything = [*self.base, *(one for bundle in self.variants.values() for one in bundle)]
        return [*everything, *(one for axis in self.axes for one in axis), *self.pinned]

    def machine_routes(self) -> list[str]:
        """List every dotted path below ``machine.`` that the experiment sets, in order of appearance."""
        set_ = [setting.route for setting in self.everything() if setting.route[0] == "machine" and len(setting.route) > 1]
        return list(dict.fromkeys(".".join(map(str, route)) for route in set_))


def parse_set(text: str) -> Setting:
    """Read a ``--set a.b=value`` option; the value is YAML. Raises UserError."""
    path, equals, value = text.partition("=")
    place = Place(f"--set {text}")
    if not equals:
        raise UserError(f"{place}: no `=`; write for example --set workload.keys=100000")
    return _setting(path.strip(), parse_value(value, place), place)


def plan(experiment: Experiment, scale: Sourced | None, overrides: Sequence[Setting]) -> Plan:
    """Settles what varies: a list in a scale or override replaces or adds an axis, anything else fixes a value."""
    source = experiment.source
    base = [Setting((part,), source.below((part,))) for part in ("storage", "workload") if part in source.data]
    variants = {name: _bundle(source.below(("variants", name))) for name in experiment.body.variants}
    axes = {setting.route: _alternatives(setting) for part in ("grid", "repetitions") for setting in _part(source, part)}
    for name, bundle in variants.items():
        for setting in bundle:
            if setting.route in axes:
                path = ".".join(map(str, setting.route))
                raise setting.value.error((), f"variant {name} sets {path}, which the grid varies too; keep one of them")
    for setting in _bundle(scale) if scale else ():
        _fix(setting, axes, base)
    pinned: list[Setting] = []
    for setting in overrides:
        _fix(setting, axes, pinned)
    return Plan(tuple(base), variants, tuple(axes.values()), tuple(pinned))


def _fix(setting: Setting, axes: dict[tuple[str | int, ...], tuple[Setting, ...]], fixed: list[Setting]) -> None:
    if isinstance(setting.value.data, list):
        axes[setting.route] = _alternatives(setting)
        return
    for route in [route for route in axes if route[: len(setting.route)] == setting.route]:
        del axes[route]
    fixed.append(setting)


def _alternatives(setting: Setting) -> tuple[Setting, ...]:
    values = setting.value.data
    if not values:
        raise setting.value.error((), f"{'.'.join(map(str, setting.route))} has no values; give at least one")
    return tuple(Setting(setting.route, setting.value.below((index,))) for index in range(len(values)))


def _part(source: Sourced, part: str) -> Iterable[Setting]:
    return _bundle(source.below((part,))) if part in source.data else ()


def _bundle(source: Sourced) -> tuple[Setting, ...]:
    return tuple(_setting(key, source.below((key,)), source.spot((key,)).key) for key in source.data)


def _setting(path: str, value: Sourced, place: Place) -> Setting:
    route = tuple(path.split("."))
    if route[0] not in _ROOTS or not all(route):
        examples = "workload.keys or machine.memory.latency_cycles"
        raise UserError(f"{place}: `{path}` is no path below machine or workload (or storage), such as {examples}")
    if route[0] == "dbms" and len(route) > 1:
        raise UserError(f"{place}: dbms names a profile as a whole; write machine.{path}")
    return Setting(route, value)
