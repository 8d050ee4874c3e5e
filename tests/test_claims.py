"""The rule of agreement and every way of measuring, on tables small enough to judge by hand."""

from typing import Any

import pytest

from memwalk.analysis.claims.conditions import Condition
from memwalk.analysis.claims.measures import Measure, Sources
from memwalk.analysis.claims.tables import MeasureError, Panel
from memwalk.analysis.claims.verdict import Claim, Outcome, judge
from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import parse

MACHINE = {
    "memory": {"model": "fixed", "latency_cycles": 250, "interval_cycles": 15},
    "dtlb": {"walk_latency_cycles": 30, "page_bytes": 16384, "levels": [{"entries": 128}]},
    "caches": [{"name": "L1", "mshrs": 32}],
}
# Two series over two sizes. Speedups of fast over slow: 2 at 10 keys, 4 at 100 keys.
SIZES = Panel(
    [
        {"variant": "slow", "keys": 10, "cycles": 400, "slots_total": 1600, "slots_dcache": 800, "splits": 8},
        {"variant": "slow", "keys": 100, "cycles": 800, "slots_total": 3200, "slots_dcache": 2400, "splits": 10},
        {"variant": "fast", "keys": 10, "cycles": 200, "slots_total": 800, "slots_dcache": 200, "splits": 0},
        {"variant": "fast", "keys": 100, "cycles": 200, "slots_total": 800, "slots_dcache": 240, "splits": 1},
    ],
    ["keys"],
)


def sources(**panels: Panel) -> Sources:
    return Sources(panels or {"sizes": SIZES}, {"m": MACHINE}.__getitem__)


def curve(name: str, *cycles: float, **columns: list[float]) -> Panel:
    rows = [
        {"variant": name, "w": w, "cycles": value, **{key: column[w - 1] for key, column in columns.items()}}
        for w, value in enumerate(cycles, start=1)
    ]
    return Panel(rows, ["w"])


def measured(yaml: str, given: Sources | None = None) -> list[float]:
    return list(validate(Measure, parse(yaml, "m.yaml")).values(given or sources()).values())


def holds(yaml: str, given: Sources | None = None) -> tuple[bool, bool]:
    judged = validate(Condition, parse(yaml, "c.yaml")).judge(given or sources())
    return judged.agrees, judged.strict


def claim(published: str, measure: str, unit: str = "x") -> Claim:
    text = f"{{id: c, where: w, platform: simulation, kind: speedup, metric: m, unit: '{unit}', published: {published}, {measure}}}"
    return validate(Claim, parse(text, "c.yaml"))


def outcome(published: str, measure: str, unit: str = "x") -> Outcome:
    return judge(claim(published, measure, unit), "paper/fig", sources())


SPEEDUP = "measure: {speedup: {panel: sizes, of: fast, over: slow}}"


@pytest.mark.parametrize(
    ("yaml", "values"),
    [
        ("{value: {panel: sizes, variant: slow}}", [400, 800]),
        ("{value: {panel: sizes, variant: slow, per: splits}}", [50, 80]),
        ("{value: {panel: sizes, variant: slow, where: {keys: 100}}}", [800]),
        ("{value: {panel: sizes, variant: slow, where: {keys: [10, 100]}}}", [400, 800]),
        ("{value: {panel: sizes, variant: slow, where: {keys: {least: 11}}}}", [800]),
        ("{value: {panel: sizes, variant: slow, where: {keys: {most: 11}}}}", [400]),
        ("{value: {panel: sizes, variant: slow, where: {keys: {greatest: true}}}}", [800]),
        ("{value: {panel: sizes, variant: slow, where: {keys: {smallest: true}}}}", [400]),
        ("{least: {panel: sizes, variant: slow}}", [400]),
        ("{speedup: {panel: sizes, of: fast, over: slow}}", [2, 4]),
        ("{speedup: {panel: sizes, of: [fast, slow], over: slow}}", [2, 4, 1, 1]),
        ("{share: {panel: sizes, variant: slow, cause: dcache}}", [50, 75]),
        ("{stall_removed: {panel: sizes, of: fast, over: slow, cause: dcache}}", [75, 90]),
        ("{reduced: {panel: sizes, of: [fast], over: slow, column: splits}}", [100, 90]),
        ("{growth: {panel: sizes, variant: slow, axis: keys}}", [2]),
        ("{share: {panel: sizes, variant: fast, cause: [dcache, total]}}", [125, 130]),
        ("{percent: {panel: sizes, variant: slow, columns: [slots_dcache, splits], per: slots_total}}", [50.5, 75.3125]),
        ("{percent: {panel: sizes, variant: slow, columns: [slots_dcache], per: slots_total, rest: true}}", [50, 25]),
        ("{marginal: {panel: sizes, variant: slow, axis: keys, column: cycles, per: splits}}", [200]),
        ("{gained: {panel: sizes, of: fast, over: slow}}", [100, 300]),
        ("{average: {gained: {panel: sizes, of: fast, over: slow}}}", [200]),
        ("{argmin: {panel: sizes, variant: slow, axis: keys}}", [10]),
        ("{fact: {machine: m, path: caches.0.mshrs}}", [32]),
        ("{model: {name: levels, given: {kind: b+, keys: 10000000, node_lines: [1, 8]}}}", [8, 4]),
        ("{model: {name: prefetch-distance, machine: m, given: {node_lines: 8}}}", [3]),
        ("{model: {name: node-children, given: [{kind: csb+, node_lines: 1}, {kind: b+, node_lines: 8}]}}", [15, 64]),
        ("{together: [{least: {panel: sizes, variant: slow}}, {least: {panel: sizes, variant: fast}}]}", [400, 200]),
    ],
)
def test_measures(yaml: str, values: list[float]) -> None:
    assert measured(yaml) == pytest.approx(values)


