"""Workloads of machines beside each other on one storage: against each alone, by hand, and what is refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from beside import JOIN, SEARCH, run
from files import write_experiment
from storage_pages import DEVICE, WAY_SECONDS
from typer.testing import CliRunner

from memwalk.analysis.cli.main import app
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point, Row
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.analysis.experiments.work import work
from memwalk.analysis.explain.breakdown import explain
from memwalk.analysis.explain.time_breakdown import StorageExplanation
from memwalk.analysis.storage_workloads.columns import CPU_CAUSES
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PART_NAMES

SCAN = "kernel: table, layout: nsm, page_bytes: 4KiB, operation: scan, attributes: 4, records: 20000, selectivity: 0.1"
EXPERIMENT = """\
schema_version: 1
id: machines
machine: thesis-simulator
storage: ./device.yaml
workload: {WORKLOAD}
beside:
  OTHERS
"""


def rows(folder: Path, others: str, *sets: str, workload: str = SEARCH, blocks: int | None = None) -> list[Row]:
    limit = "" if blocks is None else f"blocks: {blocks}\n"
    (folder / "device.yaml").write_text(DEVICE.replace("page_bytes", f"{limit}page_bytes"))
    path = write_experiment(folder, EXPERIMENT.replace("OTHERS", others).replace("WORKLOAD", workload))
    needs = {"threads:": "machine.cores=4", "layout:": "dbms=compiled"}
    needed = [setting for word, setting in needs.items() if word in workload + others]
    return expand(load_experiment(path), overrides=[parse_set(text) for text in (*needed, *sets)])


def point(folder: Path, others: str, *sets: str, workload: str = SEARCH, blocks: int | None = None) -> Point:
    return rows(folder, others, *sets, workload=workload, blocks=blocks)[0].point


def alone(folder: Path, workload: str) -> native.Statistics:
    return run(point(folder, "none: null", "beside=null", workload=workload))


def times(found: native.Statistics, name: str) -> dict[str, Any]:
    return {column.removeprefix(f"{name}."): value for column, value in found[STORAGE_TIME].items() if column.startswith(f"{name}.")}


@pytest.mark.parametrize(
    ("workload", "other"),
    [(SEARCH, SEARCH), (SEARCH, SCAN), (SEARCH, JOIN), (SCAN, JOIN), (JOIN, JOIN)],
    ids=["search-search", "search-scan", "search-join", "scan-join", "join-join"],
)
def test_who_begins_later_changes_nothing(tmp_path: Path, workload: str, other: str) -> None:
    found = run(point(tmp_path, f"other: {{{other}, start: 900s}}", workload=workload))
    without, itself = alone(tmp_path, workload), alone(tmp_path, other)[STORAGE_TIME]
    own = found.pop(STORAGE_TIME)
    assert without.pop(STORAGE_TIME).items() <= own.items()
    assert _without_calls(found) == _without_calls(without)
    assert own["slowdown"] == 1
    theirs = times({STORAGE_TIME: own}, "other")
    if workload == SEARCH:
        assert own["other.slowdown"] == 1
        assert {column: theirs[column] for column in itself} == itself
    else:
        # It has read its last page, behind which the other's first one lies.
        assert theirs["io_busiest_seconds"] == pytest.approx(itself["io_busiest_seconds"] - WAY_SECONDS)
        assert theirs["seconds"] == pytest.approx(itself["seconds"] - WAY_SECONDS)
        assert theirs["io_requests"] == itself["io_requests"]


def _without_calls(found: native.Statistics) -> dict[str, Any]:
    """Leave out what only machines with a DBMS say, which may be the other's."""
    cores = [_without_calls(core) for core in found.get("cores", ())]
    return {name: value for name, value in found.items() if name not in ("calls", "retired", "cores")} | {"cores": cores}


def test_two_that_read_all_the_time_wait_for_each_other(tmp_path: Path) -> None:
    """One disk, first come first served, 5 ms for each request. Each reads again when its read has ended; by then the other's has begun.

    So a read takes 10 ms but for what its core works between reads, in which the other's read has gone on.
    """
    found = run(point(tmp_path, f"other: {{{SEARCH}, seed: 2, repeat: true}}"))
    own, other = found[STORAGE_TIME], times(found, "other")
    reads = own["io_requests"]
    assert own["seconds_alone"] == pytest.approx(5e-3 * reads + own["cpu_seconds"], rel=0.02), "few pages follow another"
    assert own["seconds"] == pytest.approx(10e-3 * reads, rel=0.01)
    assert own["io_queue_seconds"] == pytest.approx(5e-3 * reads - own["cpu_seconds"], rel=0.01)
    assert own["io_busiest_seconds"] == pytest.approx(own["seconds"], rel=1e-3), "the disk never rests"
    assert other["runs"] == 2, "one beside the workload, and one that it has begun by then or ends alone"
    assert 1 < other["slowdown"] < 2


