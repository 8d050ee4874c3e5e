"""The runner: nothing finished is lost, nothing is done twice, and no result depends on who computed it."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from files import EXPERIMENT, MACHINE, SCAN_EXPERIMENT, command, environment, memwalk, write_experiment
from runs import Recorder, small_rows, tables
from storage_pages import DEVICE

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.local import _main_left_alone
from memwalk.analysis.experiments.points import Point, Row, distinct_points
from memwalk.analysis.experiments.provenance import NATIVE, PYTHON, provenance
from memwalk.analysis.experiments.results import breakdown_table, cores_table, curve_table, parquet_bytes, table, usage_table
from memwalk.analysis.experiments.runner import run_points
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.store import PointStore, read_point
from memwalk.analysis.experiments.task import Task
from memwalk.analysis.explain.breakdown import Explanation, explain
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

STORED = """\
schema_version: 1
id: stored
machine: thesis-simulator
storage: {device: cheetah-15k4, disks: 2, volume: striped, stripe_blocks: 512}
workload: {kernel: hash-join, algorithm: grace, build_tuples: 2000, probe_tuples: 4000, partitions: 4, pages_asked_ahead: 20}
variants:
  alone: {}
  together: {machine.cores: 2, workload.threads: 2}
grid: {storage.disks: [1, 2], workload.seed: [1, 2]}
scales:
  quick: {workload.seed: [1]}
