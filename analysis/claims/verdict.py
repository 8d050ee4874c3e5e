"""Whether a claim holds: published against simulated.

A number agrees when the simulated minimum and maximum over the claim's sweep lie in the published range widened by 15%
(shares in %: by 5 points). What follows from equations must be exact, to the digits that are published. An order holds
at every point, ties within 3%. ``strict`` is the same without the tolerance.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from pydantic import Field, model_validator

from memwalk.analysis.claims.conditions import Condition, judge_all
from memwalk.analysis.claims.measures import Measure, Sources
from memwalk.analysis.claims.tables import MeasureError
from memwalk.simcore.validation import StrictModel

NUMBER_TOLERANCE = 0.15
"""Widening of a published range, as a fraction."""
SHARE_TOLERANCE = 5.0
"""Widening of a published range of percents, in points."""

Kind: TypeAlias = Literal["speedup", "percent", "time", "count", "parameter", "size", "ratio", "crossover", "qualitative-order"]
Platform: TypeAlias = Literal["analytic", "simulation", "itanium2", "pentium2-xeon", "ultrasparc-iii", "prototype", "disk", "mems"]


class Published(StrictModel):
    """A published range; an end left out is open."""

    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Published":
        if self.low is None and self.high is None:
            raise ValueError("a published range has at least one end; write `published: unknown` if it cannot be read")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the low end {self.low} is above the high end {self.high}")
        return self


class Claim(StrictModel):
    """A published statement and how it is measured.

    ``holds`` are conditions, for statements without a number; ``measure`` is a number. ``needs`` names what would be
    needed to measure it when that is not there. ``deviation`` is the paragraph of docs/fidelity.md about a miss.
    ``calibrates`` names the numbers that were chosen so that the claim holds: it is shown and not counted.
    """

    id: str
    where: str
    platform: Platform
    kind: Kind
    metric: str
    unit: str | None = None
    published: Published | Literal["unknown", "order"]
    measure: Measure | None = None
    holds: list[Condition] = Field(default_factory=list)
    needs: str | None = None
    deviation: str | None = None
    calibrates: str | None = None
    note: str | None = None

    @property
    def exact(self) -> bool:
        """Whether the number follows from equations or a machine file, and so must be the published one.

        What a model says about a measured prototype is a prediction and has the tolerance of one.
        """
        analytic = self.measure is not None and (self.measure.model is not None or self.measure.fact is not None)
        return analytic and self.unit != "%" and self.platform != "prototype"

    @model_validator(mode="after")
    def _measurable(self) -> "Claim":
        ways = [self.measure is not None, bool(self.holds), self.needs is not None]
        if sum(ways) != 1:
            raise ValueError("give exactly one of measure, holds and needs")
        if self.holds and self.published != "order":
            raise ValueError("conditions (`holds`) go with `published: order`")
        if self.measure and self.published == "order":
            raise ValueError("a measure is compared with a published range or `unknown`, not with `order`")
        return self


@dataclass(frozen=True)
class Outcome:
    """A claim beside its simulation, as written to ``claims.json``."""

    id: str
    figure: str
    platform: str
    kind: str
    metric: str
    unit: str | None
    published_low: float | None
    published_high: float | None
    simulated_low: float | None
    simulated_high: float | None
    agrees: bool | None
    strict: bool | None
    reason: str | None
    calibrates: str | None


def judge(claim: Claim, figure: str, sources: Sources) -> Outcome:
    """Measures a claim and compares. A measure that does not fit the results is a mistake in the figure file.

    Raises MeasureError, with the claim's id, in that case.
    """
    try:
        low, high, agrees, strict = _judged(claim, sources)
    except MeasureError as error:
        raise MeasureError(f"claim {claim.id}: {error}") from None
    published = claim.published if isinstance(claim.published, Published) else None
    return Outcome(
        id=claim.id,
        figure=figure,
        platform=claim.platform,
        kind=claim.kind,
        metric=claim.metric,
        unit=claim.unit,
        published_low=published.low if published else None,
        published_high=published.high if published else None,
        simulated_low=_finite(low),
        simulated_high=_finite(high),
        agrees=agrees,
        strict=strict,
        reason=_reason(claim, agrees=agrees),
        calibrates=claim.calibrates,
    )


def _finite(value: float | None) -> float | None:
    """JSON has no infinity: "never", and a ratio to zero, have no number."""
    return value if value is not None and math.isfinite(value) else None


def _judged(claim: Claim, sources: Sources) -> tuple[float | None, float | None, bool | None, bool | None]:
    if claim.needs is not None:
        return None, None, None, None
    if claim.measure is None:
        judged = judge_all(claim.holds, sources)
        return min(judged.ratios), max(judged.ratios), judged.agrees, judged.strict
    values = claim.measure.values(sources).values()
    low, high = min(values), max(values)
    if not isinstance(claim.published, Published):
        return low, high, None, None
    agrees, strict = compare(claim, claim.published, low, high)
    return low, high, agrees, strict


def compare(claim: Claim, published: Published, low: float, high: float) -> tuple[bool, bool]:
    """Apply the rule to a simulated range: (agrees, strict)."""
    if claim.exact:
        same = all(_rounds_into(value, published) for value in (low, high))
        return same, same
    if claim.unit == "%":
        slack_low = slack_high = SHARE_TOLERANCE
    else:
        slack_low = NUMBER_TOLERANCE * abs(published.low or 0)
        slack_high = NUMBER_TOLERANCE * abs(published.high or 0)
    return _inside(low, high, published, slack_low, slack_high), _inside(low, high, published, 0, 0)


def _inside(low: float, high: float, published: Published, slack_low: float, slack_high: float) -> bool:
    above = published.low is None or low >= published.low - slack_low
    below = published.high is None or high <= published.high + slack_high
    return above and below


def _rounds_into(value: float, published: Published) -> bool:
    """Whether ``value``, rounded to the digits of each published end, lies within."""

    def rounded(end: float) -> float:
        exponent = Decimal(repr(end)).normalize().as_tuple().exponent
        return round(value, max(0, -exponent) if isinstance(exponent, int) else 0)

    above = published.low is None or rounded(published.low) >= published.low
    below = published.high is None or rounded(published.high) <= published.high
    return above and below


def _reason(claim: Claim, *, agrees: bool | None) -> str | None:
    if claim.needs is not None:
        return f"not simulated: needs {claim.needs}"
    if agrees is False:
        return f"docs/fidelity.md#{claim.deviation}" if claim.deviation else "no paragraph in docs/fidelity.md"
    return None
