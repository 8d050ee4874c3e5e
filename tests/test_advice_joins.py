"""Advice on joins: what is predicted, what is simulated, how the ranking follows cores, duplicates and tuple sizes, and mistakes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from files import write_experiment
from typer.testing import CliRunner, Result

from memwalk.analysis.advice.joins.algorithms import ALGORITHMS, Tuning, workload
from memwalk.analysis.advice.joins.rank import JoinAdvice, _advice, latency
from memwalk.analysis.advice.joins.reasons import reasons
from memwalk.analysis.advice.joins.simulate import Simulated, simulate
from memwalk.analysis.advice.joins.task import JoinTask
from memwalk.analysis.cli.main import app
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

SMALL_CACHES = ("machine.caches.L2.size_bytes=32KiB", "machine.caches.L3.size_bytes=128KiB")
BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}


def task(**given: Any) -> JoinTask:
    asked = {"build": 10_000_000, "probe": 20_000_000, "tuple_bytes": 20, "duplicates": 1, "cores": 1, "sample": 2_000_000}
    return JoinTask(load_machine("thesis-simulator").native(), **(asked | given))


class Measured(Tuning):
    """Stages by hand: a miss of 250 cycles."""

    @property
    def probe_stages(self) -> list[float]:  # type: ignore[override]
        return [50.0, 20.0, 25.0, 100.0]

    @property
    def build_stages(self) -> list[float]:  # type: ignore[override]
        return [60.0, 20.0, 10.0]


def advise(*arguments: str, machine: str = "thesis-simulator", small: bool = True) -> Result:
    sizes = [word for size in (("--build", "1000000"), ("--probe", "2000000")) if size[0] not in arguments for word in size]
    settings = [word for setting in SMALL_CACHES for word in ("--set", setting)] if small else []
    return CliRunner().invoke(app, ["advise", "join", "--machine", machine, *sizes, *settings, *arguments])


def ranked(*arguments: str) -> dict[str, Any]:
    result = advise("--json", *arguments)
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def cycles(answer: dict[str, Any]) -> dict[str, float]:
    return {one["algorithm"]: one["simulated_cycles"] for one in answer["algorithms"]}


def test_what_was_simulated_can_be_run_again(tmp_path: Path) -> None:
    answer = ranked("--build", "2000", "--probe", "4000", "--sample", "6000")
    assert answer["sample"] == 6000
    sets = [parse_set(setting) for setting in SMALL_CACHES]
    for one in answer["algorithms"]:
        text = json.dumps({"schema_version": 1, "id": "again", "machine": "thesis-simulator", "workload": one["workload"]})
        (row,) = expand(load_experiment(write_experiment(tmp_path, text)), overrides=sets)
        found = native.simulate(row.point.machine, row.point.workload)
        assert one["simulated_cycles"] == pytest.approx(found["cycles"] / 4000), one["algorithm"]
    assert {"false_positives", "cache_bytes", "prefetch_distance"} < {name for one in answer["algorithms"] for name in one["workload"]}


def test_group_size_and_distance_are_those_of_equations_4_1_and_4_2() -> None:
    # 1 + ceil(250 / 20) of probing, of whose four stages the second is the shortest; 1 + ceil(250 / 15) of building, where T_next is.
    tuning = Measured(task())
    assert tuning.group_size == 18
    # ceil(250 / (150 + 20 + 25)) and ceil(250 / (70 + 20)).
    assert tuning.prefetch_distance == 3
    assert tuning.references == 3 + 2 / 2


@pytest.mark.parametrize(
    ("name", "cores", "predicted", "bus"),
    [
        ("grace", 1, 100 + 4 * (250 - 238 / 257.5), 60),
        ("simple", 8, 100 + 4 * (250 - 238 / 32.19), 480),
        ("group", 1, 100, 60),
        ("group", 8, 480, 480),
        ("inspector", 1, 100 + 4 * 12, 60),
        ("cache-partitioning", 32, 1920, 1920),
    ],
)
def test_predictions_by_hand(name: str, cores: int, predicted: float, bus: float) -> None:
    tuning = Measured(task(cores=cores))
    advice = _advice(BY_NAME[name], tuning, Simulated(cycles=500.0, by_cause={}, instruction_cycles=100.0, lines=4.0))
    assert (advice.predicted_cycles, advice.bus_cycles) == pytest.approx((predicted, bus), rel=1e-4)
    # 20 million tuples on cores of 1.5 GHz.
    assert advice.predicted_seconds == pytest.approx(predicted * 20e6 / cores / 1.5e9, rel=1e-4)
    assert advice.simulated_seconds == pytest.approx(500 * 20e6 / cores / 1.5e9)
    assert advice.is_bound_by_bus == (predicted == bus)


def test_references_wait_where_partitions_lie() -> None:
    # 54 bytes a tuple: 38,836 fill the 2 MiB of L3, which takes 12 cycles, and memory 250.
    grace = BY_NAME["grace"]
    assert latency(grace, task(build=38_000)) == 12
    assert latency(grace, task(build=77_672)) == pytest.approx((12 + 250) / 2, rel=1e-4), "half of it lies there"
    assert latency(grace, task(build=76_000, cores=2)) == 12
    part = task(build=77_672, sample=30_000)
    assert latency(grace, part) == latency(grace, task(build=77_672)), "whatever lies in the cache when a part is simulated"
    assert latency(BY_NAME["inspector"], task(build=77_672)) == 12
    assert latency(BY_NAME["pipelined"], task(build=77_672)) == 0
    # Where a partition is a little too large for the cache, nearly all of it lies there.
    assert latency(grace, task(build=39_000)) == pytest.approx(13, rel=0.01)
    assert [grace.waits_for(task(build=build)) for build in (38_000, 39_000, 42_000)] == ["L3", "L3", "memory"]


def test_cores_share_a_shared_cache() -> None:
    machine = load_machine("thesis-simulator").native()
    machine["caches"][-1]["shared"] = True
    shared = replace(task(cores=4), machine=machine)
    assert shared.cache_bytes == 512 << 10
    assert task(cores=4).cache_bytes == 2 << 20


def test_what_is_simulated_is_bounded_and_larger_than_the_cache() -> None:
    whole = task(build=1000, probe=1500)
    assert (whole.simulated_build, whole.simulated_probe) == (1000, 1500)
    large = task(cores=2)
    assert large.partition_bytes(large.simulated_build) == pytest.approx(8 * large.cache_bytes, rel=1e-3)
    assert large.simulated_probe == 2 * large.simulated_build
    assert not large.is_small
    bounded = task(cores=8, sample=300_000)
    assert bounded.simulated_build + bounded.simulated_probe == 300_000
    assert bounded.is_small
    small = task(build=2, probe=100_000)
    assert (small.simulated_build, small.simulated_probe) == (2, 100_000), "both relations fit the sample"
    fewer = replace(small, sample=10_000)
    assert (fewer.simulated_build, fewer.simulated_probe) == (2, 9998)
    many = task(build=400_000, probe=100_000_000)
    assert many.simulated_probe == 2 * many.simulated_build


@pytest.mark.parametrize(
    ("build", "sample", "is_small"), [(1_000_000, 234_000, False), (1_000_000, 232_000, True), (77_000, 150_000, True)]
)
def test_a_part_is_small_below_twice_the_cache(build: int, sample: int, is_small: bool) -> None:
    # 54 bytes a tuple: 77,672 are twice the 2 MiB of L3, and a part of n tuples builds with a third of them.
    part = task(build=build, sample=sample)
    assert part.is_small == is_small
    assert not replace(part, sample=2_000_000).is_small, "a whole relation, however small"


def test_a_part_takes_nearly_what_the_whole_takes() -> None:
    machine = load_machine("thesis-simulator").native()
    machine["caches"] = [{**cache, "size_bytes": size << 10} for cache, size in zip(machine["caches"], (16, 32, 64), strict=True)]
    asked = replace(task(build=20_000, probe=40_000, tuple_bytes=100), machine=machine)
    for name, most in (("grace", 0.12), ("pipelined", 0.08), ("inspector", 0.12)):
        whole = workload(BY_NAME[name], Measured(asked), 1, asked.build, asked.probe)
        cycles = native.simulate(machine, whole)["cycles"] / asked.probe
        assert simulate(BY_NAME[name], Measured(asked)).cycles == pytest.approx(cycles, rel=most), name


def test_a_part_has_all_build_tuples_of_each_key_and_fewer_probe_tuples_if_they_have_many_matches() -> None:
    part = task(build=100_000, probe=100_000, duplicates=400, sample=1000)
    assert part.simulated_build == 400, "and not 500, where a probe tuple finds 250 matches"
    assert part.simulated_probe == 10 * 1000 // 400
    assert not part.exceeds_sample
    few = task(build=100_000, probe=100_000, duplicates=10, sample=1000)
    assert (few.simulated_build, few.simulated_probe) == (500, 500)
    least = task(build=100_000, probe=100_000, duplicates=40_000, cores=2, sample=1000)
    assert (least.simulated_build, least.simulated_probe) == (80_000, 4)
    assert least.exceeds_sample


@pytest.mark.parametrize(("duplicates", "matches", "tuples"), [(1, 1, 2048), (10, 10, 2048), (32, 32, 1024), (400, 64, 512)])
def test_stages_are_timed_on_fewer_probe_tuples_if_they_have_many_matches(
    monkeypatch: pytest.MonkeyPatch, duplicates: int, matches: int, tuples: int
) -> None:
    timed: list[dict[str, Any]] = []

    def stage_cycles(_machine: dict[str, Any], workload: dict[str, Any], _phase: str, groups: int) -> list[float]:
        timed.append({**workload, "groups": groups})
        return [1.0, 1.0]

    monkeypatch.setattr("memwalk.analysis.stage_times.stage_cycles", stage_cycles)
    tuning = Tuning(task(duplicates=duplicates))
    assert (tuning.probe_stages, tuning.build_stages) == ([1.0, 1.0], [1.0, 1.0])
    probing, building = timed
    assert (probing["duplicates"], probing["build_tuples"], probing["probe_tuples"]) == (matches, 1024, tuples)
    assert 256 * probing["groups"] == tuples
    assert (building["duplicates"], building["build_tuples"], building["probe_tuples"], building["groups"]) == (duplicates, 2048, 0, 8)


def test_lines_are_those_of_the_phases() -> None:
    """Output takes most lines here, and of the part fewer tuples probe than of the whole."""
    machine = load_machine("thesis-simulator").native()
    machine["caches"] = [{**cache, "size_bytes": size << 10} for cache, size in zip(machine["caches"], (16, 32, 64), strict=True)]
    asked = replace(task(build=4000, probe=4000, duplicates=100, sample=2000), machine=machine)
    assert (asked.simulated_build, asked.simulated_probe) == (1000, 200)
    whole = replace(asked, sample=1_000_000)
    part, full = (simulate(BY_NAME["inspector"], Measured(one)) for one in (asked, whole))
    assert part.lines == pytest.approx(full.lines, rel=0.15)


def test_more_tuples_than_the_sample_and_fewer_matches_are_told() -> None:
    result = advise("--build", "3000", "--probe", "9000", "--duplicates", "2000", "--sample", "1000")
    assert result.exit_code == 0, result.output
    assert "a probe tuple's stages with 64 of its 2,000 matches take " in result.stdout
    assert "Simulated were 2,000 build and 2 probe tuples, and scaled up to 3,000 and 9,000." in result.stdout
    least = "a core has all build tuples of a key, and no fewer than 2,000 build and 2 probe tuples."
    assert f"That is more than the 1,000 of --sample: {least}" in result.stdout


def test_a_part_is_scaled_up_phase_by_phase() -> None:
    machine = load_machine("thesis-simulator").native()
    machine["caches"] = [
        machine["caches"][0],
        {**machine["caches"][1], "size_bytes": 32 << 10},
        {**machine["caches"][2], "size_bytes": 64 << 10},
    ]
    for name in ("grace", "group", "inspector"):
        part, full = (
            simulate(BY_NAME[name], Measured(replace(task(build=40_000, probe=120_000, sample=most), machine=machine)))
            for most in (20_000, 160_000)
        )
        whole = replace(task(build=40_000, probe=120_000), machine=machine)
        assert whole.simulated_build < 40_000, "a part, whatever the sample may be"
        assert part.cycles == pytest.approx(full.cycles, rel=0.05), name
        assert part.lines == pytest.approx(full.lines, rel=0.05), name


def test_a_small_build_relation_is_not_scaled_up_from_cold_caches() -> None:
    few = task(build=100, probe=20_000, tuple_bytes=100, sample=10_000)
    tuning = Measured(few)
    for name in ("grace", "group", "inspector"):
        algorithm = BY_NAME[name]
        direct = native.simulate(load_machine("thesis-simulator").native(), workload(algorithm, tuning, 1, 100, 20_000))
        assert simulate(algorithm, tuning).cycles == pytest.approx(direct["cycles"] / 20_000, rel=0.1), name


def test_every_algorithm_of_the_kernel_is_ranked() -> None:
    tuning = Measured(task(cores=2))
    for algorithm in ALGORITHMS:
        native.check_workload(workload(algorithm, tuning, 2, 1000, 2000))
    answer = ranked()
    assert {one["algorithm"] for one in answer["algorithms"]} == set(BY_NAME)
    times = [one["simulated_seconds"] for one in answer["algorithms"]]
    assert times == sorted(times)
    assert answer["reasons"][0].startswith(f"{answer['algorithms'][0]['algorithm']} is best: ")
    assert f"Take G = {answer['group_size']} " in " ".join(answer["reasons"])
    assert "Simulated were " in answer["reasons"][-1]


@pytest.mark.nightly
def test_the_ranking_follows_cores_duplicates_and_tuple_sizes() -> None:
    base = ranked("--tuple", "20B", "--cores", "1")
    alone = cycles(base)
    # One core: prefetching hides misses, and the copies of cache partitioning are for nothing.
    assert min(alone, key=lambda name: alone[name]) in ("group", "pipelined")
    assert alone["grace"] > 2 * alone["group"]

    # Sixteen share the bus: prefetching gains little over GRACE, and who moves the fewest lines is first.
    answer = ranked("--tuple", "20B", "--cores", "16", "--sample", "250000")
    together = cycles(answer)
    assert together["grace"] < 1.5 * together["group"]
    lines = {one["algorithm"]: one["lines"] for one in answer["algorithms"]}
    assert answer["algorithms"][0]["algorithm"] == min(lines, key=lambda name: lines[name])
    assert all(one["bus_cycles"] > one["instruction_cycles"] for one in answer["algorithms"])
    assert any("the bus is what it waits for" in reason for reason in answer["reasons"])

    # Six matches for each probe tuple: most time goes to output tuples, and the inspector join falls behind.
    duplicated = cycles(ranked("--tuple", "20B", "--duplicates", "6"))
    assert duplicated["group"] > 3 * alone["group"]
    assert alone["inspector"] < alone["cache-partitioning"]
    assert duplicated["inspector"] > duplicated["cache-partitioning"]

    # Larger tuples: more lines to copy, which cache partitioning does twice.
    large = ranked("--tuple", "100B")
    wide = cycles(large)
    assert wide["cache-partitioning"] / wide["group"] > 1.2 * alone["cache-partitioning"] / alone["group"]
    assert large["algorithms"][0]["lines"] > 1.5 * base["algorithms"][0]["lines"]


def test_reasons_are_told_below_a_table() -> None:
    result = advise("--sample", "2000")
    assert result.exit_code == 0, result.output
    assert "Joins of 1,000,000 and 2,000,000 tuples of 100 bytes on 1 core of thesis-simulator" in result.stdout
    small = "What was simulated is 0.681 times what a core has of L3, and the real partitions are 1,022 times"
    assert f"{small}: too much of it lies there, and times are too low; simulate more with --sample." in result.stdout
    assert "scaled up to 1,000,000 and 2,000,000." in result.stdout


def advice(name: str, cycles_: float, instructions: float, waiting: float, bus: float, **causes: float) -> JoinAdvice:
    predicted = max(instructions + waiting, bus)
    return JoinAdvice(name, f"{name} does it", 1.0, 1.0, cycles_, predicted, causes, instructions, waiting, bus, bus / 15)


def test_reasons_name_what_is_lost() -> None:
    best = advice("best", 100, 90, 0, 30)
    others = [
        advice("close", 102, 95, 0, 30),
        advice("busy", 150, 140, 0, 30),
        advice("idle", 500, 90, 400, 30),
        advice("full", 400, 90, 0, 390),
    ]
    first, close, busy, idle, full, *rest = reasons([best, *others], Measured(task()))
    assert first == "best is best: best does it, and its instructions take 90 of its 100 cycles a tuple."
    assert close == "close takes 1.02 times as long, hardly a difference: close does it."
    assert busy == "busy takes 1.50 times as long: its instructions take 140 cycles a tuple instead of 90."
    assert idle == "idle takes 5.00 times as long: idle does it, which is 400 cycles of waiting a tuple."
    assert full == "full takes 4.00 times as long: the bus moves 26.0 lines for a tuple instead of 2.0."
    assert "By the models, with best the bus is full from 3 cores on." in rest
    assert not any("The models prefer" in reason for reason in rest)
    *_, preferred, _ = reasons([replace(best, predicted_cycles=180), *others[1:3]], Measured(task()))
    numbers = "they have 140 cycles a tuple for it and 180 for best, where simulation has 150 and 100"
    assert preferred == f"The models prefer busy, by a factor of 1.29: {numbers}."


@pytest.mark.parametrize(
    ("cycles_", "bus", "says"),
    [
        # Simulated 222.6 cycles on one core, of which lines take 183.5: they have 39.1 left.
        (222.6, 183.5, "On more cores, best gains a factor of 1.21 at most while it moves as many lines a tuple."),
        (188, 183.5, "The bus is full from 1 core on: with more, best gains nothing while it moves as many lines a tuple."),
    ],
)
def test_a_bus_that_simulation_finds_idle_is_not_full(cycles_: float, bus: float, says: str) -> None:
    first, *rest = reasons([advice("best", cycles_, 182.9, 0, bus)], Measured(task()))
    assert says in rest
    assert ("the bus is what it waits for" in first) == ("is full" in says)


def test_a_bus_that_simulation_finds_full_is_what_is_waited_for_whatever_the_models_say() -> None:
    """Of 363 cycles of instructions and 1,000 of waiting the models let nothing overlap; simulation has as many as lines take."""
    best = advice("best", 1292, 363, 1000, 1294)
    other = advice("other", 1600, 363, 1000, 1570)
    first, lost, *rest = reasons([best, other], Measured(task()))
    assert first.endswith("and the bus is what it waits for: 86.3 lines a tuple of one core take all of its 1,292 cycles.")
    assert lost == "other takes 1.24 times as long: the bus moves 104.7 lines for a tuple instead of 86.3."
    assert any(reason.startswith("The bus is full from 2 cores on") for reason in rest)


def test_what_the_best_algorithm_takes_its_time_for_is_what_simulation_has_most_of() -> None:
    walks = advice("best", 578, 180, 0, 161, busy=150, dtlb=342, dcache_memory=86)
    first, *_ = reasons([walks], Measured(task()))
    assert first == "best is best: best does it, and what takes its time is mostly waiting for translations, 342 of its 578 cycles a tuple."
    works = advice("best", 209, 180, 0, 161, busy=150, dtlb=29, dcache_memory=30)
    assert reasons([works], Measured(task()))[0].endswith("and its instructions take 180 of its 209 cycles a tuple.")


def test_more_tuples_ahead_than_the_kernel_takes_are_told() -> None:
    slow = load_machine("thesis-simulator").native()
    slow["memory"] = slow["memory"] | {"latency_cycles": 1_000_000}
    tuning = Measured(replace(task(), machine=slow))
    assert (tuning.group_size, tuning.prefetch_distance) == (1024, 1024)
    (said,) = [reason for reason in reasons([advice("best", 100, 90, 0, 30)], tuning) if reason.startswith("Take G")]
    size = "G = 1024 for group prefetching, the most that is simulated (equation 4.1 asks for 66,668)"
    assert f"Take {size} and D = 1024 for software-pipelined prefetching, the most that is simulated (equation 4.2 asks for " in said


def test_a_part_that_the_sample_cuts_down_is_told() -> None:
    *_, said = reasons([advice("best", 100, 90, 0, 30)], Measured(task(sample=300_000)))
    assert (
        said == "These partitions are 2.57 times what a core has of L3, of which much lies there: with a larger --sample, times are longer."
    )
    *_, said = reasons([advice("best", 100, 90, 0, 30)], Measured(task()))
    assert said.startswith("Simulated were 310,689 build ")


def test_no_part_is_told_to_be_more_than_the_whole() -> None:
    full = advice("best", 29_790, 400, 0, 31_500)
    first, *_ = reasons([full], Measured(task(build=100_000, probe=200_000, cores=256)))
    assert first.endswith("the bus is what it waits for: 2,100.0 lines a tuple of 256 cores take all of its 29,790 cycles.")
    first, *_ = reasons([advice("best", 99, 100, 0, 20)], Measured(task()))
    assert first.endswith("its instructions take all of its 99 cycles a tuple.")


def test_causes_are_those_of_the_simulation() -> None:
    """GRACE fits the cache here, and waits for its input and output."""
    few = task(build=2000, probe=4000, tuple_bytes=100)
    found = simulate(BY_NAME["grace"], Measured(few))
    assert sum(found.by_cause.values()) == pytest.approx(found.cycles)
    assert found.by_cause["dcache_memory"] > 0.5 * found.cycles
    assert found.by_cause["dcache_L3"] + found.by_cause["dtlb"] < 0.05 * found.cycles


def test_a_reason_is_most_of_the_difference_and_no_more_than_there_is() -> None:
    best = advice("best", 200, 180, 0, 30, busy=180, dcache_memory=10, dtlb=10, branch=0)
    others = [
        advice("overlapping", 290, 215, 385, 30),  # 385 cycles of 90, and of 90 instructions are 35
        advice("working", 400, 300, 385, 30),  # of 200 instructions are 120
        advice("near", 500, 190, 50, 30, dcache_memory=260, dtlb=40),  # 50 of 300
        advice("other", 600, 180, 0, 40, branch=150, dtlb=140, dcache_memory=130),  # 10 of 400, and the bus is not full
    ]
    _, overlapping, working, near, other, *_ = reasons([best, *others], Measured(task()))
    models = "for which the models, which let no waits overlap, have 385 cycles of waiting a tuple, more than the 90 that it takes longer"
    assert overlapping == f"overlapping takes 1.45 times as long: overlapping does it, {models}."
    assert working == "working takes 2.00 times as long: its instructions take 300 cycles a tuple instead of 180."
    memory = "mostly waiting for lines from memory, 260 cycles a tuple instead of 10"
    assert near == f"near takes 2.50 times as long: {memory}; near does it, which is 50 cycles of waiting a tuple."
    assert other == "other takes 3.00 times as long: most of all mispredicted branches, 150 cycles a tuple instead of 0."


def test_a_bus_that_is_no_fuller_is_no_reason_on_a_full_one() -> None:
    best = advice("best", 1200, 500, 0, 1050)
    more = advice("more", 1700, 500, 0, 1500)  # 450 of 500
    waits = advice("waits", 4200, 900, 0, 1200)  # 150 of 3000; instructions lie beneath the bus
    _, full, idle, *_ = reasons([best, more, waits], Measured(task()))
    assert full == "more takes 1.42 times as long: the bus moves 100.0 lines for a tuple instead of 70.0."
    assert idle == "waits takes 3.50 times as long: the bus is idle for 3,000 of its 4,200 cycles a tuple instead of 150."


@pytest.mark.parametrize(("build", "where"), [(4000, "L3"), (400_000, "memory")])
def test_algorithms_say_what_they_wait_for(build: int, where: str) -> None:
    asked = task(build=build)
    assert BY_NAME["grace"].does_on(asked) == f"it hides no misses of tuples in memory, and look-ups in the hash table wait for {where}"
    assert BY_NAME["simple"].does_on(asked).endswith(f"so that look-ups in the hash table wait for {where}")
    found = _advice(BY_NAME["grace"], Measured(asked), Simulated(cycles=500.0, by_cause={}, instruction_cycles=100.0, lines=4.0))
    assert found.does == BY_NAME["grace"].does_on(asked)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tuple", "20"), "--tuple: `20` has no unit"),
        (("--tuple", "20ms"), "--tuple: `20ms` is in time, but a size belongs here"),
        (("--tuple", "6B"), "--tuple 6B: a tuple has 8 to 1,024 bytes"),
        (("--tuple", "2000B"), "--tuple 2000B: a tuple has 8 to 1,024 bytes"),
        (
            ("--build", "2000001"),
            "--build 2000001: the smaller relation builds, and --probe has 2,000,000; swap them, with --duplicates of what builds then",
        ),
        (
            ("--set", "machine.caches.L3.shared=true"),
            "machine.caches.L3.shared has no effect on this run: it is for runs of several threads",
        ),
        (("--set", "machine.coherence=null"), "--set machine.coherence=null: each core joins partitions of its own"),
        (("--cores", "0"), "'--cores': `0` is too small; the least is 1"),
        (("--duplicates", "2000000"), "'--duplicates': `2000000` is too large"),
        (("--build", "100", "--duplicates", "101"), "--duplicates 101: a core's partition has 100 build tuples, and no key can have more"),
        (("--build", "15", "--cores", "8"), "--build 15: 8 cores need at least 16 tuples, 2 for each"),
        (("--build", "1"), "--build 1: a core needs at least 2 tuples"),
        (("--probe", "15", "--cores", "8"), "--probe 15: 8 cores need at least 16 tuples, 2 for each"),
        (("--sample", "10"), "'--sample': `10` is too small; the least is 1000"),
        (
            ("--build", "3000000", "--probe", "3000000", "--duplicates", "1048576", "--sample", "1000000000"),
            "--sample 1000000000: simulating 1,048,576 build and 9,536 probe tuples with 1,048,576 matches each takes about 1,907",
        ),
        (("--set", "workload.seed=2"), "--set workload.seed=2: paths below machine only"),
        (("--set", "machine.cores=2"), "--set machine.cores: the number of cores is --cores here"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = advise(*arguments, small=False)
    assert done.exit_code == 2, done.output
    (line,) = [line for line in done.stderr.splitlines() if "error: " in line]
    assert says in line


def test_what_no_algorithm_takes_is_refused_before_anything_is_simulated() -> None:
    done = advise("--tuple", "21B", small=False)
    assert done.exit_code == 2
    assert done.stderr.startswith("memwalk: error: --tuple: 21 is no multiple of 4")


def test_simulated_dram_is_refused() -> None:
    done = advise(machine="zen4-ddr4", small=False)
    assert done.exit_code == 2
    assert "--machine zen4-ddr4: it simulates its DRAM, and the models need one memory latency" in done.stderr


def test_unknown_machines_get_the_nearest_one() -> None:
    done = advise(machine="thesis-simulato", small=False)
    assert done.exit_code == 2
    assert "did you mean `thesis-simulator`" in done.stderr


def test_all_algorithms_have_names_of_their_own() -> None:
    assert len(BY_NAME) == len(ALGORITHMS)
