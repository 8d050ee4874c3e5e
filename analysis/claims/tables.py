"""Results as claims see them: the rows of one experiment (a panel), picked by series and by place in the sweep."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

from memwalk.analysis.claims.study import MeasureError
from memwalk.simcore.validation import StrictModel, nearest

Scalar: TypeAlias = str | int | float | bool
Row: TypeAlias = Mapping[str, Any]


class Bounds(StrictModel):
    """A part of an axis: its values from ``least`` to ``most``, or its ``greatest`` or ``smallest`` value alone.

    The ends of an axis depend on the scale, so claims about "the largest tree" ask for ``greatest``.
    """

    least: float | None = None
    most: float | None = None
    greatest: bool = False
    smallest: bool = False

    def settled(self, values: Iterable[Any]) -> "Bounds":
        """Give the same bounds as numbers, on an axis with these values."""
        if not (self.greatest or self.smallest):
            return self
        end = max(values) if self.greatest else min(values)
        return Bounds(least=end, most=end)

    def holds(self, value: Any) -> bool:
        """Whether ``value`` lies within."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


Wanted: TypeAlias = Scalar | list[Scalar] | Bounds
Where: TypeAlias = dict[str, Wanted]
"""A part of a sweep: values wanted, by axis."""


@dataclass(frozen=True, order=True)
class Place:
    """One place in a sweep: the panel and the value of each of its axes."""

    panel: str
    axes: tuple[tuple[str, Any], ...]

    def value(self, axis: str) -> Any:
        """Value of ``axis``; None if the panel has no such axis."""
        return dict(self.axes).get(axis)

    def without(self, axis: str) -> "Place":
        """Give the place with ``axis`` left out."""
        return Place(self.panel, tuple(item for item in self.axes if item[0] != axis))


Values: TypeAlias = dict[Place, float]
"""A number for every place of a sweep."""


@dataclass(frozen=True)
class Panel:
    """The results of one experiment: a row per point, and the columns that its grid varies."""

    rows: Sequence[Row]
    axes: Sequence[str]


Tables: TypeAlias = Mapping[str, Panel]
"""Panels by name."""


def column(row: Row, name: str) -> float:
    """Read a column of a row as a number. Raises MeasureError with the nearest name if there is none."""
    if name not in row:
        raise MeasureError(f"results have no column `{name}`; {nearest(name, row)}")
    return float(row[name])


def pick(tables: Tables, panels: Iterable[str], variant: str, where: Where) -> dict[Place, list[Row]]:
    """Pick the rows of ``variant`` within ``where``, by place; repetitions of a place stand together.

    Places are in the order of the sweep; an axis fixed to one value by ``where`` is not part of them. Raises
    MeasureError if a name is unknown or nothing is left.
    """
    found: dict[Place, list[Row]] = {}
    for name in panels:
        if name not in tables:
            raise MeasureError(f"there is no panel `{name}`; {nearest(name, tables)}")
        panel = tables[name]
        _known_axes(where, panel, name)
        mine = [row for row in panel.rows if row["variant"] == variant]
        if not mine:
            raise MeasureError(f"panel `{name}` has no series `{variant}`; {nearest(variant, _variants(panel))}")
        settled = {axis: _settled(wanted, axis, mine) for axis, wanted in where.items()}
        free = [axis for axis in panel.axes if isinstance(where.get(axis, []), list | Bounds)]
        for row in mine:
            if all(_within(row[axis], wanted) for axis, wanted in settled.items()):
                place = Place(name, tuple((axis, row[axis]) for axis in free))
                found.setdefault(place, []).append(row)
    if not found:
        raise MeasureError(f"no point of `{variant}` lies within {_shown(where)}")
    return found


def mean(rows: Sequence[Row], name: str, per: str | None = None) -> float:
    """Mean of a column over repetitions, each divided by the column ``per`` if given."""
    return fmean(column(row, name) / (column(row, per) if per else 1) for row in rows)


def _known_axes(where: Where, panel: Panel, name: str) -> None:
    for axis in where:
        if axis not in panel.axes:
            raise MeasureError(f"panel `{name}` has no axis `{axis}`; {nearest(axis, panel.axes)}")


def _variants(panel: Panel) -> list[str]:
    return list(dict.fromkeys(str(row["variant"]) for row in panel.rows))


def _settled(wanted: Wanted, axis: str, rows: Iterable[Row]) -> Wanted:
    return wanted.settled(row[axis] for row in rows) if isinstance(wanted, Bounds) else wanted


def _within(value: Any, wanted: Wanted) -> bool:
    if isinstance(wanted, Bounds):
        return wanted.holds(value)
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)


def _shown(where: Where) -> str:
    return ", ".join(f"{axis} {wanted}" for axis, wanted in where.items()) or "the sweep"
