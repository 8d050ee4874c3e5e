"""What the measures of the two studies of page layouts compute by themselves, on tables with known answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from memwalk.analysis.claims import Holds, Study, panel
from memwalk.analysis.papers import measures
from memwalk.analysis.papers.cstore import WIDTH, crossing
from memwalk.analysis.papers.pax.layouts import PROJECTED, SELECTIVITY, SIZE, TESTED, risen
from memwalk.analysis.papers.pax.summary import linear
from memwalk.analysis.papers.pax.tpch import SELECTIONS, faster

PAX = measures("pax")
NO_MACHINES: Callable[[str], dict[str, Any]] = {}.__getitem__


def along(axis: str, values: dict[float, float]) -> pd.Series[float]:
    return pd.Series(list(values.values()), index=pd.Index(list(values), name=axis))


def test_two_stores_cross_where_the_logarithms_of_their_times_do() -> None:
    assert crossing(along(WIDTH, {4: 4.0, 8: 2.0, 16: 0.5, 32: 0.1})) == pytest.approx(8 * math.sqrt(2))
    assert crossing(along(WIDTH, {4: 4.0, 8: 1.0, 16: 0.5})) == pytest.approx(8)
    assert crossing(along(WIDTH, {4: 4.0, 8: 2.0})) == math.inf


def test_what_is_linear_rises_along_a_straight_line() -> None:
    assert linear(along("x", {1: 100, 2: 200, 4: 410}), "x").holds
    assert not linear(along("x", {1: 100, 2: 120, 4: 600, 5: 1500}), "x").holds, "bent"
    assert not linear(along("x", {1: 100, 2: 101, 4: 101}), "x").holds, "flat at the end"


def test_what_has_risen_is_last_less_first() -> None:
    assert risen(along("x", {4: 7.0, 1: 2.0, 2: 9.0}), "x") == 5


def selection(nsm: dict[float, float], pax: dict[float, float]) -> Study:
    """Second-level misses of 1000 records by selectivity."""
    rows = [
        {"variant": variant, SELECTIVITY: share, "records": 1000, "returned": 1000 * share, "L2_data_misses": misses}
        for variant, line in (("NSM", nsm), ("PAX", pax))
        for share, misses in line.items()
    ]
    return Study({"selection": panel(rows, [SELECTIVITY])}, NO_MACHINES)


NSM_MISSES = {0.01: 1010.0, 0.2: 1200.0, 1.0: 2000.0}


@pytest.mark.parametrize(
    ("pax", "holds"),
    [
        ({0.01: 260.0, 0.2: 400.0, 1.0: 500.0}, True),
        ({0.01: 260.0, 0.2: 400.0, 1.0: 530.0}, False),  # twice as many at the end
        ({0.01: 800.0, 0.2: 1000.0, 1.0: 1400.0}, False),  # more than half of NSM's further misses
    ],
)
def test_pax_is_insensitive_to_selectivity_beside_nsm(pax: dict[float, float], holds: bool) -> None:
    judged = PAX["pax-fig9-insensitive"](selection(NSM_MISSES, pax))
    assert isinstance(judged, Holds)
    assert judged.holds is holds


def test_nsm_has_one_further_miss_per_record_that_qualifies() -> None:
    further = PAX["pax-fig9-nsm-extra-miss"](selection(NSM_MISSES, NSM_MISSES))
    assert isinstance(further, pd.Series)
    assert further.tolist() == pytest.approx([1, 1])


def test_in_memory_the_processor_is_compared_and_with_io_all_of_the_time() -> None:
    rows = [
        {"variant": variant, SIZE: size, "cycles": seconds * 1e8, "cpu_seconds": processor, "seconds": seconds}
        for variant, processor, seconds in (("NSM", 3.0, 11.0), ("PAX", 2.0, 10.0))
        for size in (0.1, 0.2, 0.5)
    ]
    assert faster(panel(rows, [SIZE])).to_dict() == pytest.approx({0.1: 1.5, 0.2: 1.1, 0.5: 1.1})


def with_dsm(selection: float, attributes: float) -> Study:
    """A relation that DSM scans in so many times the cycles of the others, by selectivity and by attributes projected and tested."""
    panels = {
        name: panel(
            [
                {"variant": variant, axis: value, "cycles": cycles}
                for variant, cycles in (("NSM", 1.0), ("PAX", 1.0), ("DSM", times))
                for value in (1, 7)
            ],
            [axis],
        )
        for name, axis, times in (
            ("selection", SELECTIVITY, selection),
            ("projectivity", PROJECTED, attributes),
            ("predicates", TESTED, attributes),
        )
    }
    return Study(panels, NO_MACHINES)


@pytest.mark.parametrize(("selection", "attributes", "holds"), [(0.9, 1.1, True), (1.1, 0.9, False)])
def test_dsm_is_never_better_where_the_study_shows_it(selection: float, attributes: float, holds: bool) -> None:
    judged = PAX["pax-dsm-never-better"](with_dsm(selection, attributes))
    assert isinstance(judged, Holds)
    assert judged.holds is holds


def test_a_platform_saves_the_mean_of_its_range_selections() -> None:
    def timed(nsm: float) -> pd.DataFrame:
        rows = [{"variant": variant, SELECTIVITY: 0.1, "cpu_seconds": seconds} for variant, seconds in (("NSM", nsm), ("PAX", 1.0))]
        return panel(rows, [SELECTIVITY])

    times = dict.fromkeys(SELECTIONS, 1.0) | {SELECTIONS[-1]: 2.0}
    panels = {f"{platform}-{name}": timed(nsm) for platform in ("xeon", "sparc", "alpha") for name, nsm in times.items()}
    saved = PAX["pax-fig14-rs"](Study(panels, NO_MACHINES))
    assert isinstance(saved, pd.Series)
    assert saved.tolist() == pytest.approx([50 / len(SELECTIONS)] * 3)


def io_bound(nsm: float, pax: float) -> Study:
    rows = [
        {"variant": variant, SIZE: size, "cycles": cycles, "cpu_seconds": cycles, "io_seconds": seconds - cycles, "seconds": seconds}
        for variant, cycles, seconds in (("NSM", 3.0, nsm), ("PAX", 2.0, pax))
        for size in (0.1, 0.5)
    ]
    return Study({"q6": panel(rows, [SIZE])}, NO_MACHINES)


@pytest.mark.parametrize(
    ("nsm", "pax", "holds"),
    [(101.0, 100.0, True), (108.0, 100.0, False), (5.05, 5.0, False), (100.0, 60.0, False)],
    ids=["as good as nothing", "8% are left", "the processor decides", "less than without"],
)
def test_pax_converges_where_disks_decide(nsm: float, pax: float, holds: bool) -> None:
    judged = PAX["pax-io-bound-converges"](io_bound(nsm, pax))
    assert isinstance(judged, Holds)
    assert judged.holds is holds
