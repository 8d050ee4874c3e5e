"""Series of a panel, and statements about them."""

import pandas as pd
import pytest

from memwalk.analysis.claims import MeasureError, panel
from memwalk.analysis.claims import orders as o
from memwalk.analysis.claims import sweep as s

FAST, SLOW = {1: 10.0, 10: 100.0, 100: 1000.0}, {1: 20.0, 10: 150.0, 100: 4000.0}
ROWS = [
    {"variant": name, "keys": keys, "cycles": cycles, "operations": 10, "splits": 0, "slots_total": 4 * cycles, "slots_dcache": cycles}
    for name, times in (("fast", FAST), ("slow", SLOW))
    for keys, cycles in times.items()
]
SIZES = panel(ROWS, ["keys"])
GRID = panel([{"variant": "a", "x": x, "y": y, "cycles": x * y} for x in (1, 2) for y in (1, 3)], ["x", "y"])
RUNS = panel([{"variant": "a", "seed": seed, "cycles": cycles} for seed, cycles in ((1, 10.0), (2, 20.0))], [])


def test_a_series_is_indexed_by_the_axes() -> None:
    assert s.series(SIZES, "fast").to_dict() == FAST
    assert s.series(SIZES, "fast", per="operations").to_dict() == {keys: cycles / 10 for keys, cycles in FAST.items()}
    assert s.series(GRID, "a").to_dict() == {(1, 1): 1, (1, 3): 3, (2, 1): 2, (2, 3): 6}


def test_repetitions_are_averaged() -> None:
    assert s.series(RUNS, "a").tolist() == [15.0]


def test_ratios_are_taken_place_by_place() -> None:
    assert s.speedup(SIZES, "fast", over="slow").tolist() == [2, 1.5, 4]
    assert s.gained(SIZES, "fast", over="slow").tolist() == pytest.approx([100, 50, 300])
    assert s.reduced(SIZES, "fast", over="slow").tolist() == pytest.approx([50, 100 / 3, 75])
    several = s.speedup(SIZES, ["fast", "slow"], over="slow")
    assert several.index.names == ["variant", "keys"]
    assert several.tolist() == [2, 1.5, 4, 1, 1, 1]
    assert s.share(SIZES, "fast", "dcache").tolist() == [25, 25, 25]
    assert s.share(SIZES, "fast", "dcache", "dcache").tolist() == [50, 50, 50]


def test_parts_of_a_sweep_are_plain_pandas() -> None:
    large = SIZES[SIZES["keys"] >= 10]
    assert s.speedup(large, "fast", over="slow").tolist() == [1.5, 4]


def test_lines_run_along_an_axis() -> None:
    assert [line.to_dict() for line in s.lines(s.series(GRID, "a"), "x")] == [{1: 1, 2: 2}, {1: 3, 2: 6}]
    assert s.growth(s.series(GRID, "a"), "y").tolist() == [3, 3]
    assert s.marginal(s.series(SIZES, "fast"), s.series(SIZES, "slow"), "keys").to_dict() == {10: 90 / 130, 100: 900 / 3850}


