"""How what an experiment sets is laid over each other, and what of it is never seen."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import Route, dotted

MACHINE: Route = ("machine",)
"""Where a machine is named."""


def covers(above: Route, below: Route) -> bool:
    """Tell whether a value takes the place of what was laid on before it at another path: the same, or one in it.

    A machine's name takes only that of another name: what is set in a machine is laid on whichever it is.
    """
    return above == below or (above != MACHINE and below[: len(above)] == above)


def wholes_first(layer: Iterable[Setting]) -> list[Setting]:
    """Order the settings of a layer so that none covers a part of it that was written before it; otherwise they stay as they are."""
    ordered: list[Setting] = []
    for setting in layer:
        parts = (at for at, one in enumerate(ordered) if one.route != setting.route and covers(setting.route, one.route))
        ordered.insert(next(parts, len(ordered)), setting)
    return ordered


def not_taken_away(layers: Iterable[Sequence[Setting]]) -> list[Setting]:
    """List the settings of layers without those in whose place a later layer puts null, or an empty map: that is what these are for."""
    left: list[Setting] = []
    for layer in layers:
        empty = {setting.route for setting in layer if setting.value.data in (None, {})}
        left = [one for one in left if not any(covers(route, one.route) for route in empty)]
        left += layer
    return left


def within(data: Any) -> Iterator[Route]:
    """Give the way to a value, which is none, and to all that is in its maps."""
    yield ()
    if isinstance(data, dict):
        for key, value in data.items():
            yield from ((key, *inner) for inner in within(value))


def refuse_covered(fixed: Iterable[Sequence[Setting]], axes: Iterable[Sequence[Setting]], file: str) -> None:
    """Raise UserError, one line for each value that others cover in all rows.

    ``fixed`` are the settings before the axes, in order of laying on: those of the rows of each variant. An axis is given by its values.
    What another file than ``file`` says may be covered: a figure varies what it shares with others.
    """
    seen: set[_Value] = set()
    covered: dict[_Value, UserError] = {}
    varied = sorted(axes, key=lambda axis: len(axis[0].route))  # wholes are laid on first
    rows: list[tuple[_Laid, _Laid]] = [([(one,) for one in settings], varied) for settings in fixed]
    for laid, later in (*rows, (varied, ())):  # what axes cover of each other is the same in all rows
        for number, values in enumerate(laid):
            over_it = [one[0] for one in (*laid[number + 1 :], *later)]
            for setting, inner in _leaves(values):
                value, route = (id(setting), inner), (*setting.route, *inner)
                over = next((one for one in over_it if covers(one.route, route)), None)
                if over is None or setting.value.spot(inner).value.file != file:
                    seen.add(value)
                else:
                    covered[value] = _in_no_row(setting, inner, over)
    if lines := [str(error) for value, error in covered.items() if value not in seen]:
        raise UserError("\n".join(lines))


_Laid = Sequence[Sequence[Setting]]
"""What is laid on one after the other; of an axis each value, of which a row has one."""
_Value = tuple[int, Route]
"""A value: the setting that it is in, as the id of the object, and the way to it."""


def _leaves(settings: Iterable[Setting]) -> Iterator[tuple[Setting, Route]]:
    """List the values in settings that are no maps of others."""
    for setting in settings:
        for inner in within(setting.value.data):
            data = setting.value.get(inner)
            if not isinstance(data, dict) or not data:
                yield setting, inner


def _in_no_row(setting: Setting, inner: Route, over: Setting) -> UserError:
    route, value = dotted((*setting.route, *inner)), setting.value.get(inner)
    remedy = f"{dotted(over.route)} at {over.value.spot(()).key} is laid over it; keep one of them"
    return setting.value.error(inner, f"{route} is `{value}` in no row: {remedy}")
