"""When a simulated range agrees with a published one, and what becomes of a claim."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.analysis.claims import Claim, Holds, MeasureError, Outcome, Published, Study, judge, less, panel, series, speedup
from memwalk.analysis.claims.claim import ClaimClass
from memwalk.analysis.claims.registry import Measured, MeasureFunction, Measures
from memwalk.analysis.claims.rule import NO_EFFECT, Agreement, RangeKind, compare, compare_exactly, tolerance
from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import parse


def published(low: float | None, high: float | None, rounded: float | None = None) -> Published:
    return Published(low=low, high=high, rounded=rounded)


@pytest.mark.parametrize(
    ("unit", "end", "allowed"),
    [
        ("x", 10, 1.0),  # 10%
        ("x", 1.5, 0.15),
        ("x", 1.08, 0.04),  # half of the effect
        ("x", 0.5, 0.05),
        ("x", 0.9, 0.05),
        ("x", 1.03, 0.02),  # the least
        ("x", 1.02, 0.018),  # a tenth of the effect remains
        ("%", 70, 5.0),
        ("%", 6, 3.0),
        ("%", 1.5, 1.0),
        ("%", 0.8, 0.72),
        ("%", -6, 3.0),
        ("s", 13, 1.3),
        (None, 4, 0.4),
    ],
)
def test_the_tolerance_of_an_end(unit: str | None, end: float, allowed: float) -> None:
    assert tolerance(end, unit, published(end, end)) == pytest.approx(allowed)


def test_a_range_that_contains_no_effect_keeps_its_tolerance() -> None:
    assert tolerance(1.02, "x", published(0.99, 1.02)) == 0.02
    assert tolerance(0, "%", published(0, 0)) == 1


@pytest.mark.parametrize(
    ("kind", "low", "high", "agrees", "strict"),
    [
        ("sweep", 1.08, 1.51, True, True),
        ("sweep", 1.10, 1.50, True, True),
        ("sweep", 1.05, 1.60, True, False),
        ("sweep", 1.50, 1.51, False, False),  # inside, but nothing of the low end
        ("sweep", 1.09, 1.10, False, False),
        ("sweep", 1.00, 1.51, False, False),
        ("sweep", 1.084, 1.514, True, True),  # to the printed digits
        ("loose", 1.50, 1.51, True, True),
        ("loose", 1.05, 1.60, True, False),
        ("loose", 1.00, 1.51, False, False),
        ("loose", 1.079, 1.51, True, False),  # a bound is not rounded
    ],
)
def test_a_range_is_compared_end_by_end_unless_no_sweep_made_it(
    kind: RangeKind, low: float, high: float, agrees: bool, strict: bool
) -> None:
    assert compare(published(1.08, 1.51), kind, "x", low, high) == Agreement(agrees, strict)


@pytest.mark.parametrize(
    ("low", "high", "agrees"),
    [(70, 70, True), (66, 74, True), (70, 76, False), (64, 70, False)],
)
def test_a_sweep_meets_one_published_number_with_both_ends(low: float, high: float, agrees: bool) -> None:
    assert compare(published(70, 70), "sweep", "%", low, high).agrees is agrees


def test_an_open_end_is_not_compared_and_the_other_is_an_end() -> None:
    up_to = published(None, 1.77)
    assert compare(up_to, "sweep", "x", 0.5, 1.70).agrees
    assert not compare(up_to, "sweep", "x", 0.5, 1.00).agrees, "up to 1.77 is not met by no effect"
    assert compare(up_to, "loose", "x", 0.5, 1.00).agrees, "at most 1.77 is"
    assert compare(published(3, None), "loose", "x", 2.8, 50).agrees
    assert not compare(published(3, None), "loose", "x", 2.6, 50).agrees


@given(
    unit=st.sampled_from(sorted(NO_EFFECT)),
    effects=st.tuples(st.floats(1e-4, 100), st.floats(0, 100)),
    sign=st.sampled_from([1, -1]),
    kind=st.sampled_from(["sweep", "loose"]),
    strict_class=st.booleans(),
)
def test_no_effect_never_meets_a_published_effect(
    unit: str, effects: tuple[float, float], sign: int, kind: RangeKind, strict_class: bool
) -> None:
    none = NO_EFFECT[unit]
    ends = sorted((none + sign * effects[0], none + sign * (effects[0] + effects[1])))
    claimed = published(*ends)
    assert not compare(claimed, kind, unit, none, none).agrees
    if strict_class:
        assert not compare(claimed, kind, unit, none, none).strict


@pytest.mark.parametrize(
    ("end", "rounded", "value", "exact"),
    [
        (4, None, 4.4, True),
        (4, None, 4.6, False),
        (7.9, None, 7.875, True),
        (7.9, None, 7.84, False),
        (5.0, None, 5.04, True),
        (5.0, None, 5.06, False),
        (16.7, 0.01, 16.7, True),
        (16.7, 0.01, 16.71, False),
        (200, 100, 189, True),
        (0.0078125, None, 0.0078125, True),
        (0.0078125, None, 0.0078, False),
    ],
)
def test_arithmetic_is_exact_to_the_printed_digits(end: float, rounded: float | None, value: float, exact: bool) -> None:
    claimed = published(end, end, rounded)
    assert compare_exactly(claimed, "sweep", value, value) == Agreement(exact, exact)
    assert not compare_exactly(published(end, None, rounded), "sweep", 2 * value, 2 * value).agrees
    assert compare_exactly(published(end, None, rounded), "loose", 2 * value, 2 * value).agrees


ROWS = [
    {"variant": name, "keys": keys, "cycles": factor * keys} for name, factors in (("slow", (2, 4)), ("fast", (1, 1)))
    for keys, factor in zip((10, 100), factors, strict=True)
]  # fmt: skip
STUDY = Study({"sizes": panel(ROWS, ["keys"])}, {}.__getitem__)


def claim(text: str) -> Claim:
    return validate(Claim, parse(f"{{id: c, where: w, platform: simulation, metric: m, {text}}}", "c.yaml"))


def fast(study: Study) -> Measured:
    return speedup(study["sizes"], "fast", over="slow")


def in_order(study: Study) -> Holds:
    return less(series(study["sizes"], "fast"), series(study["sizes"], "slow"))


def outcome(text: str, function: MeasureFunction | None = fast, **options: Any) -> Outcome:
    return judge(claim(text), "paper/fig", STUDY, function, **options)


RESULT = "class: result, unit: x, published: {low: %s, high: %s}"


@pytest.mark.parametrize(
    ("text", "verdict", "agrees", "strict"),
    [
        (RESULT % (2, 4), "strict", True, True),
        (RESULT % (2.1, 3.9), "tolerant", True, False),
        (RESULT % (2, 5), "missed", False, False),
        ("class: arithmetic, unit: x, published: {low: 2.1, high: 3.9}", "missed", False, False),
        ("class: input, unit: x, published: {low: 2.1, high: 3.9}", "tolerant", True, False),
        ("class: calibration, calibrates: a, unit: x, published: {low: 2.1, high: 3.9}", "tolerant", True, False),
        ("class: result, unit: x, published: unknown", "not readable", None, None),
    ],
)
def test_a_number_is_judged_by_its_class(text: str, verdict: str, agrees: bool | None, strict: bool | None) -> None:
    found = outcome(text)
    assert (found.verdict, found.agrees, found.strict) == (verdict, agrees, strict)
    assert (found.simulated_low, found.simulated_high) == (2, 4)


def test_a_statement_holds_or_not() -> None:
    found = outcome("class: order", in_order)
    assert (found.verdict, found.simulated_low, found.simulated_high) == ("strict", 0.25, 0.5)
    assert outcome("class: order", lambda study: less(series(study["sizes"], "slow"), 1.0)).verdict == "missed"


def test_a_single_number_may_be_returned() -> None:
    assert outcome("class: result, unit: lines, published: {low: 8, high: 8}", lambda _: 8).verdict == "strict"
    never = outcome("class: order, unit: keys, published: {low: 8, high: 8}", lambda _: float("inf"))
    assert (never.verdict, never.simulated_low) == ("missed", None)


def test_at_small_sizes_nothing_is_missed() -> None:
    found = outcome(RESULT % (2, 5), small=True)
    assert (found.verdict, found.agrees, found.reason) == ("small sizes", None, None)
    assert outcome(RESULT % (2, 4), small=True).verdict == "strict"


def test_what_is_not_simulated_has_no_verdict() -> None:
    found = outcome("class: result, published: {low: 10, high: 10}, needs: compiler", None)
    assert (found.verdict, found.agrees, found.simulated_low, found.reason) == ("not simulated", None, None, "needs compiler")


def test_a_miss_names_its_paragraph() -> None:
    assert outcome(f"{RESULT % (9, 9)}, deviation: scans").reason == "docs/fidelity.md#scans"
    assert outcome(RESULT % (9, 9)).reason == "no paragraph in docs/fidelity.md"
    assert outcome(f"{RESULT % (2, 4)}, deviation: scans").reason is None


def test_results_and_orders_are_counted_unless_they_repeat() -> None:
    classes: dict[ClaimClass, bool] = {"result": True, "order": True, "arithmetic": False, "input": False}
    assert {name: outcome(f"class: {name}, published: unknown").counted for name in classes} == classes
    assert not outcome("class: result, published: unknown, repeats: other").counted


@pytest.mark.parametrize(
    ("text", "function", "message"),
    [
        (RESULT % (2, 4), None, "it has no measure"),
        (f"{RESULT % (2, 4)}, needs: more", fast, "and yet has a measure"),
        (RESULT % (2, 4), in_order, "its measure is a statement, but a number is published"),
        ("class: order", fast, "give the published range, or `published: unknown`"),
        (RESULT % (2, 4), lambda study: fast(study).iloc[:0], "gives no number"),
        (RESULT % (2, 4), lambda study: fast(study) * float("nan"), "gives no number for some places"),
        (RESULT % (2, 4), lambda study: study["size"], "there is no panel `size`; did you mean `sizes`"),
    ],
)
def test_a_measure_that_does_not_fit_its_claim(text: str, function: MeasureFunction | None, message: str) -> None:
    with pytest.raises(MeasureError, match=message) as error:
        outcome(text, function)
    assert str(error.value).startswith("claim c: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class: result, published: {}", "write `published: unknown`"),
        ("class: result, published: {low: 2, high: 1}", "low end 2 is above"),
        ("class: result, published: {low: 2, high: 2}, range: loose", "of two ends, or one that is open"),
        ("class: result, range: loose", "goes with a published range"),
        ("class: result, calibrates: a", "goes with `class: calibration`"),
        ("class: calibration", "goes with `class: calibration`"),
        ("class: results", "result"),
        ("clas: result", "did you mean `class`"),
    ],
)
def test_mistakes_in_claims_name_the_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        claim(text)
    assert str(error.value).startswith("c.yaml:1:")


def test_a_claim_has_one_measure() -> None:
    measure = Measures()
    measure("a", "b")(fast)
    assert dict(measure) == {"a": fast, "b": fast}
    with pytest.raises(ValueError, match="claim `b` has two measures"):
        measure("b")(fast)