"""
"""Pages from disks, on one core and on two."""


@pytest.mark.parametrize("experiment", [EXPERIMENT, STORED], ids=["memory", "storage"])
def test_one_worker_and_two_give_the_same_bytes(tmp_path: Path, experiment: str) -> None:
    rows = small_rows(tmp_path, experiment)
    for jobs in (1, 2):
        run_rows("small", rows, tmp_path / str(jobs), jobs=jobs)
    assert tables(tmp_path / "1") == tables(tmp_path / "2")


def test_finished_points_are_not_simulated_again(tmp_path: Path) -> None:
    points = distinct_points(small_rows(tmp_path))
    first, second = Recorder(), Recorder()
    some = run_points(points[:3], tmp_path / "points", jobs=1, progress=first)
    everything = run_points(points, tmp_path / "points", jobs=1, progress=second)
    assert (first.finished, sorted(first.advanced)) == ([], sorted(some))
    assert sorted(second.finished) == sorted(some)
    assert sorted(second.advanced) == sorted(point.id for point in points[3:])
    assert list(everything) == [point.id for point in points]
    assert (first.stopped, second.stopped) == (1, 1)


@pytest.mark.parametrize("damage", ["{}", "", '{"point": 1}', None])
def test_damaged_points_are_simulated_again_with_a_warning(tmp_path: Path, damage: str | None, caplog: pytest.LogCaptureFixture) -> None:
    point = distinct_points(small_rows(tmp_path))[0]
    before = run_points([point], tmp_path, jobs=1)
    path = tmp_path / f"{point.id}.json"
    whole = path.read_text()
    path.write_text(whole.replace('"cycles": ', '"cycles": 1') if damage is None else damage)
    with caplog.at_level("WARNING", "memwalk"):
        assert run_points([point], tmp_path, jobs=1) == before
    assert "is no undamaged point of a memwalk run; it is simulated again" in caplog.text
    assert path.read_text() == whole


def test_a_failure_keeps_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = small_rows(tmp_path)
    real, simulated = native.simulate_on, []

    def third_fails(machines: Any, workload: Any, *listeners: Any) -> list[native.Statistics]:
        simulated.append(len(machines))
        if len(simulated) == 3:
            raise KeyboardInterrupt
        return real(machines, workload, *listeners)

    monkeypatch.setattr(native, "simulate_on", third_fails)
    with pytest.raises(KeyboardInterrupt):
        run_rows("small", rows, tmp_path / "out", jobs=1)
    assert len(list((tmp_path / "out" / "points").iterdir())) == sum(simulated[:2])
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["end_reason"] == "interrupted"
    assert not (tmp_path / "out" / "results.parquet").exists()
    run_rows("small", rows, tmp_path / "out", jobs=1)
    monkeypatch.undo()
    run_rows("small", rows, tmp_path / "whole", jobs=1)
    assert tables(tmp_path / "out") == tables(tmp_path / "whole")


def test_results_are_never_overwritten(tmp_path: Path) -> None:
    rows = small_rows(tmp_path)
    run_rows("small", rows, tmp_path / "out", jobs=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    run_rows("small", rows, tmp_path / "out", jobs=1)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before
    with pytest.raises(UserError, match=r"holds the results of another configuration .* choose another folder"):
        run_rows("small", rows[:1], tmp_path / "out", jobs=1)
    (tmp_path / "out" / "manifest.json").unlink()
    with pytest.raises(UserError, match="holds results without a manifest"):
        run_rows("small", rows, tmp_path / "out", jobs=1)


def test_a_run_that_failed_before_its_first_point_leaves_its_folder_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any) -> list[native.Statistics]:
        raise UserError("a mistake that is found when it runs")

    rows = small_rows(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(native, "simulate_on", fails)
        with pytest.raises(UserError, match="a mistake"):
            run_rows("small", rows, tmp_path / "out", jobs=1)
    store = PointStore(tmp_path / "out" / "points")
    with store.open(), pytest.raises(UserError, match="another memwalk is writing here"):
        run_rows("small", rows[:1], tmp_path / "out", jobs=1)
    run_rows("small", rows[:1], tmp_path / "out", jobs=1)
    assert caplog.text == ""
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["end_reason"], manifest["rows"]) == ("completed", 1)


def test_a_run_that_failed_later_keeps_its_folder(tmp_path: Path) -> None:
    class Stopped(Recorder):
        def advance(self, point: Point, statistics: native.Statistics) -> None:
            super().advance(point, statistics)
            raise KeyboardInterrupt

    rows = small_rows(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_rows("small", rows, tmp_path / "out", jobs=1, progress=Stopped())
    with pytest.raises(UserError, match="holds the results of another configuration"):
        run_rows("small", rows[:1], tmp_path / "out", jobs=1)


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    points = distinct_points(small_rows(tmp_path))[:1]
    hold = "import fcntl, os, sys, time; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            with pytest.raises(UserError, match="another memwalk is writing here"):
                run_points(points, tmp_path, jobs=1)
        finally:
            holder.kill()


def test_a_second_run_leaves_the_first_ones_manifest_and_tables(tmp_path: Path) -> None:
    rows, out = small_rows(tmp_path)[:1], tmp_path / "out"

    class Second:
        """Begins the same again while the first goes on."""

        def start(self, *_: Any) -> None:
            (out / "results.parquet").write_bytes(b"the first one's")
            before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
            with pytest.raises(UserError, match="another memwalk is writing here"):
                run_rows("small", rows, out, jobs=1)
            assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before

        def within(self, *_: Any) -> None: ...

        def advance(self, *_: Any) -> None: ...

        def stop(self) -> None: ...

    run_rows("small", rows, out, jobs=1, progress=Second())
    assert json.loads((out / "manifest.json").read_text())["end_reason"] == "completed"


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "2", True])
def test_jobs_that_are_no_number_of_processes_are_told(tmp_path: Path, jobs: Any) -> None:
    with pytest.raises(UserError, match="expected a whole number of processes from 1 on, or None for all cores"):
        run_rows("small", small_rows(tmp_path), tmp_path / "out", jobs=jobs)
    assert not (tmp_path / "out").exists()


def test_a_pool_of_multiprocessing_simulates_in_each_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a worker of multiprocessing.Pool is, to whom Python refuses processes.
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    rows = small_rows(tmp_path)[:2]
    assert len(run_rows("small", rows, tmp_path / "out")) == 2
    with pytest.raises(UserError, match=r"jobs=2: a worker of multiprocessing\.Pool may have no processes of its own; give jobs=1"):
        run_rows("small", rows, tmp_path / "other", jobs=2)


def test_threads_that_start_workers_leave_the_program_in_its_place() -> None:
    main = sys.modules["__main__"]
    events = [threading.Event() for _ in range(4)]
    inside, second_inside, leave, leave_second = events

    def one(enters: threading.Event, leaves: threading.Event) -> None:
        with _main_left_alone():
            enters.set()
            leaves.wait(10)

    threads = [threading.Thread(target=one, args=(inside, leave)), threading.Thread(target=one, args=(second_inside, leave_second))]
    threads[0].start()
    inside.wait(10)
    threads[1].start()
    second_inside.wait(0.05)  # it must not come in: it would take for the program what stands for it
    leave.set()
    threads[0].join()
    leave_second.set()
    threads[1].join()
    assert sys.modules["__main__"] is main


def long_run(out: Path, experiment: Path, jobs: int, longer: str = "workload.operations=20000") -> list[str | Path]:
    return ["run", experiment, "--out", out, "--jobs", str(jobs), "--set", longer]


def wait_for_points(out: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if len(list((out / "points").glob("*.json"))) >= 2:
            return
        time.sleep(0.005)
    pytest.fail("the run ended, or did nothing, before it could be stopped midway")


@pytest.mark.parametrize(
    ("jobs", "experiment", "longer"),
    [
        pytest.param(1, EXPERIMENT, "workload.operations=20000", id="memory, one"),
        pytest.param(2, EXPERIMENT, "workload.operations=20000", id="memory, two", marks=pytest.mark.nightly),
        pytest.param(2, STORED, "workload.probe_tuples=16000", id="storage, two"),
        pytest.param(1, STORED, "workload.probe_tuples=16000", id="storage, one", marks=pytest.mark.nightly),
    ],
)
def test_a_run_killed_midway_resumes_to_the_same_bytes(tmp_path: Path, jobs: int, experiment: str, longer: str) -> None:
    path, out, whole = write_experiment(tmp_path, experiment), tmp_path / "out", tmp_path / "whole"
    with subprocess.Popen(command(*long_run(out, path, jobs, longer)), env=environment(), stderr=subprocess.DEVNULL) as process:
        wait_for_points(out, process)
        process.kill()
    kept = {path: path.read_bytes() for path in (out / "points").glob("*.json")}
    (out / "points" / ".memwalk-1.tmp").write_text("half of a point, as a kill may leave it")
    assert 2 <= len(kept) < len(expand(load_experiment(path)))
    for point in kept:
        assert read_point(point)["point"] == point.stem
    for folder, number in ((out, jobs), (whole, 1)):
        done = memwalk(*long_run(folder, path, number, longer))
        assert done.returncode == 0, done.stderr
    assert {point: point.read_bytes() for point in kept} == kept
    assert tables(out) == tables(whole)
    assert not list(out.rglob("*.tmp"))


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.nightly), 2])
def test_ctrl_c_stops_keeps_and_says_how_to_go_on(tmp_path: Path, jobs: int) -> None:
    experiment, out = write_experiment(tmp_path), tmp_path / "out"
    with subprocess.Popen(command(*long_run(out, experiment, jobs)), env=environment(), stderr=subprocess.PIPE, process_group=0) as process:
        wait_for_points(out, process)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"the same command goes on from there" in stderr
    assert b"Traceback" not in stderr
    assert json.loads((out / "manifest.json").read_text())["end_reason"] == "interrupted"
    assert len(list((out / "points").glob("*.json"))) >= 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_worker_with_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    other = {NATIVE: "other", PYTHON: provenance(alone=True)[PYTHON]}
    monkeypatch.setattr(Task, "of", lambda point: Task(point, other))
    with pytest.raises(UserError, match=r"a worker runs other code than this process \(what differs: native module\)"):
        run_points(distinct_points(small_rows(tmp_path)), tmp_path / "points", jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_simulator_refuses_is_told_in_one_line_by_any_number_of_workers(tmp_path: Path, jobs: int) -> None:
    write_experiment(tmp_path)
    huge = ("--set", "machine.dtlb.huge_page_bytes=2MiB", "--set", "machine.dtlb.huge_pages=[nowhere]")
    done = memwalk("run", "experiment.yaml", "--scale", "quick", "--jobs", str(jobs), *huge, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert line.startswith("memwalk: error: --set machine.dtlb.huge_pages=[nowhere]: dtlb.huge_pages.0: `nowhere` matches no segment")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("grid", "jobs"),
    [
        ("[none, [nowhere]]", 1),
        ("[['*'], ['*', nowhere]]", 1),
        ("[['*'], ['*', nowhere]]", 2),
        pytest.param("[none, [nowhere]]", 2, marks=pytest.mark.nightly),
    ],
)
def test_a_value_that_the_simulator_refuses_is_told_where_it_is_written(tmp_path: Path, jobs: int, grid: str) -> None:
    """Also of machines that one run of the kernel simulates: the one that is refused is among others that are not."""
    machine = MACHINE.replace("dtlb:\n", "dtlb:\n  huge_page_bytes: 2MiB\n")
    line = f"  machine.dtlb.huge_pages: {grid}"
    varied, column = EXPERIMENT.replace("grid:\n", f"grid:\n{line}\n"), line.index("nowhere") + 1
    rows = expand(load_experiment(write_experiment(tmp_path, varied, machine)), "quick")
    with pytest.raises(
        UserError, match=rf"experiment\.yaml:16:{column}: dtlb\.huge_pages\.\d: `nowhere` matches no segment .* it has `"
    ) as error:
        run_rows("small", rows, tmp_path / "out", jobs=jobs)
    assert "\n" not in str(error.value)


def test_what_a_storage_refuses_is_told_where_the_workload_is_written(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE.replace("page_bytes", "blocks: 160\npage_bytes"))
    rows = expand(
        load_experiment(write_experiment(tmp_path, SCAN_EXPERIMENT.replace("records: 100", "records: 4000") + "storage: ./device.yaml\n"))
    )
    with pytest.raises(
        UserError, match=r"experiment\.yaml:4:11: storage device: the run asks for \d+ blocks, and there are 160; name a larger"
    ):
        run_rows("scan", rows, tmp_path / "out", jobs=1)


SCRIPT = """\
import sys
from pathlib import Path
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows

print("begins")
rows = expand(load_experiment(Path(sys.argv[1])), "quick")
print(len(run_rows("small", rows, Path(sys.argv[2]), jobs=2)))
"""


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    arguments = [sys.executable, script, write_experiment(tmp_path), tmp_path / "out"]
    done = subprocess.run(arguments, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "begins\n8\n"), done.stderr


def test_a_terminated_recording_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    sets = ["--set", "workload.kernel=index", "--set", "workload.operation=search", "--set", "workload.tree={kind: b+}"]
    sets += ["--set", "workload.keys=1000", "--set", "workload.operations=50000000", "--set", "workload.caches=empty"]
    with subprocess.Popen(command("trace", "record", "-o", folder / "long.parquet", *sets), env=environment()) as process:
        deadline = time.monotonic() + 60
        while not list(folder.iterdir()) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(folder.iterdir()), "nothing was begun"
        process.terminate()
        assert process.wait(timeout=20) == 143
    assert list(folder.iterdir()) == []


def test_tables_hold_every_row_and_the_slots_sum(tmp_path: Path) -> None:
    rows = small_rows(tmp_path)
    statistics = run_points(distinct_points(rows), tmp_path / "points", jobs=1)
    results, breakdown = table(rows, statistics), breakdown_table(rows, statistics)
    assert list(results.columns[:4]) == ["experiment", "variant", "point", "machine.name"]
    assert len(results) == len(rows)
    parts = [name for name in results.columns if name.startswith("slots_") and name not in ("slots_total", "slots_dcache")]
    assert (results[parts].sum(axis=1) == results["slots_total"]).all()
    per_point = breakdown.groupby(["variant", "point"])["slots"].sum()
    for _, row in results.iterrows():
        assert per_point[row["variant"], row["point"]] == row["slots_total"]
    assert parquet_bytes(results) == parquet_bytes(table(rows, statistics))


def test_missing_parameters_do_not_turn_whole_numbers_into_others() -> None:
    tree: dict[str, Any] = json.loads(json.dumps(EMPTY))
    rows = [
        Row("e", "", {"workload.keys": 2**60 + 1}, Point("a", {}, {})),
        Row("e", "", {"workload.distance_nodes": 3}, Point("b", {}, {})),
    ]
    frame = table(rows, {"a": tree, "b": tree})
    assert frame["workload.keys"].dtype == pd.Int64Dtype()
    assert frame["workload.keys"][0] == 2**60 + 1
    assert frame["checksum"].dtype == "uint64"


def test_rows_of_a_machine_have_its_clock_and_width() -> None:
    """The name is not enough: files of one name differ, and change."""
    machine = {"name": "m", "clock_hz": 2_000_000_000, "core": {"issue_width": 4}}
    rows = [Row("e", "", {}, Point("a", machine, {})), Row("e", "", {}, Point("b", {}, {}))]
    frame = table(rows, {"a": EMPTY, "b": EMPTY})
    assert frame[["clock_hz", "issue_width"]].astype(object).where(frame["clock_hz"].notna(), None).to_numpy().tolist() == [
        [2_000_000_000, 4],
        [None, None],
    ]


def test_a_table_without_rows_has_the_types_of_one_with_rows() -> None:
    part = {"phase": "p", "segment": "s", "accesses": 1, "served": [1], "walks": 0, "slots": {"total": 1, "busy": 1}}
    usage = {"rows": [{"phase": "p", "site": "s", "lines": 1, "fetched_bytes": 64, "used_bytes": 8}]}
    curve = {"capacity_bytes": [64], "ways": [1], "misses": [1], "miss_ratio": [0.5]}
    tree: dict[str, Any] = EMPTY | {"breakdown": [part], "byte_usage": usage, "curve": curve, "cores": [EMPTY, EMPTY]}
    rows = [Row("e", "", {}, Point("a", {}, {}))]
    for make in (table, breakdown_table, usage_table, curve_table, cores_table):
        with_rows, without = make(rows, {"a": tree}).dtypes, make([], {}).dtypes
        assert len(make(rows, {"a": tree})) > 0
        assert without.to_dict() == with_rows[without.index].to_dict()


EMPTY = {
    "cycles": 1,
    "instructions": 1,
    "events": 1,
    "slots": {"total": 4, "busy": 1, "dcache": {"memory": 3}, "dtlb": 0},
    "caches": [],
    "dtlb": {"accesses": 0, "hits": [], "walks": 0},
    "branches": {},
    "prefetches": {},
    "bus": {},
    "breakdown": [],
    "workload": {"checksum": 2**64 - 1},
}


def test_explain_accounts_for_every_cycle(tmp_path: Path) -> None:
    rows = small_rows(tmp_path)
    run_rows("small", rows, tmp_path / "out", jobs=1)
    explained = explain(tmp_path / "out")
    assert len(explained) == len(rows)
    for one in explained:
        assert sum(part.cycles for part in one.parts) == pytest.approx(one.cycles)
        assert sum(part.share for part in one.parts) == pytest.approx(1)
        assert sum(one.causes.values()) == pytest.approx(one.cycles)
        assert one.operations == 10
    for one, row in zip(explained, rows, strict=True):
        assert isinstance(one, Explanation)
        assert one.parameters == row.parameters
        assert one.varying == {name: row.parameters[name] for name in ("machine.memory.latency_cycles", "workload.seed")}
        numbers = [*one.parameters.values(), *(number for part in one.parts for number in (*part.served.values(), part.walks))]
        assert not any(isinstance(number, np.generic) for number in numbers), "Python's own"
    assert {one.variant for one in explain(tmp_path / "out", "B+")} == {"B+"}
    by_file = explain(tmp_path / "out" / "points" / f"{explained[0].point}.json")
    assert [part.cycles for part in by_file[0].parts] == [part.cycles for part in explained[0].parts]
    with pytest.raises(UserError, match="no variant `C`; it has B"):
        explain(tmp_path / "out", "C")
    with pytest.raises(UserError, match="by='level': expected one of segment, phase, pc, line, or None for all parts"):
        explain(tmp_path / "out", by="level")  # type: ignore[arg-type]
    part = pd.read_parquet(tmp_path / "out/breakdown.parquet")
    for other in (part[part["point"] != explained[0].point], part.assign(slots=part["slots"] + (part.index == 0))):
        other.to_parquet(tmp_path / "out/breakdown.parquet")
        with pytest.raises(UserError, match=r"results.parquet and breakdown.parquet are of different runs"):
            explain(tmp_path / "out")


@pytest.mark.parametrize(
    ("call", "name"),
    [(explain, "result"), (load_experiment, "path"), (lambda folder: run_rows("e", [], folder), "folder")],
    ids=["explain", "load_experiment", "run_rows"],
)
def test_a_text_is_no_path(call: Any, name: str) -> None:
    with pytest.raises(UserError, match=rf"{name}='out': a str; give a pathlib\.Path"):
        call("out")


@pytest.mark.parametrize("name", ["results.parquet", "breakdown.parquet", "usage.parquet", "sites.parquet"])
def test_explain_names_a_table_that_is_no_result_and_says_what_makes_it_again(tmp_path: Path, name: str) -> None:
    rows = small_rows(tmp_path)
    run_rows("small", rows, tmp_path / "out", jobs=1)
    by, path = ("pc" if name == "sites.parquet" else None), tmp_path / "out" / name
    again = "remove it, and run the command that wrote the folder again, with the same --out"
    path.write_bytes(b"PAR1")
    with pytest.raises(UserError, match=rf"{name}: cannot be read \(.*\); {again}"):
        explain(tmp_path / "out", by=by)
    pd.DataFrame({"x": [1]}).to_parquet(path)
    with pytest.raises(UserError, match=f"{name}: has no column `experiment`, so that no `memwalk run` wrote it; {again}"):
        explain(tmp_path / "out", by=by)
    path.unlink()
    if by is None:
        run_rows("small", rows, tmp_path / "out", jobs=1)
        assert len(explain(tmp_path / "out")) == len(rows)


def test_a_dbms_that_is_missing_is_told_before_anything_runs(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, SCAN_EXPERIMENT.replace("dbms: shore-pentium2\n", ""))
    says = "experiment.yaml:4:11: kernel table calls a DBMS, and machine small has no profile of one; name one as `dbms`"
    for command_ in (
        ("run", experiment, "--dry-run"),
        ("run", experiment, "-o", "out"),
        ("native", experiment, "--machine", "./small.yaml"),
    ):
        done = memwalk(*command_, cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr
    assert not (tmp_path / "out").exists()
    assert memwalk("trace", "record", experiment, "-o", "t.parquet", cwd=tmp_path).returncode == 0, "a trace needs none"


def test_memwalk_run_tells_on_stderr_and_answers_on_stdout(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path)
    done = memwalk("run", experiment, "--scale", "quick", "--out", tmp_path / "out", "--jobs", "1", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert len(answer["rows"]) == 8
    assert "8 of 8 points" in done.stderr
