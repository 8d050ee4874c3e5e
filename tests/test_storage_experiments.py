"""Workloads that run on storage: experiments, the systems they name, and the kernel of plain requests."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import EXPERIMENT, SCAN_EXPERIMENT, give_measures, invoke, write_experiment

from memwalk.analysis.claims import Study, less, series, speedup
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row, config_hash, distinct_points
from memwalk.analysis.experiments.runner import run_points
from memwalk.analysis.experiments.schema import json_schema, load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.store import read_point
from memwalk.analysis.storage_workloads import StorageKernel
from memwalk.analysis.storage_workloads.columns import cpu_columns
from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.device import PART_NAMES
from memwalk.simcore.storage.sampled import scaled_up
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import AtroposVolume

DEVICE = """\
schema_version: 1
description: a small device
source: made up for tests
kind: sequential-random
blocks: 1600
page_bytes: 8KiB
sequential_page: 100us
random_page: 5ms
"""

STREAM = """\
schema_version: 1
id: stream
storage: {device: ./device.yaml}
workload: {kernel: requests, count: 40}
variants:
  random: {workload.pattern: random}
  sequential: {workload.pattern: sequential}
grid:
  workload.in_flight: [1, 4]
"""


def rows(folder: Path, *sets: str, experiment: str = STREAM) -> list[Row]:
    (folder / "device.yaml").write_text(DEVICE)
    return expand(load_experiment(write_experiment(folder, experiment)), overrides=[parse_set(text) for text in sets])


def requests(system: System, **values: Any) -> dict[str, float | int]:
    return Requests(kernel="requests", **values).run(system)


@pytest.fixture
def system(tmp_path: Path) -> System:
    (tmp_path / "device.yaml").write_text(DEVICE)
    return System(load_device("./device.yaml", tmp_path))


def test_a_sequential_stream_positions_once(system: System) -> None:
    found = requests(system, pattern="sequential", count=10)
    assert found["seconds"] == pytest.approx(5e-3 + 9 * 100e-6)
    assert found["io_seek_seconds"] == pytest.approx(4.9e-3)
    assert found["io_transfer_seconds"] == pytest.approx(1e-3)
    assert found["io_requests"] == 10
    assert found["io_blocks"] == 160
    assert found["MB_per_second"] == pytest.approx(10 * 8192 / 1e6 / 5.9e-3)


def test_what_is_in_flight_waits_for_what_came_before(system: System) -> None:
    """Sixteen blocks apart, four in flight: each waits for the three before it."""
    found = requests(system, count=100, in_flight=4)
    alone = requests(system, count=100, in_flight=1)
    assert found["seconds"] == alone["seconds"]
    assert alone["io_queue_seconds"] == 0
    assert found["mean_response_ms"] == pytest.approx(4 * alone["mean_response_ms"], rel=0.05)
    served = sum(found[f"io_{part}_seconds"] for part in PART_NAMES if part != "queue")
    assert served == pytest.approx(found["seconds"])


def test_requests_stay_within_their_part_and_write_their_share(system: System) -> None:
    whole = requests(system, count=50, first_block=1584, span_blocks=16)
    assert whole["io_seek_seconds"] == pytest.approx(50 * 4.9e-3)  # the last request of the volume, again and again
    with pytest.raises(UserError, match="change first_block or span_blocks"):
        requests(system, count=1, first_block=1585)


def test_disks_of_a_stripe_work_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    stripe = System(load_device("./device.yaml", tmp_path), disks=4, volume="striped", stripe_blocks=16)
    found = requests(stripe, pattern="sequential", count=8, in_flight=4)
    assert found["seconds"] == pytest.approx(5e-3 + 100e-6)


def test_a_shared_bus_holds_disks_up(system: System) -> None:
    stripe = replace(system, disks=4, volume="striped", stripe_blocks=16)
    slow = requests(replace(stripe, bus=8192 * 100), pattern="sequential", count=8, in_flight=8)
    assert slow["seconds"] >= 8 / 100
    assert requests(stripe, pattern="sequential", count=8, in_flight=8)["seconds"] < 8 / 100


def test_a_column_of_atropos_loses_no_turn_on_the_way() -> None:
    without_read_ahead = load_device("cheetah-x15").model_copy(update={"read_ahead_blocks": 0})
    array = System(without_read_ahead, disks=4, volume="atropos", depth=8)
    volume = array.layout()
    assert isinstance(volume, AtroposVolume)
    server = array.switched_on()
    served = server.env.run(server.submit_batch((block, 1) for block in volume.semi_sequential(0, 8)))
    assert served.end_ps < 3 * 60 * 10**12 // 15000 + 8 * 10**9  # three turns and eight switches of heads


def test_a_column_of_atropos_loses_no_turn_behind_a_slow_bus() -> None:
    # From the end of a block, 25.6 us over the bus, 100 us for the next command and 800 us for the head are 89.3 of 386 sectors in a
    # turn of 4 ms: the next block is the 91st from the start of the one before.
    array = System(load_device("cheetah-x15").model_copy(update={"read_ahead_blocks": 0}), volume="atropos", depth=8, bus=20_000_000)
    volume = array.layout()
    assert isinstance(volume, AtroposVolume)
    ends = []
    for blocks in range(2, 8):
        server = array.switched_on()
        ends.append(server.env.run(server.submit_batch((block, 1) for block in volume.semi_sequential(0, blocks))).end_ps)
    assert [after - before for before, after in itertools.pairwise(ends)] == pytest.approx([91 * 4 * 10**9 / 386] * 5, abs=2)


def test_a_machines_time_is_told_by_cause() -> None:
    machine = load_machine("pentium2-xeon-400").native()
    statistics = native.simulate(machine, {"kernel": "pointer-chase", "lines": 200})
    found = cpu_columns(scaled_up(statistics, machine, times=10))
    assert found["cpu_seconds"] == pytest.approx(10 * statistics["cycles"] / machine["clock_hz"])
    assert sum(value for name, value in found.items() if name != "cpu_seconds") == pytest.approx(found["cpu_seconds"])


def test_points_are_told_apart_by_workload_and_storage(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert len({row.point.id for row in found}) == 4
    assert {row.parameters["storage.device"] for row in found} == {"device"}
    assert not any(name.startswith("machine.") for row in found for name in row.parameters)
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/device.yaml").write_text(DEVICE.replace("5ms", "6ms"))
    slow = rows(tmp_path, f"storage.device={tmp_path}/slow/device.yaml")
    assert {row.parameters["storage.device"] for row in slow} == {"device"}
    assert {row.point.id for row in slow}.isdisjoint(row.point.id for row in found)


def test_fields_of_a_device_are_varied_by_name(tmp_path: Path) -> None:
    text = STREAM.replace("grid:", "grid:\n  storage.parameters.random_page: [5ms, 6ms]")
    found = rows(tmp_path, experiment=text)
    assert {row.parameters["storage.parameters.random_page"] for row in found} == {5 * 10**9, 6 * 10**9}
    assert len({row.point.id for row in found}) == 8
    for mistake, answer in (
        ("storage.parameters.random_pages=5ms", "unknown key `random_pages`; did you mean `random_page`?"),
        ("storage.parameters.random_page=5", "--set storage.parameters.random_page=5: random_page: `5` has no unit"),
        ("storage.parameters.random_page=5us", "a random page takes no less time than a sequential one"),
    ):
        with pytest.raises(UserError) as error:
            rows(tmp_path, mistake)
        assert answer in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("storage: {device: ./device.yaml}\n", "", "experiment.yaml:1:1: `machine` is missing"),
        ("storage: {device: ./device.yaml}", "machine: ./small.yaml", "`storage` is missing; a workload of kernel requests runs on one"),
        ("device: ./device.yaml", "device: raid", "experiment.yaml:3:19: storage device `raid`: not in"),
        ("./device.yaml}", "./device.yaml, queues: fcfs}", "experiment.yaml:3:34: unknown key `queues`; did you mean `queue`?"),
        ("./device.yaml}", "./device.yaml, disks: 2}", "experiment.yaml:3:10: a single volume has one device, not 2; write for example"),
        ("./device.yaml}", "./device.yaml, volume: atropos}", "an atropos volume lies on disks, and device is a sequential-random; name"),
        ("./device.yaml}", "mems-g2, volume: atropos}", "an atropos volume lies on disks, and mems-g2 is a memstore; name a disk"),
        ("./device.yaml}", "cheetah-x15, volume: memstore}", "a memstore volume lies on a MEMStore, and cheetah-x15 is a disk"),
        ("./device.yaml}", "cheetah-x15, volume: atropos, depth: 1e9}", "have no quadrangles of 1000000000 tracks"),
        ("./device.yaml}", "./device.yaml, bus: 0MB/s}", "bus: `0MB/s` is too small; it must be more than 0"),
        ("./device.yaml}", "./device.yaml, disks: 3000000, volume: striped}", "disks: `3000000` is too large; the most is 1024"),
        ("./device.yaml}", "./device.yaml, bus: 160}", "bus: `160` has no unit; write for example 160MB/s"),
        ("./device.yaml}", "./device.yaml, queue: sstf}", "`sstf` is not one of fcfs, c-look, sptf, aged-sptf; did you mean `sptf`?"),
        ("storage: {device: ./device.yaml}", "storage: 5", "experiment.yaml:3:10: storage: a number stands where"),
        ("count: 40", "counts: 40", "unknown key `counts`; did you mean `count`?"),
        ("count: 40", "count: 40, span_blocks: 8", "span_blocks 8 has no room for a request of 16 blocks"),
        ("variants", "observe: [bytes]\nvariants", "experiment.yaml:5:10: only what runs on a machine is observed"),
        ("variants", "dbms: compiled\nvariants", "experiment.yaml:5:7: is for a machine, and the experiment has none"),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, old: str, new: str, answer: str) -> None:
    assert old in STREAM
    with pytest.raises(UserError) as error:
        rows(tmp_path, experiment=STREAM.replace(old, new, 1))
    assert answer in str(error.value)


def test_a_kernel_of_a_machine_needs_one(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("machine: ./small.yaml", "storage: raid0-6-disks").replace(
        "  machine.memory.latency_cycles: [100cycles, 150ns]\n", ""
    )
    with pytest.raises(UserError, match=r"experiment.yaml:1:1: `machine` is missing; a workload of kernel index runs on one"):
        rows(tmp_path, experiment=text)


def test_a_storage_without_a_device_is_told_where_it_is_set(tmp_path: Path) -> None:
    scan = "schema_version: 1\nid: scan\nmachine: ./small.yaml\nstorage: null\n"
    scan += "workload: {kernel: table, operation: scan, layout: nsm, records: 100}\n"
    with pytest.raises(UserError, match=r"^--set storage\.disks=2: `device` is missing"):
        rows(tmp_path, "storage.disks=2", experiment=scan)


def test_points_of_machines_know_the_storage_of_their_pages(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    scan = "schema_version: 1\nid: scan\nmachine: ./small.yaml\nworkload: {kernel: table, operation: scan, layout: nsm, records: 100}\n"
    plain = expand(load_experiment(write_experiment(tmp_path, scan)))
    stored = expand(load_experiment(write_experiment(tmp_path, scan + "storage: ./device.yaml\n")))
    assert {row.point.id for row in plain}.isdisjoint(row.point.id for row in stored)
    assert config_hash(plain) != config_hash(stored)


def test_a_machine_is_simulated_with_each_storage(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    text = SCAN_EXPERIMENT + "grid:\n  storage: [./device.yaml, raid0-6-disks]\n  workload.records: [100, 200]\n"
    found = expand(load_experiment(write_experiment(tmp_path, text)))
    statistics = run_points(distinct_points(found), tmp_path / "points", jobs=1)
    assert len({(one["cycles"], one["slots"]["storage"]) for one in statistics.values()}) == len(found) == 4


def test_results_are_the_same_from_any_number_of_workers_and_after_resuming(tmp_path: Path) -> None:
    found = rows(tmp_path)
    run_rows("stream", found, tmp_path / "one", jobs=1)
    run_rows("stream", found, tmp_path / "two", jobs=2)
    tables = [(tmp_path / folder / "results.parquet").read_bytes() for folder in ("one", "two")]
    assert tables[0] == tables[1]
    manifest = json.loads((tmp_path / "one/manifest.json").read_text())
    assert (manifest["end_reason"], manifest["machines"], manifest["devices"]) == ("completed", [], ["device"])
    (tmp_path / "one/results.parquet").unlink()
    run_rows("stream", found, tmp_path / "one", jobs=1)
    assert (tmp_path / "one/results.parquet").read_bytes() == tables[0]
    content = read_point(tmp_path / f"one/points/{found[0].point.id}.json")
    assert content["storage"]["facts"]["random_page"] == 5 * 10**9


def test_the_command_line_runs_storage_and_refuses_what_it_has_no_trace_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = invoke("run", "experiment.yaml", "--jobs", "1", "--out", "out")
    assert done.exit_code == 0, done.output
    assert "requests_per_second" in done.stdout
    frame = pd.read_parquet("out/results.parquet")
    assert list(frame["variant"]) == ["random", "random", "sequential", "sequential"]
    refused = invoke("trace", "record", "experiment.yaml", "-o", "trace.parquet")
    assert refused.exit_code == 2
    assert "kernel requests runs on storage and has no memory accesses" in refused.stderr
    outside = invoke("run", "experiment.yaml", "--set", "workload.first_block=9999", "--jobs", "2", "--out", "other")
    assert outside.exit_code == 2
    assert outside.stderr.startswith("memwalk: error: --set workload.first_block=9999: requests begin at block 9999, and")
    assert outside.stderr.count("\n") == 1, "the mistake, before anything runs"


def test_every_kernel_is_listed_with_what_it_does() -> None:
    listed = {one["kernel"]: one for one in json.loads(invoke("list", "workloads", "--json").stdout)}
    assert listed["index"]["runs on"] == "machine"
    assert listed["requests"] == {
        "kernel": "requests", "runs on": "storage", "does": "a stream of requests, a given number of them always in flight"
    }  # fmt: skip
    assert not any("Kernel" in one["does"] or not one["does"] for one in listed.values())


def test_every_kernel_can_be_checked_hashed_and_run() -> None:
    kernel = Requests(kernel="requests", count=1)
    assert isinstance(kernel, StorageKernel)
    assert Requests(**kernel.native()) == kernel
    schema = json_schema()
    assert "Requests" in schema["$defs"]
    assert "required" not in schema["$defs"]["StorageSetting"]


PAPER = """\
schema_version: 1
id: small-paper
title: Disks
source: made up for tests
bases:
  stream:
    storage: {device: device, queue: fcfs}
    workload: {kernel: requests, count: 40}
