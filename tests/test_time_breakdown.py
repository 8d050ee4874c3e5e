"""Seconds by cause: the processor's, and its wait for storage."""

import json
from pathlib import Path

import pandas as pd
import pytest
from files import invoke
from hypothesis import given
from hypothesis import strategies as st
from test_storage_experiments import DEVICE, STREAM

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.manifest import BREAKDOWN, RESULTS
from memwalk.analysis.experiments.results import read_table
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.explain.breakdown import Explanation, Part, explain
from memwalk.analysis.explain.time_breakdown import IO_STALL, StorageExplanation, time_breakdown
from memwalk.analysis.storage_workloads.columns import CPU_CAUSES
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PART_NAMES

TABLE = """\
schema_version: 1
id: table
machine: pentium2-xeon-400
dbms: shore-pentium2
storage: {device: cheetah-x15, disks: 2, volume: striped}
workload: {kernel: table, operation: scan, layout: nsm, records: 2000, attributes: 8, page_bytes: 8192}
"""

JOINS = """\
schema_version: 1
id: joins
machine: thesis-simulator
workload: {kernel: hash-join, algorithm: group, build_tuples: 3000, probe_tuples: 6000, partitions: 3, threads: 2}
variants:
  two cores: {machine.cores: 2}
"""

PROCESSOR = "machine: pentium4-xeon-1700\ndbms: shore-pentium2\n"
USERS = """\
schema_version: 1
id: users
storage: device.yaml
workload: {KERNEL, layout: nsm, warehouses: 1, users: 1, pool: 512MiB, fill_transactions: 500, page_access: 5ms,
  warm_up: 500ms, measured: 2s}
"""


def test_the_wait_for_storage_is_split_as_the_requests_are() -> None:
    row = {"seconds": 10.0, "cpu_seconds": 4.0, "io_queue_seconds": 6.0, "io_seek_seconds": 12.0, "io_transfer_seconds": 0.0}
    found = time_breakdown(row)
    assert found is not None
    assert found.causes == {"processor": 4.0, IO_STALL: 6.0}
    assert found.io == {"queue": 2.0, "overhead": 0, "seek": 4.0, "rotation": 0, "transfer": 0, "bus": 0}
    assert "Most goes to processor: 4 of 10 seconds (40%). The processor waits for storage 60% of the time." in found.headline()


def test_cores_that_have_ended_neither_work_nor_wait() -> None:
    found = time_breakdown({"seconds": 10.0, "cpu_seconds": 2.0, "io_seconds": 3.0, "ended_seconds": 5.0})
    assert found is not None
    assert found.causes == {"processor": 2.0, "ended cores": 5.0, IO_STALL: 3.0}
    assert "Most goes to ended cores: 5 of 10 seconds (50%). The processor waits for storage 30% of the time." in found.headline()


def test_waits_for_other_cores_stand_by_themselves_where_there_are_any() -> None:
    slots = {"slots_total": 100.0, "slots_busy": 30.0, "slots_other": 10.0, "slots_barrier": 60.0}
    row = {"seconds": 10.0, "cpu_seconds": 10.0} | slots
    found = time_breakdown(row)
    assert found is not None
    assert (found.causes["other"], found.causes["barriers and latches"]) == (pytest.approx(1), pytest.approx(6))
    assert "Most goes to barriers and latches: 6 of 10 seconds (60%)." in found.headline()
    free = time_breakdown(row | {"slots_barrier": 0.0})
    assert free is not None
    assert "barriers and latches" not in free.causes
    split = time_breakdown({"seconds": 2.0, "cpu_seconds": 2.0, "cpu_busy_seconds": 0.5, "cpu_barrier_seconds": 1.5})
    assert split is not None
    assert split.causes["barriers and latches"] == 1.5


def test_without_overlap_seconds_are_a_sum() -> None:
    found = time_breakdown({"cpu_seconds": 1.0, "io_seconds": 3.0})
    assert found is not None
    assert found.seconds == 4.0
    assert found.causes[IO_STALL] == 3.0


def test_a_row_without_seconds_has_no_breakdown() -> None:
    assert time_breakdown({"cycles": 5}) is None
    assert time_breakdown({"seconds": None}) is None


TIMES = st.floats(0, 1e6)


@given(
    TIMES,
    st.fixed_dictionaries({f"cpu_{cause}_seconds": TIMES for cause in CPU_CAUSES} | {f"io_{part}_seconds": TIMES for part in PART_NAMES}),
)
def test_causes_sum_to_the_whole(waiting: float, parts: dict[str, float]) -> None:
    cpu = sum(value for name, value in parts.items() if name.startswith("cpu_"))
    found = time_breakdown(parts | {"seconds": cpu + waiting, "cpu_seconds": cpu})
    assert found is not None
    assert sum(found.causes.values()) == pytest.approx(cpu + waiting)
    assert sum(found.io.values()) == pytest.approx(found.causes[IO_STALL]) or not found.io