def test_equally_fast_widths_give_the_narrower() -> None:
    assert measured("{argmin: {panel: p, variant: t, axis: w}}", sources(p=curve("t", 9, 5, 5, 7))) == [2]


def test_a_sweep_may_be_spread_over_panels() -> None:
    low, high = curve("t", 9), Panel([{"variant": "t", "w": 2, "cycles": 3}], ["w"])
    assert measured("{argmin: {panel: [low, high], variant: t, axis: w}}", sources(low=low, high=high)) == [2]


def test_first_faster_looks_for_the_end_of_the_slow_part() -> None:
    rows = [{"variant": "base", "r": r, "cycles": 10} for r in (1, 2, 3, 4)]
    rows += [{"variant": "t", "r": r, "cycles": c} for r, c in ((1, 12), (2, 9), (3, 11), (4, 10))]
    yaml = "{first_faster: {panel: p, of: [t], over: base, axis: r}}"
    assert measured(yaml, sources(p=Panel(rows, ["r"]))) == [4]
    rows[-1] = {"variant": "t", "r": 4, "cycles": 11}
    assert measured(yaml, sources(p=Panel(rows, ["r"]))) == [float("inf")]


@pytest.mark.parametrize(("cycles", "times", "last"), [
    ((9, 10, 11, 9), 1.0, 2),
    ((9, 10, 11, 9), 1.2, float("inf")),
    ((11, 9, 9, 9), 1.0, 0),
])  # fmt: skip
def test_last_faster_looks_for_the_end_of_the_fast_part(cycles: tuple[int, ...], times: float, last: float) -> None:
    rows = [{"variant": "base", "r": r, "cycles": 10} for r in (1, 2, 3, 4)]
    rows += [{"variant": "t", "r": r, "cycles": c} for r, c in enumerate(cycles, start=1)]
    yaml = f"{{last_faster: {{panel: p, of: t, over: base, axis: r, times: {times}}}}}"
    assert measured(yaml, sources(p=Panel(rows, ["r"]))) == [last]


def test_what_never_happens_has_no_number() -> None:
    rows = [{"variant": variant, "r": r, "cycles": c} for variant, c in (("base", 1), ("t", 2)) for r in (1, 2)]
    never = claim("{low: 1, high: 1}", "measure: {first_faster: {panel: p, of: [t], over: base, axis: r}}")
    found = judge(never, "paper/fig", sources(p=Panel(rows, ["r"])))
    assert (found.simulated_low, found.simulated_high, found.agrees) == (None, None, False)


def test_spread_is_the_sample_standard_deviation_over_the_mean() -> None:
    # 8, 10 and 12: mean 10, squared distances 4 + 0 + 4, over n - 1 = 2 gives a deviation of 2.
    rows: list[dict[str, Any]] = [{"variant": "t", "keys": 1, "cycles": c} for c in (8, 10, 12)]
    assert measured("{spread: {panel: p, variant: t}}", sources(p=Panel(rows, ["keys"]))) == [20]
    with pytest.raises(MeasureError, match="one run"):
        measured("{spread: {panel: p, variant: t}}", sources(p=Panel(rows[:1], ["keys"])))


def test_repetitions_are_averaged() -> None:
    rows: list[dict[str, Any]] = [{"variant": "t", "keys": 1, "cycles": c} for c in (10, 20)]
    assert measured("{value: {panel: p, variant: t}}", sources(p=Panel(rows, ["keys"]))) == [15]


