"""Published beside simulated: the lines of the tables of claims, and the counts of agreements."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memwalk.analysis.claims.claim import HEADLINE
from memwalk.analysis.claims.verdict import Outcome, Verdict

COLUMNS = ["claim", "platform", "published", "simulated", "unit", "verdict"]
TOTALS = ["", "simulated", "strict", "tolerant", "missed", "small sizes", "not readable", "not simulated", "repeats"]
CLASSES: dict[str, str] = {
    "result": "Results: measured by the authors, simulated here",
    "order": "Orders: which is faster, shapes and crossovers that the authors measured, simulated here",
    "arithmetic": "Arithmetic: equations, sizes, counts of deterministic algorithms (not in the headline)",
    "input": "Inputs: settings read back, and definitions (not in the headline)",
    "calibration": "Calibration: numbers were chosen so that these hold (not in the headline)",
}
"""Titles of the classes, in the order in which they are shown."""


def claim_lines(outcomes: Iterable[Outcome]) -> list[list[Any]]:
    """Write a line of cells per claim, under ``COLUMNS``."""
    return [
        [
            outcome.id,
            outcome.platform,
            span(outcome.published_low, outcome.published_high) or ("not readable" if outcome.verdict == "not readable" else "statement"),
            span(outcome.simulated_low, outcome.simulated_high),
            outcome.unit or ("ratio" if outcome.published_low is None and outcome.published_high is None else ""),
            verdict(outcome),
        ]
        for outcome in outcomes
    ]


def verdict(outcome: Outcome) -> str:
    """Say the verdict on a claim in a few words."""
    said = {
        "strict": "agrees",
        "tolerant": "agrees within tolerance",
        "missed": f"MISSED: {outcome.reason}",
        "small sizes": "not judged: sizes are small",
        "not readable": "nothing to compare with",
        "not simulated": f"not simulated: {outcome.reason}",
    }[outcome.verdict]
    if outcome.calibrates is not None:
        said += f"; calibrates {outcome.calibrates}"
    return said + (f"; repeats {outcome.repeats}" if outcome.repeats is not None else "")


def span(low: float | None, high: float | None) -> str:
    """Write a range of numbers; an open end is ``...``, no number at all is empty."""
    if low is None and high is None:
        return ""
    if low is not None and high is not None and _number(low) == _number(high):
        return _number(low)
    return f"{'...' if low is None else _number(low)} to {'...' if high is None else _number(high)}"


def summary(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[str, int]]]:
    """Count claims: the ``headline`` (results and orders) in all, by paper and by platform, and every class.

    ``simulated`` claims have a verdict: ``strict``, ``tolerant`` (which includes the strict ones) or ``missed``. The others are at
    ``small_sizes``, ``not_readable`` or ``not_simulated``. What ``repeats`` another claim is counted there alone.
    """
    headline = [outcome for outcome in outcomes if outcome.claim_class in HEADLINE]
    return {
        "headline": {"all": _count(headline)},
        "papers": _by(_paper, headline),
        "platforms": _by(lambda outcome: outcome.platform, headline),
        "classes": {name: _count([o for o in outcomes if o.claim_class == name]) for name in CLASSES},
    }


def totals(outcomes: Sequence[Outcome]) -> dict[str, list[list[Any]]]:
    """Write the counts as lines under ``TOTALS``, in tables by title: the headline, then the classes that are not in it."""
    counted = summary(outcomes)
    groups = [*(counted["papers"] if len(counted["papers"]) > 1 else {}).items(), *counted["platforms"].items()]
    classes = counted["classes"]
    tables = {
        "Headline: results and orders, each counted once": [
            *((group, numbers) for group, numbers in groups),
            *((f"class {name}", classes[name]) for name in HEADLINE),
            ("all", counted["headline"]["all"]),
        ],
        "Not in the headline": [(f"class {name}", numbers) for name, numbers in classes.items() if name not in HEADLINE],
    }
    shown = {title: [[group, *numbers.values()] for group, numbers in rows if any(numbers.values())] for title, rows in tables.items()}
    return {title: lines for title, lines in shown.items() if lines}


def _paper(outcome: Outcome) -> str:
    return outcome.figure.split("/")[0]


def _by(group: Callable[[Outcome], str], outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    names = dict.fromkeys(group(outcome) for outcome in outcomes)
    return {name: _count([outcome for outcome in outcomes if group(outcome) == name]) for name in names}


def _count(outcomes: Sequence[Outcome]) -> dict[str, int]:
    once = [outcome for outcome in outcomes if outcome.repeats is None]

    def of(*verdicts: Verdict) -> int:
        return sum(outcome.verdict in verdicts for outcome in once)

    return {
        "simulated": of("strict", "tolerant", "missed"),
        "strict": of("strict"),
        "tolerant": of("strict", "tolerant"),
        "missed": of("missed"),
        "small_sizes": of("small sizes"),
        "not_readable": of("not readable"),
        "not_simulated": of("not simulated"),
        "repeats": len(outcomes) - len(once),
    }


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