def test_one_that_repeats_is_compared_with_itself_repeated_alone(tmp_path: Path) -> None:
    """Its later runs find their pages in the drive's buffer. Nobody is in their way: the workload soon ends, and a program begins late."""
    small = SCAN.replace("20000", "500")
    others = f"other: {{{small}, repeat: true}}\n  late: {{kernel: requests, count: 1, start: 1s}}"
    found = run(point(tmp_path, others, "storage=cheetah-36es", workload=SEARCH.replace("300", "3")))
    once, other = alone(tmp_path, small), times(found, "other")
    assert other["runs"] > 10
    assert other["seconds"] < 0.5 * once[STORAGE_TIME]["seconds"]
    assert 0.95 < other["slowdown"] < 1.05


def test_which_of_two_is_the_workload_is_nothing_to_their_times(tmp_path: Path) -> None:
    found = run(point(tmp_path, f"other: {{{SCAN}}}"))
    turned = run(point(tmp_path, f"other: {{{SEARCH}}}", workload=SCAN))
    for one, theirs in ((found[STORAGE_TIME], times(turned, "other")), (turned[STORAGE_TIME], times(found, "other"))):
        shared = [column for column in theirs if column in one]
        assert len(shared) > 8
        assert {column: one[column] for column in shared} == pytest.approx({column: theirs[column] for column in shared}, rel=1e-3)


@pytest.mark.parametrize("other", [SEARCH, SCAN, pytest.param(JOIN, marks=pytest.mark.nightly)], ids=["search", "scan", "join"])
def test_the_times_of_each_sum_up(tmp_path: Path, other: str) -> None:
    found = run(point(tmp_path, f"other: {{{other}, repeat: true}}\n  plain: {{kernel: requests, count: 40, repeat: true}}"))
    theirs = times(found, "other")
    assert theirs["slowdown"] == pytest.approx(theirs["seconds"] / theirs["seconds_alone"])
    assert theirs["slowdown"] > 1.2
    assert theirs["cpu_seconds"] + theirs["io_seconds"] + theirs.get("ended_seconds", 0) == pytest.approx(theirs["seconds"])
    assert sum(theirs[f"io_{part}_seconds"] for part in PART_NAMES) == pytest.approx(theirs["io_seconds"], rel=1e-6)
    assert sum(theirs[f"cpu_{cause}_seconds"] for cause in CPU_CAUSES) == pytest.approx(theirs["cpu_seconds"])
    assert found[STORAGE_TIME]["plain.slowdown"] > 1.2
    assert ("ended_seconds" in theirs) == ("threads" in other)


def test_pages_lie_behind_each_other(tmp_path: Path) -> None:
    """A device of as many blocks as all need, and of one less."""
    larger = SCAN.replace("20000", "30000")
    others = f"b: {{{larger}}}\n  a: {{{SCAN}}}\n  records: {{kernel: clotho-scan, layout: nsm, records: 2000, pool: 1MiB}}"
    tables = [alone(tmp_path, scan)[STORAGE_TIME]["io_blocks"] for scan in (SCAN, SCAN, larger)]
    end = sum(tables) + 16 * -(-2000 // 60)
    assert run(point(tmp_path, others, workload=SCAN, blocks=end))[STORAGE_TIME]["records.slowdown"] > 1
    with pytest.raises(
        UserError, match=f"2000 records in nsm take more than the {end - 1} blocks of the volume from block {sum(tables)} on"
    ):
        run(point(tmp_path, others, workload=SCAN, blocks=end - 1))
    with pytest.raises(UserError, match=f"b, alone: storage device: the run asks for {sum(tables)} blocks, and there are"):
        run(point(tmp_path, others, workload=SCAN, blocks=sum(tables) - 1))


def test_the_command_line_runs_prints_and_explains_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows(tmp_path, f"other: {{{SEARCH}}}")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "experiment.yaml", "--jobs", "1", "--out", "out", "--set", "beside.other.seed=[7, 8]"])
    assert done.exit_code == 0, done.output
    for name in ("other", "workload"):
        assert sum(line.split()[1:2] == [name] for line in done.stdout.splitlines()) == 2, done.stdout
    frame = pd.read_parquet("out/results.parquet")
    assert frame["beside.other.seed"].tolist() == [7, 8]
    workload, other, *_ = explain(Path("out"))
    assert not isinstance(workload, StorageExplanation)
    assert isinstance(other, StorageExplanation)
    assert other.parameters["program"] == "other"
    assert other.time.seconds == frame["other.seconds"][0]
    assert sum(other.time.causes.values()) == pytest.approx(other.time.seconds)