def test_a_machine_with_storage_is_explained_down_to_both(tmp_path: Path) -> None:
    path = tmp_path / "table.yaml"
    path.write_text(TABLE)
    run_rows("table", expand(load_experiment(path)), tmp_path / "out", jobs=1)
    (one,) = explain(tmp_path / "out")
    assert isinstance(one, Explanation)
    assert one.time is not None
    assert one.causes["icache"] > 0
    assert sum(one.causes.values()) == pytest.approx(one.cycles)
    assert sum(one.time.causes.values()) == pytest.approx(one.time.seconds)
    row = read_table(tmp_path / "out" / RESULTS).iloc[0]
    assert one.time.seconds == row["seconds"]
    assert one.time.causes[IO_STALL] == pytest.approx(row["io_seconds"])
    assert one.time.causes["cache"] == pytest.approx(row["cpu_seconds"] * row["slots_dcache"] / (row["slots_total"] - row["slots_storage"]))
    assert all(one.time.io[part] > 0 for part in ("overhead", "rotation", "transfer"))


def test_cores_that_end_early_are_a_part_of_their_own(tmp_path: Path) -> None:
    """Three partitions on two cores of four slots a cycle: one ends when the other has half of its work to do."""
    (tmp_path / "joins.yaml").write_text(JOINS)
    run_rows("joins", expand(load_experiment(tmp_path / "joins.yaml")), tmp_path / "out", jobs=1)
    row = read_table(tmp_path / "out" / RESULTS).iloc[0]
    cores = read_table(tmp_path / "out" / "cores.parquet")
    for by in (None, "phase", "segment"):
        (one,) = explain(tmp_path / "out", by=by)
        assert isinstance(one, Explanation)
        assert one.causes["busy"] == pytest.approx(row["slots_busy"] / 4 / 2 / row["operations"])
        assert sum(part.cycles for part in one.parts) == pytest.approx(one.cycles)
        assert sum(part.share for part in one.parts) == pytest.approx(1)
        assert one.parts[-1].phase == "ended cores"
        assert one.parts[-1].cycles == pytest.approx((row["cycles"] - cores["cycles"].min()) / 2 / row["operations"])
    assert "ended cores" in invoke("explain", tmp_path / "out").stdout


def test_a_processor_that_users_share_is_explained_by_its_work(tmp_path: Path) -> None:
    """One user of a pool that holds nearly all that is wanted: the processor works nearly all the time, alone and beside a query."""
    (tmp_path / "device.yaml").write_text(DEVICE.replace("1600", "4000000"))
    query = "kernel: compound, query: q6, scale_factor: 0.002"
    for name, text in (("tpcc", USERS.replace("KERNEL", "kernel: tpcc")), ("compound", PROCESSOR + USERS.replace("KERNEL", query))):
        (tmp_path / f"{name}.yaml").write_text(text)
        run_rows(name, expand(load_experiment(tmp_path / f"{name}.yaml")), tmp_path / name, jobs=1)
    (users,) = explain(tmp_path / "tpcc")
    beside, asked = explain(tmp_path / "compound")
    assert isinstance(users, StorageExplanation)
    assert isinstance(beside, StorageExplanation)
    assert isinstance(asked, StorageExplanation)
    assert [one.parameters["program"] for one in (beside, asked)] == ["tpcc", "query"]
    for one in (users, beside):
        assert one.time.causes["processor"] == pytest.approx(one.time.seconds, rel=0.1)
        assert one.time.causes["processor"] <= one.time.seconds
    assert asked.time.causes["busy"] > 0
    assert sum(asked.time.causes.values()) == pytest.approx(asked.time.seconds)


def test_workloads_on_storage_are_explained(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    (tmp_path / "stream.yaml").write_text(STREAM)
    run_rows("stream", expand(load_experiment(tmp_path / "stream.yaml")), tmp_path / "out", jobs=1)
    assert read_table(tmp_path / "out" / BREAKDOWN).empty
    found = explain(tmp_path / "out")
    assert all(isinstance(one, StorageExplanation) for one in found)
    told = invoke("explain", tmp_path / "out", "--variant", "sequential")
    assert told.exit_code == 0, told.output
    assert "Most goes to I/O, queue" in told.stdout
    point = invoke("explain", tmp_path / "out/points" / f"{found[0].point}.json", "--json")
    assert json.loads(point.stdout)["points"][0]["time"]["causes"] == {"processor": 0.0, IO_STALL: found[0].time.seconds}
    for by in ("phase", "segment"):
        refused = invoke("explain", tmp_path / "out", "--by", by)
        assert refused.exit_code == 2
        assert f"--by {by}: {tmp_path / 'out'} has seconds by cause alone" in " ".join(refused.stderr.split())


def test_a_result_without_times_has_nothing_to_explain(tmp_path: Path) -> None:
    place = {"experiment": ["e"], "variant": [""], "point": ["p"]}
    pd.DataFrame(place | {"pages": [1]}).to_parquet(tmp_path / RESULTS)
    pd.DataFrame(place).to_parquet(tmp_path / BREAKDOWN)
    with pytest.raises(UserError, match="neither cycles nor seconds"):
        explain(tmp_path)


def test_what_accesses_nothing_is_said_to() -> None:
    part = Part("team", "(elsewhere)", 10.0, 1.0, {"barrier": 10.0}, {}, 0.0)
    found = Explanation("e", "", "p", {}, {}, None, 10.0, part.causes, {}, (part,))
    assert found.headline().endswith("There, in all: no accesses; 0 page-table walks.")
