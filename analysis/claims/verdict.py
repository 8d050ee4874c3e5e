"""Whether a claim holds: its measure taken on a study, and compared by the rule."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import pandas as pd

from memwalk.analysis.claims.claim import HEADLINE, Claim, ClaimClass
from memwalk.analysis.claims.orders import Holds
from memwalk.analysis.claims.registry import Measured, MeasureFunction
from memwalk.analysis.claims.rule import Agreement, Published, compare, compare_exactly
from memwalk.analysis.claims.study import MeasureError, Study

Verdict: TypeAlias = Literal["strict", "tolerant", "missed", "small sizes", "not readable", "not simulated"]
"""Met without tolerance, or with it; missed; not met at sizes that are not the published ones; nothing to compare with; no measure."""


@dataclass(frozen=True)
class Outcome:
    """A claim beside its simulation, as written to ``claims.json``.

    ``agrees`` and ``strict`` are None where nothing is judged. Of a statement without a number, the simulated numbers are the
    least and greatest ratio that were looked at.
    """

    id: str
    figure: str
    claim_class: ClaimClass
    platform: str
    metric: str
    unit: str | None
    published_low: float | None
    published_high: float | None
    simulated_low: float | None
    simulated_high: float | None
    verdict: Verdict
    agrees: bool | None
    strict: bool | None
    reason: str | None
    repeats: str | None
    calibrates: str | None

    def json(self) -> dict[str, Any]:
        """Give the outcome as JSON has it, with its class called ``class``."""
        return {"class" if name == "claim_class" else name: value for name, value in asdict(self).items()}

    @property
    def counted(self) -> bool:
        """Whether the headline counts it."""
        return self.claim_class in HEADLINE and self.repeats is None


@dataclass(frozen=True)
class _Found:
    low: float
    high: float
    agreement: Agreement | None


def judge(claim: Claim, figure: str, study: Study, function: MeasureFunction | None, *, small: bool = False) -> Outcome:
    """Measure a claim and compare. With ``small`` sizes, what is not met is not judged.

    Raises MeasureError, with the claim's id, for a measure that does not fit the results or the claim.
    """
    try:
        found = _measured(claim, study, function)
    except (MeasureError, KeyError, ValueError) as error:
        raise MeasureError(f"claim {claim.id}: {error}") from None
    published = claim.published if isinstance(claim.published, Published) else None
    verdict = _verdict(found, small=small)
    judged = verdict in ("strict", "tolerant", "missed")
    return Outcome(
        id=claim.id,
        figure=figure,
        claim_class=claim.class_,
        platform=claim.platform,
        metric=claim.metric,
        unit=claim.unit,
        published_low=published.low if published else None,
        published_high=published.high if published else None,
        simulated_low=_finite(found.low) if found else None,
        simulated_high=_finite(found.high) if found else None,
        verdict=verdict,
        agrees=verdict != "missed" if judged else None,
        strict=verdict == "strict" if judged else None,
        reason=_reason(claim, verdict),
        repeats=", ".join(claim.repeated) or None,
        calibrates=claim.calibrates,
    )


def agreement(claim: Claim, published: Published, low: float, high: float) -> Agreement:
    """Apply the rule of the claim's class to a simulated range."""
    if claim.class_ == "arithmetic":
        return compare_exactly(published, claim.range, low, high)
    return compare(published, claim.range, claim.unit, low, high)


def _measured(claim: Claim, study: Study, function: MeasureFunction | None) -> _Found | None:
    if claim.needs is not None:
        if function is not None:
            raise MeasureError("it `needs` something that is not there, and yet has a measure; remove one")
        return None
    if function is None:
        raise MeasureError("it has no measure; write a function for its id in memwalk/analysis/papers, or what it `needs`")
    measured = function(study)
    if isinstance(measured, Holds):
        if isinstance(claim.published, Published):
            raise MeasureError("its measure is a statement, but a number is published")
        return _Found(min(measured.ratios), max(measured.ratios), Agreement(measured.holds, measured.holds))
    low, high = _ends(measured)
    if claim.published is None:
        raise MeasureError("its measure is a number: give the published range, or `published: unknown` if it cannot be read")
    return _Found(low, high, agreement(claim, claim.published, low, high) if isinstance(claim.published, Published) else None)


def _ends(measured: Measured) -> tuple[float, float]:
    assert not isinstance(measured, Holds)
    values = measured if isinstance(measured, pd.Series) else pd.Series([float(measured)])
    if values.empty or values.isna().any():
        raise MeasureError("its measure gives no number" if values.empty else "its measure gives no number for some places")
    return float(values.min()), float(values.max())


def _verdict(found: _Found | None, *, small: bool) -> Verdict:
    if found is None:
        return "not simulated"
    if found.agreement is None:
        return "not readable"
    if found.agreement.agrees:
        return "strict" if found.agreement.strict else "tolerant"
    return "small sizes" if small else "missed"


def _finite(value: float) -> float | None:
    """JSON has no infinity: "never", and a ratio to zero, have no number."""
    return value if math.isfinite(value) else None


def _reason(claim: Claim, verdict: Verdict) -> str | None:
    if verdict == "not simulated":
        return f"needs {claim.needs}"
    if verdict == "missed":
        return f"docs/fidelity.md#{claim.deviation}" if claim.deviation else "no paragraph in docs/fidelity.md"
    return None
