"""The part of a panel that a plot shows, as figure files write it."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import pandas as pd

from memwalk.analysis.claims.study import MeasureError, panel
from memwalk.analysis.figures.modelled import Scalar
from memwalk.simcore.units import Real
from memwalk.simcore.validation import StrictModel, nearest


class Bounds(StrictModel):
    """A part of an axis: its values from ``least`` to ``most``, or its ``greatest`` or ``smallest`` value alone.

    The ends of an axis depend on the scale, so plots of "the largest tree" ask for ``greatest``.
    """

    least: Real | None = None
    most: Real | None = None
    greatest: bool = False
    smallest: bool = False

    def within(self, values: "pd.Series[Any]") -> "pd.Series[bool]":
        """Say which values lie within."""
        inside = pd.Series(True, index=values.index)
        for bound, keeps in ((self.least, values.ge), (self.most, values.le)):
            if bound is not None:
                inside &= keeps(bound)
        for asked, end in ((self.greatest, "max"), (self.smallest, "min")):
            if asked:
                inside &= values.eq(values.agg(end))
        return inside


Where: TypeAlias = dict[str, Scalar | list[Scalar] | Bounds]
"""A part of a sweep: values wanted, by axis."""


def selected(frame: pd.DataFrame, where: Mapping[str, Scalar | list[Scalar] | Bounds]) -> pd.DataFrame:
    """Keep the points of a panel that lie within; an axis fixed to one value is no axis of what is left.

    Raises MeasureError with the nearest name for an unknown axis, and if nothing is left.
    """
    axes = [str(name) for name in frame.index.names if name is not None]
    for axis, wanted in where.items():
        if axis not in axes:
            raise MeasureError(f"the panel has no axis `{axis}`; {nearest(axis, axes)}")
        values = frame[axis]
        kept = wanted.within(values) if isinstance(wanted, Bounds) else values.isin(wanted if isinstance(wanted, list) else [wanted])
        frame = frame[kept.to_numpy()]
    if frame.empty:
        raise MeasureError(f"no point lies within {', '.join(f'{axis} {wanted}' for axis, wanted in where.items())}")
    return panel(frame, [axis for axis in axes if isinstance(where.get(axis, []), list | Bounds)])
