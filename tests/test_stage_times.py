"""Times of stages are measured, and wrong ones do not pass for the group sizes and distances that simulation finds best."""

import tracemalloc
from functools import cache
from typing import Any

import pytest

from memwalk.analysis.claims.study import Study, panel
from memwalk.analysis.model_checks import Check, hash_joins
from memwalk.analysis.model_checks.hash_joins import PROBE, PROBING, SIMULATOR
from memwalk.analysis.reproduce import machine_facts
from memwalk.analysis.stage_times import GROUP, LEAST_GROUPS, stage_cycles

WIDTH = 4
GROUPS = {4: 305.8, 8: 241.8, 9: 236.2, 14: 224.9, 17: 222.9, 18: 222.4, 25: 223.0, 50: 226.0}
DISTANCES = {1: 251.3, 2: 193.3, 3: 187.1, 4: 185.3, 6: 184.9}
"""Cycles per probe tuple on the thesis's simulator."""
ALL_HIDDEN = {17: 196.3}
"""The same, where the bus has no limit and page walks are free."""


def machine(**core: int) -> dict[str, Any]:
    facts = machine_facts(SIMULATOR)
    return facts | {"core": facts["core"] | core}


def stages(of: dict[str, Any]) -> list[float]:
    return stage_cycles(of, PROBING.workload, "probe")


@cache
def plain_stages() -> list[float]:
    """Return those of the machine as it is."""
    return stages(machine())


def study(by: tuple[str, str], axis: str, cycles: dict[int, float]) -> Study:
    """Give a sweep its results: those of one tuple."""
    name, variant = by
    points = [{"variant": variant, axis: place, PROBING.tuples: 1, "slots_in_probe": WIDTH * one} for place, one in cycles.items()]
    return Study({name: panel(points, [axis])}, machine_facts)


def failures() -> set[str]:
    by_group, by_distance = PROBING.by_group, PROBING.by_distance
    checks: list[Check] = [
        *PROBE.group(study(by_group, hash_joins.GROUP_SIZE, GROUPS)),
        *PROBE.distance(study(by_distance, hash_joins.DISTANCE, DISTANCES)),
        *PROBE.hidden(study(by_group, hash_joins.GROUP_SIZE, ALL_HIDDEN)),
    ]
    return {check.group for check in checks if not check.passed}


def test_a_stage_takes_as_long_whatever_memory_is_behind_the_caches() -> None:
    plain = machine()
    slow = plain | {"memory": plain["memory"] | {"latency_cycles": 1000}, "caches": plain["caches"][:1]}
    assert stages(slow) == plain_stages()


def test_a_trace_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its 154,000 events as an object would take 2 KB."""
    tracemalloc.start()
    plain = stages(machine())
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    monkeypatch.setattr("memwalk.analysis.stage_times._EVENTS_AT_ONCE", 1000)
    assert stages(machine()) == plain


def test_two_groups_give_the_same_stages_but_for_an_eighth() -> None:
    short = stage_cycles(machine(), {**PROBING.workload, "probe_tuples": LEAST_GROUPS * GROUP}, "probe", LEAST_GROUPS)
    assert short == pytest.approx(plain_stages(), rel=1 / 8)


def test_walks_that_read_page_tables_are_free_too() -> None:
    zen4 = machine_facts("zen4-server")
    assert "page_table" in zen4["dtlb"]
    walks_at_once = {**zen4, "dtlb": {name: value for name, value in zen4["dtlb"].items() if name != "page_table"}}
    assert stages(zen4) == stages(walks_at_once)


@pytest.mark.parametrize("ways", [3, 6, 12, 20])
def test_a_first_cache_of_any_number_of_ways_has_stages(ways: int) -> None:
    plain = machine()
    first, *others = plain["caches"]
    sets = first["size_bytes"] // (first["ways"] * first["line_bytes"])
    other = plain | {"caches": [{**first, "ways": ways, "size_bytes": sets * ways * first["line_bytes"]}, *others]}
    assert stages(other) == plain_stages()


def test_a_slower_divide_makes_the_first_stage_longer_and_no_other() -> None:
    # A tuple's hash code is divided by the number of buckets; one divide begins when the one before it has ended.
    plain, slow = plain_stages(), stages(machine(divide_latency_cycles=100))
    assert slow[0] - plain[0] == pytest.approx(50, abs=1)
    assert slow[1:] == pytest.approx(plain[1:], abs=1)


@pytest.mark.parametrize(
    ("factor", "failed"),
    [
        (1, set()),
        (2, {"group size (4.1)", "prefetch distance (4.2)", "hidden misses (4.1)"}),
        # What is chosen for too short stages hides the misses, too.
        (0.5, {"hidden misses (4.1)"}),
    ],
)
def test_stage_times_off_by_a_factor_of_two_show(factor: float, failed: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    measured = PROBE.stages()
    monkeypatch.setattr(hash_joins.Tuning, "stages", lambda _: tuple(factor * stage for stage in measured))
    assert failures() == failed


def test_a_choice_that_was_not_swept_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_joins.Tuning, "stages", lambda _: (20.0, 20.0, 20.0, 20.0))
    (check, _) = PROBE.group(study(PROBING.by_group, hash_joins.GROUP_SIZE, {25: 223.0}))
    assert check.found is None
    assert not check.passed
