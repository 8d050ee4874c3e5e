"""Series of a panel, and what is computed from them: one number for each place of the sweep, indexed by its axes.

Everything here is a pandas Series, so that two series of one sweep divide place by place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from memwalk.analysis.claims.study import MeasureError
from memwalk.simcore.validation import nearest

TIE = 0.03
"""Two values this close, relative to each other, are equal."""

Place: TypeAlias = tuple[tuple[str, Any], ...]
"""Axes and their values."""


def series(frame: pd.DataFrame, variant: str, column: str = "cycles", per: str | None = None) -> pd.Series[float]:
    """Read a column of a variant, divided by the column ``per`` if given; the mean over repetitions.

    Raises MeasureError with the nearest name for a variant or column that the panel does not have.
    """
    mine = rows(frame, variant)
    values = _column(mine, column)
    if per is not None:
        divisor = _column(mine, per)
        if (divisor == 0).any():
            raise MeasureError(f"`{per}` of `{variant}` is zero, so there is no `{column}` per `{per}`")
        values = values / divisor
    means: pd.Series[float] = values.groupby(level=list(range(values.index.nlevels)), sort=False).mean()
    return means


def rows(frame: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Give the points of a variant. Raises MeasureError with the nearest name if there is none."""
    mine = frame[frame["variant"] == variant]
    if mine.empty:
        known = dict.fromkeys(str(name) for name in frame["variant"])
        raise MeasureError(f"there is no point of `{variant}`; " + (nearest(variant, known) if known else "nothing is left of the panel"))
    return mine


def smallest(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Keep the least place of an axis, which depends on the scale."""
    return frame[frame[axis].eq(frame[axis].min())]


def greatest(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Keep the greatest place of an axis, which depends on the scale."""
    return frame[frame[axis].eq(frame[axis].max())]


def speedup(frame: pd.DataFrame, of: str | Sequence[str], over: str, column: str = "cycles") -> pd.Series[float]:
    """Divide the column of ``over`` by that of ``of``; several ``of`` are told apart by a level ``variant`` of the index."""
    base = series(frame, over, column)
    if isinstance(of, str):
        return ratio(base, series(frame, of, column))
    return pd.concat({name: ratio(base, series(frame, name, column)) for name in of}, names=["variant"])


def gained(frame: pd.DataFrame, of: str | Sequence[str], over: str, column: str = "cycles") -> pd.Series[float]:
    """By how much longer ``over`` takes than ``of``, in %: speed-up - 1."""
    return 100 * (speedup(frame, of, over, column) - 1)


def reduced(frame: pd.DataFrame, of: str | Sequence[str], over: str, column: str = "cycles") -> pd.Series[float]:
    """By how much the column of ``of``, which may be zero, is below that of ``over``, in %."""
    base = series(frame, over, column)
    if isinstance(of, str):
        return 100 * (1 - ratio(series(frame, of, column), base))
    return pd.concat({name: 100 * (1 - ratio(series(frame, name, column), base)) for name in of}, names=["variant"])


def share(frame: pd.DataFrame, variant: str, *causes: str) -> pd.Series[float]:
    """Part of the time of ``variant`` that goes to the causes together, in % of all slots."""
    parts = [series(frame, variant, f"slots_{cause}", "slots_total") for cause in causes]
    return 100 * reduce(pd.Series.add, parts)


def ratio(left: pd.Series[float], right: pd.Series[float]) -> pd.Series[float]:
    """Divide place by place. Raises MeasureError for a place that one of both lacks, or where ``right`` is zero."""
    one, other = left.align(right)
    if one.isna().any() or other.isna().any():
        missing = one.index[(one.isna() | other.isna()).to_numpy()][0]
        raise MeasureError(f"there is nothing to compare with at {_place(one, missing)}")
    if (other == 0).any():
        raise MeasureError(f"the divisor is zero at {_place(other, other.index[(other == 0).to_numpy()][0])}, so there is no ratio to it")
    return one / other


def lines(values: pd.Series[float], along: str) -> list[pd.Series[float]]:
    """Arrange the values as lines along an axis, in ascending order of it; one line for each place of the other axes.

    The index of a line are the values of the axis. Raises MeasureError if there is no such axis.
    """
    return list(lines_by_place(values, along).values())


def lines_by_place(values: pd.Series[float], along: str) -> dict[Place, pd.Series[float]]:
    """Arrange the values as lines along an axis, by the place of the other axes: their names and values."""
    names = [str(name) for name in values.index.names]
    if along not in names:
        raise MeasureError(f"the sweep has no axis `{along}`; {nearest(along, names)}")
    others = [name for name in names if name != along]
    if not others:
        return {(): values.sort_index()}
    return {
        tuple(zip(others, place if isinstance(place, tuple) else (place,), strict=True)): part.reset_index(others, drop=True).sort_index()
        for place, part in values.groupby(level=others, sort=False)
    }


def growth(values: pd.Series[float], along: str) -> pd.Series[float]:
    """Divide the last value along an axis by the first, line by line."""
    return pd.Series([line.iloc[-1] / line.iloc[0] for line in lines(values, along)])


def least_at(values: pd.Series[float], along: str) -> float:
    """Where along an axis a single line is least; the smaller place of equals; infinity if its values are all equal (`TIE`)."""
    (line,) = lines(values, along)
    if line.max() <= (1 + TIE) * line.min():
        return float("inf")
    return float(line.index[int(np.argmin(line.to_numpy()))])


def from_where_on(holds: pd.Series[bool], along: str) -> float:
    """Find the least place of an axis from which on all that is told holds; infinity if it does not hold at the end."""
    good = holds.groupby(level=along).all().sort_index()
    bad = good.index[~good.to_numpy()]
    after = good.index if bad.empty else good.index[good.index > bad[-1]]
    return float(after[0]) if len(after) else float("inf")


def up_to_where(holds: pd.Series[bool], along: str) -> float:
    """Find the greatest place of an axis up to which all that is told holds; infinity if to the end, 0 if not at the start."""
    good = holds.groupby(level=along).all().sort_index()
    bad = good.index[~good.to_numpy()]
    if bad.empty:
        return float("inf")
    before = good.index[good.index < bad[0]]
    return float(before[-1]) if len(before) else 0.0


def marginal(values: pd.Series[float], per: pd.Series[float], along: str) -> pd.Series[float]:
    """Divide what the values grow along an axis, from each place to the next, by what ``per`` grows; indexed by the axis."""
    both = zip(lines(values, along), lines(per, along), strict=True)
    return pd.concat([ratio(one.diff().iloc[1:], other.diff().iloc[1:]) for one, other in both])


def only(frame: pd.DataFrame, variant: str, column: str) -> float:
    """Read a column of a variant that has one point."""
    (value,) = series(frame, variant, column)
    return float(value)


def _column(mine: pd.DataFrame, name: str) -> pd.Series[float]:
    if name not in mine:
        raise MeasureError(f"results have no column `{name}`; {nearest(name, [str(column) for column in mine.columns])}")
    values: pd.Series[float] = mine[name].astype(float)
    if values.isna().any():
        raise MeasureError(f"column `{name}` has no value for some points of `{mine['variant'].iloc[0]}`")
    return values


def _place(values: pd.Series[float], at: object) -> str:
    names = [name for name in values.index.names if name is not None]
    parts = at if isinstance(at, tuple) else (at,)
    return ", ".join(f"{name} {part}" for name, part in zip(names, parts, strict=False)) or "the only place"
