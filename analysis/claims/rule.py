"""The rule of agreement for numbers: how near a simulated range has to be to the published one.

A published range is compared end by end: the least simulated value with its low end, the greatest with its high end, each
within the tolerance of that end. An end that is open is not compared. A loose range is one that no sweep produced ("four to
eight times", "over half"): all simulated values lie inside, or outside by no more than the tolerance.

The tolerance of a published ``x`` depends on its unit:

===============  =========================================================================
ratio (``x``)    10% of x, but no more than half of what it differs from 1; at least 0.02
percent          5 points, but no more than half of the percentage; at least 1 point
anything else    10%
===============  =========================================================================

It never reaches "no effect" (a ratio of 1, 0%), unless the published range contains that: a tenth of the published effect must
be there. Without the tolerance (*strict*) all simulated values lie inside the published range, to the digits that are printed;
an agreement is strict only if it is one with the tolerance, too.

Arithmetic is exact to the printed digits: within half a unit of the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from memwalk.simcore.units import Real
from memwalk.simcore.validation import StrictModel

RATIO, PERCENT = "x", "%"
NO_EFFECT = {RATIO: 1.0, PERCENT: 0.0}
"""What a simulation without the effect gives, by unit."""
_PART = 0.10
_HALF = 0.5
_RATIO_LEAST = 0.02
_POINTS, _POINTS_LEAST = 5.0, 1.0
_MUST_REMAIN = 0.1
_ROUNDING = 1e-9
"""What a sum in floating point may be off, relative to the number."""

Whole: TypeAlias = Annotated[int, Field(strict=True)]
RangeKind: TypeAlias = Literal["sweep", "loose"]


class Published(StrictModel):
    """A published range; an end left out is open.

    Numbers are written with the digits that are printed. Where a number is rounded to more than its last digit says, or its
    last digits are zeros behind the point, ``rounded`` is the unit to which it is (100 for "about 200").
    """

    low: Whole | Real | None = None
    high: Whole | Real | None = None
    rounded: Real | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> Published:
        if self.low is None and self.high is None:
            raise ValueError("a published range has at least one end; write `published: unknown` if it cannot be read")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the low end {self.low} is above the high end {self.high}")
        return self

    def contains(self, value: float) -> bool:
        """Whether a value lies in the range as printed."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Agreement:
    """Whether simulated values are the published ones: with the tolerance, and without."""

    agrees: bool
    strict: bool


def compare(published: Published, kind: RangeKind, unit: str | None, low: float, high: float) -> Agreement:
    """Compare a simulated range with what was measured."""
    agrees = _near(published, kind, (low, high), lambda end: tolerance(end, unit, published))
    inside = _near(published, "loose", (low, high), lambda end: 0 if kind == "loose" else _half_unit(end, published))
    return Agreement(agrees, agrees and inside)


def compare_exactly(published: Published, kind: RangeKind, low: float, high: float) -> Agreement:
    """Compare what follows from equations."""
    same = _near(published, kind, (low, high), lambda end: _half_unit(end, published))
    return Agreement(same, same)


def tolerance(end: float, unit: str | None, published: Published) -> float:
    """How far a simulated number may be from this end of the published range, in the claim's unit."""
    if unit not in NO_EFFECT:
        return _PART * abs(end)
    effect = abs(end - NO_EFFECT[unit])
    if unit == RATIO:
        allowed = max(_RATIO_LEAST, min(_PART * abs(end), _HALF * effect))
    else:
        allowed = max(_POINTS_LEAST, min(_POINTS, _HALF * effect))
    return allowed if published.contains(NO_EFFECT[unit]) else min(allowed, (1 - _MUST_REMAIN) * effect)


def _near(published: Published, kind: RangeKind, simulated: tuple[float, float], slack: Callable[[float], float]) -> bool:
    below, above = simulated
    for end, value, sign in ((published.low, below, 1), (published.high, above, -1)):
        if end is None:
            continue
        off = sign * (value - end)
        allowed = slack(end) + _ROUNDING * abs(end)
        if off < -allowed or (kind == "sweep" and off > allowed):
            return False
    return True


def _half_unit(end: float, published: Published) -> float:
    """Half a unit of the last printed digit of an end."""
    if published.rounded is not None:
        return published.rounded / 2
    if isinstance(end, int):
        return 0.5
    exponent = Decimal(repr(end)).as_tuple().exponent
    return 0.5 * 10.0 ** min(0, exponent) if isinstance(exponent, int) else 0.0