"""
FIGURE = """\
schema_version: 1
id: fig-1
title: Requests
where: Figure 1
experiments:
  disks:
    base: stream
    storage: {volume: striped, stripe_blocks: 16}
    variants: {one: {workload.in_flight: 1}, many: {workload.in_flight: 8}}
    grid: {storage.disks: [1, 2], storage.parameters.random_page: [5ms, 10ms]}
plots:
  - {kind: lines, title: Throughput, panel: disks, x: storage.disks, y: requests_per_second, series: [many],
     where: {storage.parameters.random_page: 5000000000}}
claims:
  - {id: nearly-twice, class: result, where: w, platform: simulation, metric: disks, unit: x, published: {low: 1, high: 1.8}}
  - {id: a-request, class: result, where: w, platform: simulation, metric: a request, unit: s, published: {low: 0.005, high: 0.005}}
  - {id: many-win, class: order, where: w, platform: simulation, metric: disks}
"""
FAST_PAGES = 5_000_000_000


def fast_pages(study: Study) -> pd.DataFrame:
    disks = study["disks"]
    return disks[disks["storage.parameters.random_page"] == FAST_PAGES]


def two_disks(study: Study, variant: str) -> "pd.Series[float]":
    disks = study["disks"]
    return series(disks[disks["storage.disks"] == 2], variant, "seconds")


MEASURES = {
    "nearly-twice": lambda study: speedup(study["disks"], "many", over="one", column="seconds"),
    "a-request": lambda study: series(fast_pages(study), "one", "seconds", "io_requests"),
    "many-win": lambda study: less(two_disks(study, "many"), two_disks(study, "one")),
}


def test_claims_are_measured_on_columns_of_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "configs/papers/small-paper"
    folder.mkdir(parents=True)
    for kind in ("devices", "machines"):
        (tmp_path / "configs" / kind).mkdir()
    (tmp_path / "configs/devices/device.yaml").write_text(DEVICE)
    (folder / "paper.yaml").write_text(PAPER)
    (folder / "fig-1.yaml").write_text(FIGURE)
    monkeypatch.setenv("MEMWALK_CONFIGS", str(tmp_path / "configs"))
    give_measures(monkeypatch, "small-paper", MEASURES)
    done = invoke("reproduce", "fig-1", "--jobs", "1", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    outcomes = {claim["id"]: claim for claim in json.loads((tmp_path / "out/small-paper/fig-1/claims.json").read_text())}
    assert all(claim["agrees"] for claim in outcomes.values())
    assert outcomes["nearly-twice"]["simulated_low"] == 1
    assert 1.7 < outcomes["nearly-twice"]["simulated_high"] < 2
