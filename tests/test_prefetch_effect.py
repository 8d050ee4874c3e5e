"""What prefetching did for a run is told from its counts, beside the run without prefetches."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from memwalk.analysis.explain.prefetch_effect import PrefetchEffect, prefetch_effect


def row(variant: str, **changes: Any) -> dict[str, Any]:
    """Make a point of ten operations: 1000 cycles on a core of two slots, half of them waits for lines."""
    plain = {
        "experiment": "e",
        "variant": variant,
        "cycles": 1000,
        "slots_total": 2000,
        "slots_dcache": 1000,
        "slots_dtlb": 0,
        "operations": 10,
    }
    prefetches = dict.fromkeys(("prefetches_issued", "prefetches_useless", "prefetches_dropped", "prefetches_late", "prefetches_unused"), 0)
    return plain | prefetches | {"workload.keys": 100, "workload.algorithm": variant} | changes


PREFETCHES = {"prefetches_issued": 60, "prefetches_useless": 15, "prefetches_dropped": 5, "prefetches_late": 10, "prefetches_unused": 2}
PLAIN = row("plain")
AHEAD = row("ahead", cycles=600, slots_total=1200, slots_dcache=200, **PREFETCHES)


def effect(of: dict[str, Any], *others: dict[str, Any]) -> PrefetchEffect:
    found = prefetch_effect(of, pd.DataFrame([of, *others]))
    assert found is not None
    return found


def test_prefetches_are_compared_with_the_variant_that_has_none() -> None:
    found = effect(AHEAD, PLAIN)
    assert found == PrefetchEffect(
        issued=6.0, brought=4.0, late=1.0, unused=0.2, dropped=0.5, cycles=60.0, waits=10.0, walks=0.0, without="plain", waits_without=50.0
    )
    assert found.sentence() == (
        "Prefetches bring 4.00 lines, of which 25.0% come late and 5.0% leave unused, and 0.50 more are dropped on TLB misses; "
        "80% of plain's waits for lines are gone, and what is left takes 10.0 of 60.0 cycles (17%)."
    )


def test_what_makes_waits_longer_is_said_to() -> None:
    worse = effect(AHEAD | {"slots_dcache": 1100}, PLAIN)
    assert "waits are 10% longer than plain's" in worse.sentence()


def test_a_run_without_prefetches_tells_what_they_could_remove() -> None:
    said = effect(PLAIN, AHEAD).sentence()
    assert said.endswith("waits for lines take 50.0 of 100.0 cycles (50%). Prefetching can remove these.")
    said = effect(PLAIN | {"slots_dtlb": 100}, AHEAD).sentence()
    assert said.endswith("Prefetching can remove these, and page walks (5.0) where prefetches do them.")


@pytest.mark.parametrize("operations", [0, None])
def test_a_run_that_counts_no_operations_is_one(operations: int | None) -> None:
    found = effect(AHEAD | {"operations": operations}, PLAIN)
    assert (found.issued, found.cycles, found.waits) == (60.0, 600.0, 100.0)


def test_where_none_is_dropped_nothing_is_said_of_it() -> None:
    assert "leave unused; " in effect(AHEAD | {"prefetches_dropped": 0}, PLAIN).sentence()


def test_prefetches_of_lines_that_are_there_are_no_program_without_prefetches() -> None:
    useless = AHEAD | {"prefetches_useless": 60, "prefetches_dropped": 0, "prefetches_late": 0, "prefetches_unused": 0}
    assert effect(useless).sentence() == "None of 6.00 prefetches brings a line; waits for lines take 10.0 of 60.0 cycles (17%)."
    dropped = useless | {"prefetches_useless": 20, "prefetches_dropped": 40}
    assert effect(dropped).sentence().startswith("None of 6.00 prefetches brings a line, 4.00 are dropped on TLB misses; ")


@pytest.mark.parametrize(
    "others",
    [
        (),
        (PLAIN, row("other")),  # which of the two?
        (row("plain", experiment="another"),),
    ],
)
def test_what_cannot_be_compared_is_not(others: tuple[dict[str, Any], ...]) -> None:
    found = effect(AHEAD, *others)
    assert found.without is None
    assert found.sentence().endswith("dropped on TLB misses; waits for lines take 10.0 of 60.0 cycles (17%).")


def test_points_of_a_sweep_are_compared_with_those_of_their_own_value() -> None:
    points = [
        one | {"workload.keys": keys, "slots_dcache": one["slots_dcache"] * keys // 100} for keys in (100, 50) for one in (PLAIN, AHEAD)
    ]
    found = prefetch_effect(points[3], pd.DataFrame(points))
    assert found is not None
    assert (found.waits, found.waits_without) == (5.0, 25.0)


def test_tables_of_before_say_nothing() -> None:
    old = {name: value for name, value in AHEAD.items() if name != "prefetches_late"}
    assert prefetch_effect(old, pd.DataFrame([old])) is None
