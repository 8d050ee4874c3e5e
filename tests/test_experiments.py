"""Experiments: what they expand to, in which order values are laid on, and how mistakes are told."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from files import EXPERIMENT, MACHINE, ROOT, write_experiment
from pydantic import TypeAdapter

from memwalk.analysis.experiments.canonical import canonical
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point, Row, config_hash, distinct_points
from memwalk.analysis.experiments.results import table
from memwalk.analysis.experiments.schedule import Schedule
from memwalk.analysis.experiments.schema import json_schema, load_experiment, panel_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.work import structure, works
from memwalk.analysis.experiments.workload import Parameters, Workload
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.yaml_source import parse


def rows(folder: Path, *sets: str, scale: str = "paper", experiment: str = EXPERIMENT) -> list[Row]:
    return expand(load_experiment(write_experiment(folder, experiment)), scale, [parse_set(text) for text in sets])


def test_rows_are_variants_by_grid_by_repetitions_the_last_fastest(tmp_path: Path) -> None:
    names = ("workload.keys", "machine.memory.latency_cycles", "workload.seed")
    found = [(row.variant, *(row.parameters[name] for name in names)) for row in rows(tmp_path)]
    assert found == [
        (variant, keys, latency, seed) for variant in ("B+", "p8B+") for keys in (1000, 2000) for latency in (100, 150) for seed in (1, 2)
    ]


def test_a_point_is_the_hash_of_its_machine_and_workload(tmp_path: Path) -> None:
    point = rows(tmp_path)[0].point
    text = json.dumps({"machine": point.machine, "workload": point.workload}, sort_keys=True, separators=(",", ":"))
    assert point.id == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert point.workload["tree"] == {"kind": "b+", "node_lines": 1, "prefetch": False, "jump_pointers": "none"}
    assert point.workload["maturity"] == "bulkloaded"


def test_equal_points_run_once(tmp_path: Path) -> None:
    twice = rows(tmp_path) + rows(tmp_path)
    assert len(distinct_points(twice)) == 16
    assert len({row.point.id for row in twice}) == 16


def test_a_scale_replaces_an_axis_by_a_list_and_a_base_value_by_a_scalar(tmp_path: Path) -> None:
    quick = rows(tmp_path, scale="quick")
    assert {row.parameters["workload.keys"] for row in quick} == {500}
    assert {row.parameters["workload.operations"] for row in quick} == {10}
    assert len(quick) == 8


def test_set_wins_over_grid_and_variants(tmp_path: Path) -> None:
    found = rows(tmp_path, "workload.keys=77", "workload.tree.node_lines=4", "machine.caches.L1.mshrs=[1, 2]")
    assert {row.parameters["workload.keys"] for row in found} == {77}
    assert {row.parameters["workload.tree.node_lines"] for row in found} == {4}
    assert [row.parameters["machine.caches.L1.mshrs"] for row in found[:4]] == [1, 2, 1, 2]
    assert len(found) == 2 * 2 * 2 * 2


def test_a_variant_may_change_the_machine(tmp_path: Path) -> None:
    (tmp_path / "fast.yaml").write_text(MACHINE.replace("1GHz", "2GHz"))
    text = EXPERIMENT.replace("p8B+: {", "p8B+: {machine: ./fast.yaml, ")
    found = {row.variant: row.parameters["machine.name"] for row in rows(tmp_path, experiment=text)}
    assert found == {"B+": "small", "p8B+": "fast"}


def test_the_hash_tells_configurations_apart_and_nothing_else(tmp_path: Path) -> None:
    assert config_hash(rows(tmp_path)) == config_hash(rows(tmp_path))
    assert config_hash(rows(tmp_path)) != config_hash(rows(tmp_path, "workload.seed=3"))


def test_defaults_of_jump_pointers_apply_only_where_they_mean_something(tmp_path: Path) -> None:
    tree = "{kind: b+, node_lines: 8, prefetch: true, jump_pointers: %s}"
    for kind, extra in (
        ("none", {}),
        ("internal", {"distance_nodes": 3}),
        ("external", {"distance_nodes": 3, "chunk_lines": 3, "chunk_fill": 0.8}),
    ):
        point = rows(tmp_path, "workload.tree=" + tree % kind)[0].point
        always = {"kind": "b+", "node_lines": 8, "prefetch": True, "prefetch_instructions": 0, "jump_pointers": kind}
        assert point.workload["tree"] == always | extra


@pytest.mark.parametrize(
    "overrides",
    [
        ("workload={kernel: pointer-chase, lines: 100, tlb: cold}", "workload.lines=[10, 20]"),
        ("workload.lines=50", "workload.lines=[10, 20]"),
    ],
)
def test_values_of_an_override_are_laid_on_what_one_before_it_fixes(tmp_path: Path, overrides: tuple[str, str]) -> None:
    text = "schema_version: 1\nid: e\nmachine: ./small.yaml\nworkload: {kernel: pointer-chase, lines: 100, tlb: cold}\n"
    found = expand(load_experiment(write_experiment(tmp_path, text)), overrides=[parse_set(one) for one in overrides])
    assert [row.point.workload["lines"] for row in found] == [10, 20]


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("repetitions", "repetitons", "experiment.yaml:18:1: unknown key `repetitons`; did you mean `repetitions`?"),
        ("  operations: 50", "  opertions: 50", "experiment.yaml:10:3: unknown key `opertions`; did you mean `operations`?"),
        ("machine: ./small.yaml", "machine: thesis", "experiment.yaml:4:10: machine `thesis`: not in"),
        ("workload.keys: [1000, 2000]", "workload.keys: [-1]", "experiment.yaml:16:19: keys: `-1` is too small"),
        (
            "workload.keys: [1000, 2000]",
            "workload.keys: [1000, 7, 1000]",
            "experiment.yaml:16:28: workload.keys has `1000` twice; keep one",
        ),
        (
            "[100cycles, 150ns]",
            "[90cycles, 100cycles, 100ns]",
            "experiment.yaml:17:56: machine.memory.latency_cycles has `100cycles` and `100ns`, which are one value, so that two rows",
        ),
        ("workload:\n", "observe: [bytes, counts, bytes]\nworkload:\n", "5:26: observe.2: `bytes` is observed anyway; name it once"),
        (
            "workload.keys: [1000, 2000]",
            "machine.caches.L1.source: [one, another]",
            "experiment.yaml:16:29: machine.caches.L1.source is only to be read: rows could not be told apart by it; give one value",
        ),
        ("workload.keys: [1000, 2000]", "machine.description: [one, another]", "machine.description is only to be read"),
        ("workload.keys: [1000, 2000]", "machine.sources.clock_hz: [one, another]", "machine.sources.clock_hz is only to be read"),
        (
            "workload.keys: [1000, 2000]",
            "machine.source: [one]\n  machine.sources.clock: [two]",
            "17:27: sources: no `clock` here; did you",
        ),
        ("workload.keys: [1000, 2000]", "machine.extends: [zen4-server]", "experiment.yaml:16:21: extends: stands in machine files"),
        ("workload.keys: [1000, 2000]", "workload.keys: []", "experiment.yaml:16:18: workload.keys has no values"),
        (
            "workload.keys: [1000, 2000]",
            "workload.keys: 5",
            "experiment.yaml:16:18: grid.workload.keys: a number stands where a list belongs",
        ),
        ("workload.keys: [1000, 2000]", "keys: [1]", "experiment.yaml:16:3: `keys` is no path below machine or workload"),
        ("[100cycles, 150ns]", "[100]", "experiment.yaml:17:35: memory.latency_cycles: `100` has no unit"),
        ("kernel: index", "kernel: indx", "kernel `indx` is not one of disk-index, index, "),
        (
            "B+: {workload.tree: ",
            "B+: {workload.keys: 5, workload.tree: ",
            "experiment.yaml:13:23: workload.keys is `5` in no row: workload.keys",
        ),
        ("operation: search", "operation: scan", "`range` is missing; operation: scan needs it"),
        (
            "node_lines: 8, prefetch: true",
            "node_lines: 8, distance_nodes: 2",
            "tree.distance_nodes: it is for jump_pointers: external or internal, and jump_pointers is none",
        ),
        ("workload:\n", "workload: [1]\nw:\n", "experiment.yaml:6:1: unknown key `w`"),
        (
            "id: small",
            "id: ../x",
            "experiment.yaml:2:5: id: `../x` is no id; write small letters, digits, dots and hyphens, a letter or digit first, such as ",
        ),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, old: str, new: str, answer: str) -> None:
    assert old in EXPERIMENT
    with pytest.raises(UserError) as error:
        rows(tmp_path, experiment=EXPERIMENT.replace(old, new, 1))
    assert answer in str(error.value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("workload.keys", "no `=`"),
        ("keys=5", "--set keys=5: `keys` is no path below machine or workload"),
        ("workload.keys=large", "--set workload.keys=large: keys: `large` is not a whole number"),
        ("machine.memory.latency_cycles=250", "--set machine.memory.latency_cycles=250: memory.latency_cycles: `250` has no unit"),
        ("machine.caches.L9.ways=2", "caches has no item L9"),
        ("workload.kernel=null", "--set workload.kernel=null: kernel `null` is not one of disk-index, index, "),
        ("workload.kernel=indx", "--set workload.kernel=indx: kernel `indx` is not one of disk-index, index, "),
        ("machine.memory.model=null", "--set machine.memory.model=null: memory: model `null` is not one of fixed, dramsim3"),
        ("workload.keys=[", "not YAML"),
    ],
)
def test_wrong_overrides_name_the_option(tmp_path: Path, text: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        rows(tmp_path, text)
    assert answer in str(error.value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("machine.caches.L1.ways=3", "caches.L1.ways does not fit caches.0.size_bytes at FOLDER/small.yaml:18:28: 4096 bytes are no"),
        ("machine.caches.L2.line_bytes=32B", "caches.1.line_bytes: 32 is smaller than the line of L1"),
        (
            "machine.caches.L1.latency_cycles=20cycles",
            "caches.L1.latency_cycles does not fit caches.1.latency_cycles at FOLDER/small.yaml:19:77: 15 is not slower",
        ),
        (
            "machine.core.branch_predictor.kind=perfect",
            "core.branch_predictor.kind does not fit FOLDER/small.yaml:15:36: unknown key `history_bits`; known here: source, sources, "
            "kind; set core.branch_predictor as a whole",
        ),
        ("machine.core.branch_predictor.knd=perfect", "unknown key `knd`; did you mean `kind`?"),
    ],
)
def test_an_override_that_does_not_fit_is_named_beside_what_it_does_not_fit(tmp_path: Path, text: str, answer: str) -> None:
    for others in ((), ("machine.clock_hz=2GHz",)):
        with pytest.raises(UserError) as error:
            rows(tmp_path, *others, text)
        assert str(error.value).startswith(f"--set {text}: {answer.replace('FOLDER', str(tmp_path))}")


def test_a_mistake_of_a_machine_file_is_none_of_an_override(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, EXPERIMENT, MACHINE.replace("size_bytes: 4KiB", "size_bytes: 5000B", 1))
    with pytest.raises(UserError, match=r"small\.yaml:18:28: caches\.0\.size_bytes: 5000 bytes"):
        expand(load_experiment(path), overrides=[parse_set("machine.clock_hz=2GHz")])


def test_unknown_scales_are_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no scale `quik`; did you mean `quick`"):
        rows(tmp_path, scale="quik")


def test_experiments_of_ours_have_a_quick_scale() -> None:
    """But for one, whose variants are of two kernels that call their sizes differently: a scale is laid on both."""
    files = (ROOT / "configs/experiments").glob("*.yaml")
    slow = {file.stem for file in files if "quick" not in load_experiment(file).body.scales}
    assert slow == {"variable-length-tuples"}


def test_a_panel_of_a_figure_keeps_the_lines_of_its_file() -> None:
    figure = parse("experiments:\n  left:\n    machine: thesis-simulator\n    gird: {}\n", "fig.yaml")
    with pytest.raises(UserError, match=r"fig\.yaml:4:5: unknown key `gird`; did you mean `grid`"):
        panel_experiment(figure.below(("experiments", "left")), "left", Path())


def test_the_json_schema_knows_workloads_and_requires_nothing_of_them() -> None:
    schema = json_schema()
    assert set(schema["$defs"]) >= {"Index", "PointerArray", "PointerChase", "IndexTree"}
    assert "required" not in schema["$defs"]["Index"]
    assert schema["additionalProperties"] is False


def points(*workloads: tuple[int, int]) -> list[Point]:
    return [Point.of({}, {"kernel": "index", "keys": keys, "operations": operations}) for keys, operations in workloads]


def test_the_schedule_keeps_a_worker_on_its_tree_and_starts_with_the_longest() -> None:
    schedule = Schedule(points((10, 1), (9000, 1), (10, 2), (9000, 2)))
    taken = [point for _ in range(4) for point in schedule.take(0) or ()]
    assert [(p.workload["keys"], p.workload["operations"]) for p in taken] == [(9000, 2), (9000, 1), (10, 2), (10, 1)]
    assert schedule.take(0) is None


def test_an_idle_worker_shares_the_last_tree_and_nothing_is_lost_or_done_twice() -> None:
    everything = points(*((10, operations) for operations in range(1, 10)))
    schedule = Schedule(everything)
    taken: list[Point] = []
    for worker in (0, 1, 2, 1, 0, 2, 2, 2, 2, 1, 0):
        taken += schedule.take(worker) or ()
    assert sorted(point.id for point in taken) == sorted(point.id for point in everything)


def test_the_estimate_grows_with_what_costs_time() -> None:
    base = {"kernel": "index", "keys": 20_000, "operations": 10}

    def seconds(**changes: object) -> float:
        (one,) = works([Point.of({}, base | changes)]).values()
        return one.seconds

    assert seconds() < seconds(maturity="mature")
    assert seconds() < seconds(operations=20)
    assert seconds(operation="scan", range=100) < seconds(operation="scan", range=10_000)
    assert structure(base) == structure(base | {"operations": 20})
    first, second = works([Point.of({}, base), Point.of({}, base | {"operations": 20})]).values()
    assert first.seconds < seconds(), "finds the tree built"
    assert second.seconds == seconds(operations=20)
    assert canonical({"b": 1.0, "a": [None, True]}) == '{"a":[null,true],"b":1.0}'


@pytest.mark.parametrize(
    "least",
    [
        {
            "kernel": "index",
            "operation": "scan",
            "tree": {"kind": "b+", "prefetch": True, "jump_pointers": "external"},
            "keys": 1000,
            "operations": 1,
            "range": 5,
        },
        {"kernel": "pointer-array", "lines": 1, "distance_lines": 0},
        {"kernel": "pointer-chase", "lines": 1},
    ],
    ids=lambda least: str(least["kernel"]),
)
def test_defaults_in_experiments_are_those_of_the_kernels(least: dict[str, Any]) -> None:
    def defaults(values: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name not in given}

    (kernel,) = [one["defaults"] for one in native.list_workloads() if one["name"] == least["kernel"]]
    workload = TypeAdapter[Parameters](Workload).validate_python(least).native()
    # What is for another operation than this one is not there.
    elsewhere = {"search_share", "insert_share"} if least.get("operation") == "scan" else set()
    assert workload.keys() - {"kernel"} == kernel.keys() - elsewhere
    assert defaults(workload, least | {"tree": {}}) == defaults(kernel, least | {"tree": {}} | dict.fromkeys(elsewhere))
    if "tree" in least:
        assert defaults(workload["tree"], least["tree"]) == defaults(kernel["tree"], least["tree"])


def test_layouts_today_tells_layouts_and_prefetchers_apart(tmp_path: Path) -> None:
    """Whatever prefetches, PAX fetches fewer lines than NSM and is faster; streams help both."""
    experiment = load_experiment(ROOT / "configs/experiments/layouts-today.yaml")
    assert len(distinct_points(expand(experiment))) == 7 * 2 * 2 * 3
    found = expand(experiment, "quick")
    results = table(found, run_rows(experiment.name, found, tmp_path, jobs=1))
    by_layout = results.pivot(index="variant", columns="workload.layout", values=["cycles", "bus_fills"]).astype(float)
    assert len(by_layout) == 7
    assert (by_layout["cycles"]["pax"] < by_layout["cycles"]["nsm"]).all()
    assert (by_layout["bus_fills"]["pax"] < 0.6 * by_layout["bus_fills"]["nsm"]).all()
    assert (by_layout.loc["Zen 4, stream", "cycles"] < by_layout.loc["Zen 4, none", "cycles"]).all()
    issued = results.set_index("variant")["L2_prefetches_issued"]
    assert (issued[["Zen 4, next-line", "Zen 4, stream"]] > 0).all()
    assert issued["Zen 4, none"].isna().all()