def test_one_worker_and_two_give_the_same(tmp_path: Path) -> None:
    both = rows(tmp_path, f"other: {{{JOIN}}}\n  scan: {{{SCAN}, repeat: true}}", "beside.other.seed=[7, 8]")
    one, two = (run_rows("machines", both, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_a_point_is_what_its_file_says(tmp_path: Path) -> None:
    one = point(tmp_path, f"other: {{{SEARCH}, start: 5ms}}")
    assert Point.read(one.content()) == one
    said = one.content()["beside"]["other"]
    assert (said["operations"], said["start"], said["repeat"]) == (300, 5_000_000_000, False)
    without = point(tmp_path, "none: null", "beside=null")
    beside, itself = (work(each, built=True) for each in (one, without))
    assert beside.events == 4 * itself.events


def test_an_index_beside_may_come_from_its_file(tmp_path: Path) -> None:
    index = ("--structure", "array", "--keys", "100000", "--page-size", "8KiB")
    built = CliRunner().invoke(app, ["index", "build", str(tmp_path / "index.pages"), *index])
    assert built.exit_code == 0, built.output
    search = "kernel: disk-index, operation: search, operations: 300, pool_frames: 20, caches: empty"
    found, built_anew = (run(point(tmp_path, f"other: {{{other}}}")) for other in (f"{search}, page_file: index.pages", SEARCH))
    assert found == built_anew
    with pytest.raises(UserError, match=r"experiment.yaml:7:.*keys: 7, but the index in .*index.pages has 100000"):
        rows(tmp_path, f"other: {{{search}, page_file: index.pages, keys: 7}}")


def test_what_a_neighbour_is_refused_for_when_it_runs_is_told_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "index.pages"
    built = CliRunner().invoke(app, ["index", "build", str(path), "--structure", "array", "--keys", "100000", "--page-size", "8KiB"])
    assert built.exit_code == 0, built.output
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    search = "kernel: disk-index, operation: search, operations: 300, pool_frames: 20, caches: empty, page_file: index.pages"
    with pytest.raises(UserError, match=r"experiment.yaml:7:.*other, alone: .*index.pages: page \d+ is damaged"):
        run_rows("machines", rows(tmp_path, f"other: {{{search}}}"), tmp_path / "out", jobs=1)
    join = JOIN.replace(", threads: 4", "")
    huge = rows(tmp_path, f"other: {{{join}}}", "machine=zen4-server", "machine.dtlb.huge_pages=[frames]")
    with pytest.raises(UserError, match=r"huge_pages.0: other, alone: `frames` matches no segment"):
        run_rows("machines", huge, tmp_path / "huge", jobs=1)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (f"other: {{{SEARCH}, disks: [0]}}", "unknown key `disks`"),
        (f"other: {{{SEARCH}, opertions: 3}}", "unknown key `opertions`; did you mean `operations`"),
        (f"other: {{{SEARCH}, repeat: 3}}", "repeat: `3` is neither true nor false"),
        (f"other: {{{SEARCH}, range: 3}}", "range: it is for operation: scan or scan-and-insert, and operation is search; remove it"),
        (f"storage: {{{SEARCH}}}", "storage: `storage` is no name for a program"),
        (f"other: {{{SEARCH.replace('frames: 20', 'frames: 0')}}}", "other: it asks `storage` for nothing, which is for a pool of fewer"),
        (f"other: {{{SEARCH.replace('frames: 20', 'frames: 3')}}}", "pool_frames: 3 is out of range"),
        (
            f"other: {{{JOIN.replace('partitions: 4, threads: 4', 'partitions: 8, threads: 5')}}}",
            "5 threads need as many cores, but machine thesis-simulator has 4",
        ),
    ],
)
def test_mistakes_are_told_where_they_are(tmp_path: Path, others: str, said: str) -> None:
    with pytest.raises(UserError, match=f"experiment.yaml:7:.*{said}"):
        rows(tmp_path, others)