@pytest.mark.parametrize(
    ("published", "agrees", "strict"),
    [
        ("{low: 2, high: 4}", True, True),
        ("{low: 2.3, high: 4}", True, False),  # 2.3 less 15% is 1.955
        ("{low: 2.4, high: 4}", False, False),  # 2.04
        ("{low: 2, high: 3.48}", True, False),  # 3.48 and 15% is 4.002
        ("{low: 2, high: 3.47}", False, False),  # 3.9905
        ("{low: 1}", True, True),
        ("{high: 3}", False, False),
        ("unknown", None, None),
    ],
)
def test_a_range_is_widened_by_15_percent(published: str, agrees: bool | None, strict: bool | None) -> None:
    found = outcome(published, SPEEDUP)
    assert (found.agrees, found.strict) == (agrees, strict)
    assert (found.simulated_low, found.simulated_high) == (2, 4)


@pytest.mark.parametrize(("low", "high", "agrees"), [(50, 75, True), (55, 70, True), (55.1, 75, False), (50, 69.9, False)])
def test_shares_are_widened_by_five_points(low: float, high: float, agrees: bool) -> None:
    share = "measure: {share: {panel: sizes, variant: slow, cause: dcache}}"
    assert outcome(f"{{low: {low}, high: {high}}}", share, "%").agrees is agrees


@pytest.mark.parametrize(("low", "agrees"), [(16.7, True), (16.67, True), (17, True), (16.6, False), (16, False)])
def test_what_equations_give_is_exact_to_the_published_digits(low: float, agrees: bool) -> None:
    bandwidth = "measure: {model: {name: normalized-bandwidth, machine: m}}"
    found = outcome(f"{{low: {low}, high: {low}}}", bandwidth)
    assert found.agrees is agrees
    assert found.strict is agrees


def test_orders_hold_at_every_point_with_ties_within_three_percent() -> None:
    def pair(a: float, b: float) -> Sources:
        rows = [{"variant": "a", "k": 1, "cycles": 1}, {"variant": "b", "k": 1, "cycles": 2}]
        rows += [{"variant": "a", "k": 2, "cycles": a}, {"variant": "b", "k": 2, "cycles": b}]
        return sources(p=Panel(rows, ["k"]))

    order = "{order: {panel: p, relations: [a < b]}}"
    assert holds(order, pair(100, 100)) == (True, True)
    assert holds(order, pair(103, 100)) == (True, False)
    assert holds(order, pair(103.1, 100)) == (False, False)
    much = "{order: {panel: p, relations: [a << b], where: {k: 2}}}"
    assert holds(much, pair(50, 100)) == (True, True)
    assert holds(much, pair(52, 100)) == (False, False)
    equal = "{order: {panel: p, relations: [a ~ b], where: {k: 2}}}"
    assert holds(equal, pair(97.5, 100)) == (True, True)
    assert holds(equal, pair(96.9, 100)) == (False, False)
    assert holds(equal, pair(103.1, 100)) == (False, False)


@pytest.mark.parametrize(
    ("condition", "cycles", "agrees"),
    [
        ("{flat: {panel: p, variants: [t], axis: w}}", (100, 103, 101), True),
        ("{flat: {panel: p, variants: [t], axis: w}}", (100, 104, 101), False),
        ("{not_degraded: {panel: p, variants: [t], axis: w}}", (100, 80, 103), True),
        ("{not_degraded: {panel: p, variants: [t], axis: w}}", (100, 80, 104), False),
        ("{trend: {measure: {value: {panel: p, variant: t}}, axis: w, direction: falling}}", (100, 80, 82), True),
        ("{trend: {measure: {value: {panel: p, variant: t}}, axis: w, direction: falling}}", (100, 80, 83), False),
        ("{trend: {measure: {value: {panel: p, variant: t}}, axis: w, direction: rising}}", (80, 100, 98), True),
        ("{trend: {measure: {value: {panel: p, variant: t}}, axis: w, direction: rising}}", (80, 100, 96), False),
    ],
)
def test_shapes(condition: str, cycles: tuple[float, ...], agrees: bool) -> None:
    assert holds(condition, sources(p=curve("t", *cycles)))[0] is agrees


@pytest.mark.parametrize(
    ("cycles", "agrees"),
    [
        ((100, 104, 80, 84), True),
        ((100, 104, 107.2, 110), False),  # no fall where a level goes
        ((100, 130, 115, 118), False),  # rises more within a step than the step falls
        ((100, 90, 70, 72), False),  # falls within a step
    ],
)
def test_steps_follow_the_levels(cycles: tuple[float, ...], agrees: bool) -> None:
    panel = curve("t", *cycles, levels=[4, 4, 3, 3])
    assert holds("{steps: {panel: p, variants: [t], axis: w, by: levels}}", sources(p=panel))[0] is agrees


