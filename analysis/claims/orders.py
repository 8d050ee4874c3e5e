"""Statements without a number: one series below another, alike, much below; and the shapes of a series along an axis.

An order holds at every place or not at all. The words of the papers have one meaning each, which is this:

========================================  ================================================================
less, faster, below                       less at every place, by however little (`less`)
exactly, at most (of what is counted)     the same number (`exactly`), or less (`at_most`)
equal, same, no difference (``~``)        at most 3% apart (`TIE`; `alike`)
no slower, not worse, at least as fast    less, or equal in this sense (`no_more`)
slightly, a little                        less, and less than 10% apart (`SLIGHT`; `slightly_less`)
significantly, clearly                    less by 10% or more (`clearly_less`)
similar, comparable, matching, close,     less than 10% apart, either way (`similar`)
roughly the same
stable, insensitive                       along an axis, the greatest is less than twice the least (`stable`)
sizable, high beside                      at most two thirds (`SIZABLE`; `much_less` with ``times``)
much, far, dramatically                   at most a half (`MUCH`; `much_less`)
several times less                        at most a third (`SEVERAL`; `much_less` with ``times``)
an order of magnitude                     at most a tenth (`MAGNITUDE`; `much_less` with ``times``)
orders of magnitude                       at most a hundredth
mostly, dominated by                      the part is more than a half of the whole
========================================  ================================================================
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import pandas as pd

from memwalk.analysis.claims.study import MeasureError
from memwalk.analysis.claims.sweep import TIE, lines

SLIGHT = 0.10
"""Two values closer than this differ slightly, and are similar."""
SIZABLE = 1.5
"""One value this many times the other is more by a sizable part."""
MUCH = 2.0
"""One value this many times the other is much more."""
SEVERAL = 3.0
"""The least that is several times something."""
MAGNITUDE = 10.0
"""An order of magnitude; orders of magnitude are two."""

Numbers: TypeAlias = "pd.Series[float] | float"


@dataclass(frozen=True)
class Holds:
    """Whether a statement holds, and the ratios, left to right or later to earlier, that were looked at."""

    ratios: tuple[float, ...]
    holds: bool

    def __and__(self, other: Holds) -> Holds:
        """Both."""
        return Holds(self.ratios + other.ratios, self.holds and other.holds)


def all_of(parts: Iterable[Holds]) -> Holds:
    """All of the statements. Raises MeasureError if there is none, which would hold of anything."""
    found = list(parts)
    if not found:
        raise MeasureError("a statement about nothing")
    return reduce(Holds.__and__, found)


def less(left: Numbers, right: Numbers) -> Holds:
    """``left < right`` at every place."""
    return _every(left, right, lambda r: r < 1)


def in_order(*values: Numbers) -> Holds:
    """Each less than the next, at every place."""
    return all_of(less(one, other) for one, other in itertools.pairwise(values))


def alike(left: Numbers, right: Numbers) -> Holds:
    """``left ~ right``: at most a tie apart, at every place."""
    return _every(left, right, lambda r: _apart(r) <= 1 + TIE)


def exactly(left: Numbers, right: Numbers) -> Holds:
    """Hold for the same number at every place: counts and sizes that follow from a layout."""
    return _every(left, right, lambda r: r == 1)


def at_most(left: Numbers, right: Numbers) -> Holds:
    """Less or exactly equal at every place: counts and sizes that have a bound."""
    return _every(left, right, lambda r: r <= 1)


def differ(left: Numbers, right: Numbers) -> Holds:
    """More than a tie apart, at every place."""
    return _every(left, right, lambda r: _apart(r) > 1 + TIE)


def no_more(left: Numbers, right: Numbers) -> Holds:
    """``left < right`` or ``left ~ right``, at every place."""
    return _every(left, right, lambda r: r <= 1 + TIE)


def slightly_less(left: Numbers, right: Numbers) -> Holds:
    """``left < right``, less than 10% apart, at every place."""
    return _every(left, right, lambda r: r < 1 and _apart(r) < 1 + SLIGHT)


def clearly_less(left: Numbers, right: Numbers) -> Holds:
    """``left < right``, 10% apart or more, at every place."""
    return _every(left, right, lambda r: r < 1 and _apart(r) >= 1 + SLIGHT)


def similar(left: Numbers, right: Numbers) -> Holds:
    """Less than 10% apart, either way, at every place."""
    return _every(left, right, lambda r: _apart(r) < 1 + SLIGHT)


def much_less(left: Numbers, right: Numbers, times: float = MUCH) -> Holds:
    """Hold if ``times x left <= right`` at every place."""
    return _every(left, right, lambda r: r * times <= 1)


def falling(values: pd.Series[float], along: str) -> Holds:
    """Less from each place of the axis to the next."""
    return _pairs(values, along, lambda r: r < 1)


def rising(values: pd.Series[float], along: str) -> Holds:
    """More from each place of the axis to the next."""
    return _pairs(values, along, lambda r: r > 1)


def never_rising(values: pd.Series[float], along: str) -> Holds:
    """Along the axis, nowhere more than a tie above the least value before."""
    found = [line / line.cummin().shift() for line in _several(values, along)]
    return _judged(pd.concat([part.iloc[1:] for part in found]), lambda r: r <= 1 + TIE)


def never_falling(values: pd.Series[float], along: str) -> Holds:
    """Along the axis, nowhere more than a tie below the greatest value before."""
    found = [line / line.cummax().shift() for line in _several(values, along)]
    return _judged(pd.concat([part.iloc[1:] for part in found]), lambda r: r >= 1 / (1 + TIE))


def flat(values: pd.Series[float], along: str) -> Holds:
    """Along the axis, all values at most a tie apart; the ratios are greatest to least."""
    found = [float(line.max() / line.min()) for line in _several(values, along)]
    return _judged(pd.Series(found), lambda r: r <= 1 + TIE)


def stable(values: pd.Series[float], along: str) -> Holds:
    """Along the axis, the greatest value is less than twice the least; the ratios are greatest to least."""
    found = [_ratio(float(line.max()), float(line.min())) for line in _several(values, along)]
    return _judged(pd.Series(found), lambda r: r < MUCH)


def not_worse(values: pd.Series[float], along: str) -> Holds:
    """Along the axis, no value more than a tie above the first."""
    found = [(line / line.iloc[0]).iloc[1:] for line in _several(values, along)]
    return _judged(pd.concat(found), lambda r: r <= 1 + TIE)


def steps(values: pd.Series[float], by: pd.Series[float], along: str) -> Holds:
    """Along the axis, values step up or down with ``by``, and between steps rise, slightly and less than at any step.

    Looks at the size of each step (more than 1), and at each rise in between.
    """
    ratios: list[float] = []
    held = True
    for line, heights in zip(lines(values, along), lines(by, along), strict=True):
        changes = [(b / a, d / c) for (a, b), (c, d) in zip(itertools.pairwise(line), itertools.pairwise(heights), strict=True)]
        moves = [change if of_by > 1 else 1 / change for change, of_by in changes if of_by != 1]
        rises = [change for change, of_by in changes if of_by == 1]
        if not moves:
            raise MeasureError(f"nothing steps along `{along}`")
        held &= all(move > 1 for move in moves) and all(1 < rise < min(1 + SLIGHT, *moves) for rise in rises)
        ratios += [*moves, *rises]
    return Holds(tuple(ratios), held)


def _every(left: Numbers, right: Numbers, condition: Callable[[float], bool]) -> Holds:
    one, other = (pd.Series([float(side)]) if isinstance(side, int | float) else side for side in (left, right))
    if isinstance(left, int | float) and not isinstance(right, int | float):
        one = pd.Series(float(left), index=other.index)
    if isinstance(right, int | float) and not isinstance(left, int | float):
        other = pd.Series(float(right), index=one.index)
    one, other = one.align(other)
    if one.isna().any() or other.isna().any() or one.empty:
        raise MeasureError("two series do not have the same places" if len(one) else "two series have no place")
    return _judged(pd.Series([_ratio(a, b) for a, b in zip(one, other, strict=True)]), condition)


def _pairs(values: pd.Series[float], along: str, condition: Callable[[float], bool]) -> Holds:
    found = [_ratio(later, earlier) for line in _several(values, along) for earlier, later in itertools.pairwise(line)]
    return _judged(pd.Series(found), condition)


def _several(values: pd.Series[float], along: str) -> list[pd.Series[float]]:
    """Lines of two places or more: what is said of a course holds of a single place always."""
    found = list(lines(values, along))
    if not found or any(len(line) < 2 for line in found):
        raise MeasureError(f"a course along `{along}` needs two places or more")
    return found


def _judged(ratios: pd.Series[float], condition: Callable[[float], bool]) -> Holds:
    return Holds(tuple(float(r) for r in ratios), all(condition(r) for r in ratios))


def _ratio(numerator: float, denominator: float) -> float:
    if denominator == 0:
        return 1.0 if numerator == 0 else math.inf
    return numerator / denominator


def _apart(r: float) -> float:
    """How far from 1 a ratio is, upwards: 0.5 and 2 are equally far."""
    return max(r, 1 / r) if r > 0 else math.inf
