"""Verdicts at the published sizes as they are committed, ``verdicts.json`` beside a paper's figures.

A run that comes to others has changed what memwalk says of a paper, for better or worse: either is told, claim by claim.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from memwalk.analysis.claims.verdict import Outcome
from memwalk.simcore.errors import UserError

VERDICTS = "verdicts.json"
_DIGITS = 6

Committed: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Class, verdict and simulated ends by claim."""


def read(folder: Path) -> Committed | None:
    """Read the committed verdicts of a paper's folder; None if it has none. Raises UserError for a file that is not right."""
    path = folder / VERDICTS
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not all({"class", "verdict"} <= set(entry) for entry in found.values()):
            raise ValueError("a claim lacks its class or verdict")
    except (ValueError, AttributeError, TypeError, OSError) as error:
        raise UserError(f"{path}: {error}; write it again with `memwalk reproduce {folder.name} --update-verdicts`") from None
    verdicts: Committed = found
    return verdicts


def flips(outcomes: Iterable[Outcome], committed: Committed | None, claims: Sequence[str]) -> list[str]:
    """Tell every claim whose class or verdict is not the committed one; without a file, every miss.

    ``claims`` are all that the paper has: what is committed of others is told, too.
    """
    outcomes = list(outcomes)
    if committed is None:
        return [f"{outcome.id}: missed, and no verdicts are committed" for outcome in outcomes if outcome.verdict == "missed"]
    told = [
        f"{outcome.id}: {_said(committed.get(outcome.id))} -> {_said(entry(outcome))}"
        for outcome in outcomes
        if _flipped(outcome, committed)
    ]
    return told + [f"{claim}: {_said(was)} -> no such claim" for claim, was in committed.items() if claim not in claims]


def moved(outcomes: Iterable[Outcome], committed: Committed | None) -> list[str]:
    """List the claims whose simulated numbers are not the committed ones, whatever the verdict."""
    return [outcome.id for outcome in outcomes if committed is not None and committed.get(outcome.id) != entry(outcome)]


def merged(outcomes: Iterable[Outcome], committed: Committed | None, claims: Sequence[str]) -> bytes:
    """Write the content of a ``verdicts.json``: outcomes, and what is committed of the paper's other claims, in their order."""
    found = {**(committed or {}), **{outcome.id: entry(outcome) for outcome in outcomes}}
    lines = [f" {json.dumps(claim)}: {json.dumps(found[claim], allow_nan=False)}" for claim in claims if claim in found]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def entry(outcome: Outcome) -> dict[str, Any]:
    """Give what is committed of an outcome."""
    ends = {"low": _rounded(outcome.simulated_low), "high": _rounded(outcome.simulated_high)}
    return {"class": outcome.claim_class, "verdict": outcome.verdict} | ends


def _flipped(outcome: Outcome, committed: Committed) -> bool:
    was, found = committed.get(outcome.id), entry(outcome)
    return was is None or any(was[key] != found[key] for key in ("class", "verdict"))


def _said(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not committed"
    low, high = verdict.get("low"), verdict.get("high")
    ends = "" if low is None and high is None else f", {low}" if low == high else f", {low} to {high}"
    return f"{verdict['verdict']} ({verdict['class']}{ends})"


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")