def test_places_on_an_axis() -> None:
    values = pd.Series([3.0, 1.0, 1.0], index=pd.Index([1, 2, 4], name="x"))
    assert s.least_at(values, "x") == 2
    # Where all places are equal, none is the best.
    assert s.least_at(pd.Series([1.03, 1.0, 1.0], index=values.index), "x") == float("inf")
    assert [s.from_where_on(values < limit, "x") for limit in (4, 2, 1)] == [1, 2, float("inf")]
    assert [s.up_to_where(values > limit, "x") for limit in (0, 2, 3)] == [float("inf"), 1, 0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: s.series(SIZES, "slo"), "did you mean `slow`"),
        (lambda: s.series(SIZES, "slow", "cycle"), "did you mean `cycles`"),
        (lambda: s.speedup(SIZES, "fast", over="slow", column="splits"), "the divisor is zero at keys 1"),
        (lambda: s.series(SIZES, "slow", per="splits"), "`splits` of `slow` is zero"),
        (lambda: s.growth(s.series(SIZES, "slow"), "fill"), "no axis `fill`"),
        (lambda: s.ratio(s.series(SIZES, "slow"), s.series(SIZES[SIZES["keys"] > 1], "fast")), "nothing to compare with at keys 1"),
        (lambda: s.series(SIZES[SIZES["keys"] > 100], "slow"), "nothing is left"),
        (lambda: o.less(s.series(SIZES, "slow"), s.series(SIZES[SIZES["keys"] > 1], "fast")), "the same places"),
        (lambda: o.falling(s.series(SIZES[SIZES["keys"] == 1], "slow"), "keys"), "two places or more"),
        (lambda: o.all_of([]), "about nothing"),
    ],
)
def test_measures_that_do_not_fit_the_results(wrong, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(MeasureError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("statement", "true", "false"),
    [
        (o.less, (0.999,), (1.0, 1.001)),
        (o.alike, (0.975, 1.0, 1.03), (0.96, 1.031)),
        (o.exactly, (1.0,), (0.999, 1.001)),
        (o.at_most, (0.5, 1.0), (1.001,)),
        (o.differ, (0.96, 1.04), (0.98, 1.0, 1.03)),
        (o.no_more, (0.5, 1.0, 1.03), (1.031,)),
        (o.slightly_less, (0.92, 0.999), (0.9, 1.0, 1.01)),
        (o.similar, (0.92, 1.0, 1.09), (0.9, 1.1)),
        (o.much_less, (0.1, 0.5), (0.51, 0.9, 1.0)),
    ],
)
def test_what_the_words_mean(statement, true, false) -> None:  # type: ignore[no-untyped-def]
    assert all(statement(left, 1.0).holds for left in true)
    assert not any(statement(left, 1.0).holds for left in false)
    assert not statement(pd.Series([true[0], false[0]]), pd.Series([1.0, 1.0])).holds, "at every place or not at all"


def test_zero_is_less_than_some_and_equal_to_zero() -> None:
    assert o.less(0.0, 1.0).holds
    assert o.alike(0.0, 0.0).holds
    assert not o.less(0.0, 0.0).holds
    assert not o.alike(0.0, 1.0).holds


def test_statements_are_joined() -> None:
    both = o.less(1.0, 2.0) & o.less(4.0, 2.0)
    assert (both.ratios, both.holds) == ((0.5, 2.0), False)
    assert o.in_order(1.0, 2.0, 4.0).holds
    assert not o.in_order(1.0, 4.0, 4.0).holds


def course(*values: float) -> "pd.Series[float]":
    return pd.Series(values, index=pd.Index(range(len(values)), name="x"))


@pytest.mark.parametrize(
    ("shape", "true", "false"),
    [
        (o.falling, [(3, 2, 1)], [(3, 2, 2), (1, 2)]),
        (o.rising, [(1, 2, 3)], [(1, 1, 2), (2, 1)]),
        (o.never_rising, [(3, 2, 2, 1), (100, 102)], [(100, 102, 104), (1, 2)]),
        (o.never_falling, [(1, 2, 2, 3), (100, 98)], [(100, 98, 96), (2, 1)]),
        (o.flat, [(100, 101, 103)], [(100, 104)]),
        (o.stable, [(100, 199), (199, 100)], [(100, 200), (0, 1)]),
        (o.not_worse, [(100, 50, 102)], [(100, 50, 104)]),
    ],
)
def test_shapes(shape, true, false) -> None:  # type: ignore[no-untyped-def]
    assert all(shape(course(*values), "x").holds for values in true)
    assert not any(shape(course(*values), "x").holds for values in false)


def test_steps_go_where_something_else_does_and_rise_little_in_between() -> None:
    heights = course(3, 3, 2, 2)
    assert o.steps(course(100, 109, 80, 85), heights, "x").holds
    assert not o.steps(course(100, 109, 102, 105), heights, "x").holds, "a rise larger than the step"
    assert not o.steps(course(100, 111, 80, 85), heights, "x").holds, "a rise that is not slight"
    assert not o.steps(course(100, 109, 80, 79), heights, "x").holds, "a fall between steps"
    with pytest.raises(MeasureError, match="nothing steps"):
        o.steps(course(1, 2), course(3, 3), "x")
