"""What is laid over what: every value that an experiment has written comes to some row, or is refused."""

from pathlib import Path

import pytest

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.schema import Experiment, panel_experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.simcore.errors import UserError
from memwalk.simcore.yaml_source import parse

BASE = """\
machine: thesis-simulator
workload: {kernel: index, operation: search, keys: 1000, operations: 100, tree: {kind: b+}}
"""
TREES = "[{kind: b+}, {kind: csb+}]"


def written(more: str) -> Experiment:
    return panel_experiment(parse(BASE + more, "e.yaml"), "e", Path())


def rows(more: str = "", *sets: str, scale: str = "paper") -> list[Row]:
    return expand(written(more), scale, [parse_set(one) for one in sets])


def trees(found: list[Row]) -> list[tuple[str, int]]:
    return [(row.point.workload["tree"]["kind"], row.point.workload["tree"]["node_lines"]) for row in found]


@pytest.mark.parametrize(
    ("sets", "values"),
    [
        (("workload.keys=7", "workload.keys=[5, 6]"), [5, 6]),
        (("workload.keys=[5, 6]", "workload.keys=7"), [7]),
    ],
)
def test_of_two_overrides_of_one_path_the_later_counts(sets: tuple[str, ...], values: list[int]) -> None:
    assert [row.point.workload["keys"] for row in rows("", *sets)] == values


def test_a_part_is_laid_on_its_whole_in_whatever_order_they_stand() -> None:
    every = [("b+", 1), ("b+", 4), ("csb+", 1), ("csb+", 4)]
    for grid in (
        f"{{workload.tree: {TREES}, workload.tree.node_lines: [1, 4]}}",
        f"{{workload.tree.node_lines: [1, 4], workload.tree: {TREES}}}",
    ):
        assert sorted(trees(rows(f"grid: {grid}"))) == every
    for sets in (
        ("workload.tree={kind: csb+}", "workload.tree.node_lines=[1, 8]"),
        (f"workload.tree={TREES}", "workload.tree.node_lines=8"),
    ):
        there, back = (sorted(trees(rows("", *order))) for order in (sets, sets[::-1]))
        assert there == back
        assert len(set(there)) == 2
    assert trees(rows("variants: {a: {workload.tree.node_lines: 8, workload.tree: {kind: csb+}}}")) == [("csb+", 8)]


def test_a_machine_is_a_name_and_takes_nothing_away_that_is_set_in_it() -> None:
    grid = "grid: {machine.memory.latency_cycles: [250cycles, 1000cycles]}"
    for machines in ("zen4-server", "[zen4-server]"):
        found = rows(grid, f"machine={machines}")
        assert [(row.point.machine["name"], row.point.machine["memory"]["latency_cycles"]) for row in found] == [
            ("zen4-server", 250),
            ("zen4-server", 1000),
        ]


def test_a_whole_of_an_override_takes_the_place_of_axes_in_it_whether_it_is_one_value_or_several() -> None:
    grid = "grid: {workload.tree.node_lines: [2, 4]}"
    assert trees(rows(grid, "workload.tree={kind: csb+}")) == [("csb+", 1)]
    assert trees(rows(grid, f"workload.tree={TREES}")) == [("b+", 1), ("csb+", 1)]


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        (
            f"variants: {{a: {{workload.tree.node_lines: 8}}, b: {{}}}}\ngrid: {{workload.tree: {TREES}}}\n",
            "e.yaml:3:42: workload.tree.node_lines is `8` in no row: workload.tree at e.yaml:4:24 is laid over it; keep one of them",
        ),
        (
            "variants: {a: {workload.tree: {kind: b+, node_lines: 8}}}\ngrid: {workload.tree.node_lines: [1, 2]}\n",
            "e.yaml:3:54: workload.tree.node_lines is `8` in no row",
        ),
        ("variants: {a: {workload.keys: 70}}\ngrid: {workload.keys: [7]}\n", "e.yaml:3:31: workload.keys is `70` in no row"),
        ("grid: {workload.seed: [5, 6]}\nrepetitions: {workload.seed: [1, 2]}\n", "e.yaml:3:24: workload.seed is `5` in no row"),
        (
            "grid: {workload.tree: [{kind: b+, node_lines: 4}, {kind: csb+}], workload.tree.node_lines: [1, 2]}\n",
            "e.yaml:3:47: workload.tree.node_lines is `4` in no row",
        ),
        (
            "variants: {a: {workload.keys: 70}, b: {}}\nscales: {quick: {workload.keys: [7, 8]}}\n",
            "e.yaml:3:31: workload.keys is `70` in no row",
        ),
        (
            "variants: {a: {workload.keys: 70}, b: {workload.keys: 80}}\nscales: {quick: {workload.keys: 7}}\n",
            "e.yaml:4:33: workload.keys is `7` in no row",
        ),
        (
            f"grid: {{workload.tree: {TREES}}}\nscales: {{quick: {{workload.tree.node_lines: 7}}}}\n",
            "e.yaml:4:44: workload.tree.node_lines is `7` in no row",
        ),
    ],
)
def test_a_value_that_comes_to_no_row_is_refused(more: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        rows(more)
    assert answer in str(error.value)


def test_one_row_is_enough() -> None:
    found = rows("variants: {a: {workload.keys: 70}, b: {}}\nscales: {quick: {workload.keys: 7}}\n", scale="quick")
    assert [row.point.workload["keys"] for row in found] == [70, 7]


@pytest.mark.parametrize(
    ("scales", "answer"),
    [
        (
            "{paper: {workload.keys: 7}}",
            "e.yaml:3:10: `paper` is the experiment as written; write its values there, or name the scale otherwise",
        ),
        ("{quick: {workload.kyes: 7}}", "e.yaml:3:18: unknown key `kyes`; did you mean `keys`?"),
        ("{quick: {workload: {kernel: index, kyes: 7}}}", "e.yaml:3:44: unknown key `kyes`; did you mean `keys`?"),
        ("{quick: {workload.tree: [{kind: b+, lines: 7}]}}", "unknown key `lines`; did you mean `node_lines`?"),
        ("{quick: {machine.caches.L1.way: 2}}", "e.yaml:3:18: unknown key `way`; did you mean `ways`?"),
        ("{quick: {machine.clock: [2GHz]}}", "unknown key `clock`; did you mean `clock_hz`?"),
        ("{quick: {kyes: 7}}", "e.yaml:3:18: `kyes` is no path below machine or workload"),
        ("{quick: {workload.keys: []}}", "workload.keys has no values"),
    ],
)
def test_mistakes_of_a_scale_are_told_by_whoever_runs_another(scales: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        rows(f"scales: {scales}\n")
    assert answer in str(error.value)


def test_two_values_that_are_one_with_a_default_are_refused() -> None:
    with pytest.raises(UserError, match=r"e.yaml:3:36: workload.tree has .* which are one value, so that two rows are the same"):
        rows("grid: {workload.tree: [{kind: b+}, {kind: b+, node_lines: 1}]}\n")


def test_values_that_are_one_in_some_rows_only_are_two() -> None:
    found = rows("grid: {machine.clock_hz: [1GHz, 2GHz], machine.memory.latency_cycles: [100cycles, 100ns]}\n")
    assert [row.point.machine["memory"]["latency_cycles"] for row in found] == [100, 100, 100, 200]
