"""Published beside simulated: the lines of the claims table, and the count of agreements."""

from collections.abc import Iterable, Sequence
from typing import Any

from memwalk.analysis.claims.verdict import Outcome

COLUMNS = ["claim", "platform", "published", "simulated", "unit", "verdict"]


def claim_lines(outcomes: Iterable[Outcome]) -> list[list[Any]]:
    """Write a line of cells per claim, under ``COLUMNS``."""
    return [
        [
            outcome.id,
            outcome.platform,
            span(outcome.published_low, outcome.published_high) or ("order" if _ordered(outcome) else "not readable"),
            span(outcome.simulated_low, outcome.simulated_high),
            outcome.unit or ("ratio" if _ordered(outcome) else ""),
            verdict(outcome),
        ]
        for outcome in outcomes
    ]


def verdict(outcome: Outcome) -> str:
    """Say the verdict on a claim in a word or two."""
    if outcome.calibrates is not None:
        return f"calibrates {outcome.calibrates}"
    if outcome.agrees is None:
        return outcome.reason or "nothing to compare with"
    if outcome.agrees:
        return "agrees" if outcome.strict else "agrees within tolerance"
    return f"MISSED: {outcome.reason}"


def span(low: float | None, high: float | None) -> str:
    """Write a range of numbers; an open end is ``...``, no number at all is empty."""
    if low is None and high is None:
        return ""
    if low is not None and high is not None and _number(low) == _number(high):
        return _number(low)
    return f"{'...' if low is None else _number(low)} to {'...' if high is None else _number(high)}"


def summary(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Count by platform and in all.

    ``published`` claims have a readable published value or order; of these ``simulated`` have a verdict, ``agree`` and
    ``strict`` are good ones. ``unreadable`` claims are simulated without a published value. ``calibrated`` ones, on which numbers
    of a machine or DBMS were settled, are none of these.
    """
    platforms = list(dict.fromkeys(outcome.platform for outcome in outcomes))
    counts = {name: _count([o for o in outcomes if o.platform == name]) for name in platforms}
    return counts | {"all": _count(outcomes)}


def _count(outcomes: Sequence[Outcome]) -> dict[str, int]:
    calibrated = [o for o in outcomes if o.calibrates is not None]
    outcomes = [o for o in outcomes if o.calibrates is None]
    unreadable = [o for o in outcomes if o.agrees is None and o.simulated_low is not None]
    judged = [o for o in outcomes if o.agrees is not None]
    return {
        "published": len(outcomes) - len(unreadable),
        "simulated": len(judged),
        "agree": sum(bool(o.agrees) for o in judged),
        "strict": sum(bool(o.strict) for o in judged),
        "unreadable": len(unreadable),
        "calibrated": len(calibrated),
    }


def _ordered(outcome: Outcome) -> bool:
    published = outcome.published_low is not None or outcome.published_high is not None
    return not published and (outcome.agrees is not None or outcome.kind == "qualitative-order")


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