def test_measures_are_compared_place_by_place() -> None:
    fast, slow = "{value: {panel: sizes, variant: fast}}", "{value: {panel: sizes, variant: slow}}"
    assert holds(f"{{compared: {{left: {fast}, right: {slow}}}}}") == (True, True)
    assert holds(f"{{compared: {{left: {slow}, right: {fast}}}}}") == (False, False)
    assert holds(f"{{compared: {{left: {slow}, right: {fast}, times: 4}}}}") == (True, True)
    assert holds(f"{{compared: {{left: {fast}, right: {fast}, equal: true}}}}") == (True, True)
    assert holds(f"{{compared: {{left: {fast}, right: {fast}, tie: -0.03}}}}") == (False, False)
    assert holds(f"{{compared: {{left: {slow}, right: {{least: {{panel: sizes, variant: slow}}}}, times: 2}}}}") == (True, True)
    assert holds(f"{{compared: {{left: {slow}, number: 800, tie: 0}}}}") == (True, True)
    assert holds(f"{{compared: {{left: {slow}, number: 799, tie: 0}}}}") == (False, False)


@pytest.mark.parametrize(("cycles", "agrees"), [(1439, True), (1439 * 1.14, True), (1439 * 1.16, False), (1439 * 0.84, False)])
def test_simulation_is_compared_with_each_points_own_model(cycles: float, agrees: bool) -> None:
    tree = {"workload.tree.kind": "b+", "workload.tree.node_lines": 8, "workload.tree.jump_pointers": "none"}
    sizes = {"workload.keys": 10_000_000, "workload.line_bytes": 64, "workload.word_bytes": 4}
    panel = Panel([{"variant": "t", "cycles": cycles * 5, "operations": 5, **tree, **sizes}], [])
    condition = "{matches_model: {panel: p, variants: [t], model: cold-search-cost, machine: m, per: operations, tie: 0.15}}"
    assert holds(condition, sources(p=panel))[0] is agrees


def test_what_is_not_simulated_has_no_verdict() -> None:
    found = outcome("{low: 10, high: 10}", "needs: compiler")
    assert (found.agrees, found.simulated_low, found.reason) == (None, None, "not simulated: needs compiler")


def test_a_miss_names_its_paragraph() -> None:
    missed = SPEEDUP + ", deviation: scans"
    assert outcome("{low: 9, high: 9}", missed).reason == "docs/fidelity.md#scans"
    assert outcome("{low: 2, high: 4}", missed).reason is None


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("{value: {panel: size, variant: slow}}", "did you mean `sizes`"),
        ("{value: {panel: sizes, variant: slo}}", "did you mean `slow`"),
        ("{value: {panel: sizes, variant: slow, column: cycle}}", "did you mean `cycles`"),
        ("{value: {panel: sizes, variant: slow, where: {key: 1}}}", "did you mean `keys`"),
        ("{value: {panel: sizes, variant: slow, where: {keys: 5}}}", "no point of `slow`"),
        ("{speedup: {panel: sizes, of: fast, over: slow, column: splits}}", "is zero"),
        ("{fact: {machine: m, path: caches.1.mshrs}}", "has no `caches.1.mshrs`"),
        ("{growth: {panel: sizes, variant: slow, axis: fill}}", "has no axis `fill`"),
    ],
)
def test_measures_that_do_not_fit_the_results(yaml: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        measured(yaml)


@pytest.mark.parametrize(
    ("published", "measure", "message"),
    [
        ("{}", SPEEDUP, "write `published: unknown`"),
        ("{low: 2, high: 1}", SPEEDUP, "low end 2.0 is above"),
        ("order", SPEEDUP, "not with `order`"),
        ("{low: 1}", "holds: [{order: {panel: p, relations: [a < b]}}]", "go with `published: order`"),
        ("order", "holds: [{order: {panel: p, relations: [a b]}}]", "not a relation"),
        ("{low: 1}", "note: n", "exactly one of measure, holds and needs"),
        ("{low: 1}", "measure: {}", "exactly one of value, percent"),
        ("{low: 1}", "measure: {speedups: {}}", "did you mean `speedup`"),
        ("{low: 1}", "measure: {model: {name: level}}", "did you mean `levels`"),
        ("{low: 1}", "measure: {model: {name: levels, given: {lines: 1}}}", "has no `lines`"),
    ],
)
def test_mistakes_in_claims_name_the_line(published: str, measure: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        claim(published, measure)
    assert str(error.value).startswith("c.yaml:1:")
