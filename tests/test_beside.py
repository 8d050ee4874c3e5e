"""Programs on the storage beside a workload of a machine: against the workload alone, by hand, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from beside import JOIN, SEARCH, run
from files import invoke, write_experiment
from jsonschema import Draft202012Validator
from storage_pages import DEVICE

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.results import table
from memwalk.analysis.experiments.schema import json_schema, load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.simulation import simulate
from memwalk.analysis.experiments.storage_time import STORAGE_TIME
from memwalk.analysis.experiments.work import work
from memwalk.analysis.explain.breakdown import explain
from memwalk.analysis.explain.time_breakdown import StorageExplanation
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PART_NAMES

SCAN = "kernel: table, layout: nsm, page_bytes: 8KiB, operation: scan, attributes: 4, records: 20000, selectivity: 0.1"
PLAIN = "plain: {kernel: requests, count: 40, in_flight: 2}"
"""Requests of which hardly one follows another."""
EXPERIMENT = """\
schema_version: 1
id: beside
machine: thesis-simulator
storage: ./device.yaml
workload: {WORKLOAD}
beside:
  PROGRAMS
"""


def experiment(folder: Path, workload: str = SEARCH, programs: str = PLAIN) -> Path:
    (folder / "device.yaml").write_text(DEVICE)
    text = EXPERIMENT.replace("PROGRAMS", programs).replace("WORKLOAD", workload)
    return write_experiment(folder, text)


def point(folder: Path, workload: str = SEARCH, programs: str = PLAIN, *sets: str) -> Point:
    needs = {SCAN: "dbms=compiled", JOIN: "machine.cores=4"}.get(workload)
    given = sets if needs is None else (*sets, needs)
    rows = expand(load_experiment(experiment(folder, workload, programs)), overrides=[parse_set(text) for text in given])
    return rows[0].point


@pytest.mark.parametrize("workload", [SEARCH, SCAN, JOIN])
def test_a_program_that_begins_later_changes_nothing(tmp_path: Path, workload: str) -> None:
    later = "plain: {kernel: requests, count: 40, in_flight: 2, start: 900s}"
    found = run(point(tmp_path, workload, later))
    alone = run(point(tmp_path, workload, PLAIN, "beside=null"))
    times = found.pop(STORAGE_TIME)
    assert alone.pop(STORAGE_TIME).items() <= times.items()
    assert found == alone
    assert times["slowdown"] == 1
    assert times["plain.slowdown"] == 1


@pytest.mark.parametrize("workload", [SEARCH, SCAN, JOIN])
def test_those_who_share_disks_wait_for_each_other(tmp_path: Path, workload: str) -> None:
    found = run(point(tmp_path, workload, "plain: {kernel: requests, count: 6, in_flight: 4, repeat: true}"))
    alone = run(point(tmp_path, workload, PLAIN, "beside=null"))
    times, before = found[STORAGE_TIME], alone[STORAGE_TIME]
    assert found["instructions"] == alone["instructions"]
    assert found["workload"] == alone["workload"]
    assert times["seconds_alone"] == before["seconds"]
    assert times["slowdown"] == times["seconds"] / before["seconds"] > 1.4
    assert times["plain.slowdown"] > 1.05
    assert times["plain.runs"] > 1
    assert times["io_requests"] == before["io_requests"], "those of the workload only"
    parts = {part: times[f"io_{part}_seconds"] for part in PART_NAMES}
    assert sum(parts.values()) == pytest.approx(times["io_seconds"], abs=1e-8)
    assert parts["queue"] > before["io_queue_seconds"]
    ended = times.get("ended_seconds", 0)
    assert times["cpu_seconds"] + times["io_seconds"] + ended == pytest.approx(times["seconds"])


def test_a_read_waits_for_the_request_before_it_and_for_itself(tmp_path: Path) -> None:
    """One disk, first come first served, 5 ms for each request; one of the program is always there.

    Whenever a core asks, a request has just begun (its own read ended with the end of the one before), or is about to. So a read takes
    10 ms but for what the core works between its reads, in which the request that it waits for has gone on.
    """
    one = point(tmp_path, SEARCH, "plain: {kernel: requests, count: 20, in_flight: 1, repeat: true}")
    times = run(one)[STORAGE_TIME]
    reads = times["io_requests"]
    assert times["seconds_alone"] == pytest.approx(5e-3 * reads + times["cpu_seconds"], rel=0.02)
    assert times["seconds"] == pytest.approx(10e-3 * reads, rel=0.02)
    assert times["io_queue_seconds"] == pytest.approx(5e-3 * reads - times["cpu_seconds"], rel=0.02)
    assert times["io_busiest_seconds"] == pytest.approx(times["seconds"], rel=0.001), "the disk never rests"
    assert 1.9 < times["plain.slowdown"] < 2, "its last run ends alone"


def test_the_workload_begins_when_users_have_warmed_up(tmp_path: Path) -> None:
    users = "users: {kernel: tpcc, layout: nsm, warehouses: 1, users: 2, pool: 1MiB, page_access: 100us, warm_up: 200ms, measured: 8s"
    users += ", fill_transactions: 20}"
    found = run(point(tmp_path, SEARCH, users))[STORAGE_TIME]
    assert found["slowdown"] > 1.2
    assert found["users.slowdown"] > 1.2
    assert found["users.seconds"] == pytest.approx(max(8, found["seconds"])), "they are measured from its beginning to its end"


def test_data_lie_behind_the_pages_of_the_workload(tmp_path: Path) -> None:
    """A device of as many blocks as both need, and of one less."""
    scan = "scan: {kernel: clotho-scan, layout: nsm, records: 2000, pool: 1MiB}"
    path = experiment(tmp_path, SCAN, scan)

    def found(blocks: int) -> native.Statistics:
        (tmp_path / "device.yaml").write_text(DEVICE.replace("page_bytes", f"blocks: {blocks}\npage_bytes"))
        return run(expand(load_experiment(path), overrides=[parse_set("dbms=compiled")])[0].point)

    pages = found(1_000_000)[STORAGE_TIME]["io_requests"]
    end = 16 * (pages + -(-2000 // 60))
    assert found(end)[STORAGE_TIME]["scan.slowdown"] > 1
    with pytest.raises(
        UserError, match=f"2000 records in nsm take more than the {end - 1} blocks of the volume from block {16 * pages} on"
    ):
        found(end - 1)


def test_the_command_line_runs_prints_and_explains_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = invoke("run", "experiment.yaml", "--jobs", "1", "--out", "out", "--set", "beside.plain.seed=7")
    assert done.exit_code == 0, done.output
    for name in ("plain", "workload"):
        assert any(line.split()[:1] == [name] for line in done.stdout.splitlines()), done.stdout
    frame = pd.read_parquet("out/results.parquet")
    assert frame["beside.plain.count"].tolist() == [40]
    assert frame["plain.io_requests"].tolist() == [40]
    assert 7 in json.loads(Path("out/manifest.json").read_text())["seeds"]
    workload, plain = explain(Path("out"))
    assert not isinstance(workload, StorageExplanation)
    assert isinstance(plain, StorageExplanation)
    assert plain.parameters["program"] == plain.varying["program"] == "plain"
    assert plain.time.seconds == frame["plain.seconds"][0]
    told = invoke("explain", "out", "--json")
    assert [one["parameters"].get("program") for one in json.loads(told.stdout)["points"]] == [None, "plain"]


def test_one_worker_and_two_give_the_same(tmp_path: Path) -> None:
    rows = expand(load_experiment(experiment(tmp_path)), overrides=[parse_set("beside.plain.count=[10, 20]")])
    assert [row.parameters["beside.plain.count"] for row in rows] == [10, 20]
    assert len({row.point.id for row in rows}) == 2
    one, two = (run_rows("beside", rows, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_a_point_is_what_its_file_says(tmp_path: Path) -> None:
    one = point(tmp_path)
    assert Point.read(one.content()) == one
    assert one.content()["beside"]["plain"]["count"] == 40
    alone = point(tmp_path, SEARCH, PLAIN, "beside=null")
    assert "beside" not in alone.content()
    beside, without = (work(each, built=True) for each in (one, alone))
    assert (beside.events, beside.steps) == (2 * without.events, 80)


def test_editors_know_programs() -> None:
    checker = Draft202012Validator(json_schema())
    base: dict[str, Any] = {"schema_version": 1, "id": "a", "machine": "zen4-server", "storage": "cheetah-36es"}
    base |= {"workload": {"kernel": "disk-index"}}
    assert checker.is_valid(base | {"beside": {"a": {"kernel": "requests", "count": 5, "start": "5ms"}}})
    assert checker.is_valid(base | {"beside": None})
    assert checker.is_valid(base | {"beside": {"a": {"kernel": "disk-index", "pool_frames": 7, "repeat": True}}})
    assert checker.is_valid(base | {"beside": {"a": {"kernel": "hash-probe", "shares": "machine"}}})
    for bad in ({"a": {"kernel": "hash-probe", "shares": "storage"}}, {"a": {"kernel": "disk-index", "disks": [0]}}, {"a": 7}, []):
        assert not checker.is_valid(base | {"beside": bad})


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ("plain: {kernel: disk-indx}", "7:19: plain: there is no kernel `disk-indx`; did you mean `disk-index`"),
        ("plain: {kernel: hash-probe}", "7:19: plain: kernel hash-probe asks storage for no pages; of a machine's, disk-index"),
        ("plain: {kernel: together}", "7:19: plain.kernel: together has programs of its own"),
        ("plain: {kernel: requests, count: 5, disks: [0]}", "7:46: plain.disks: the workload has all disks"),
        ("plain: {kernel: requests, cuont: 5}", "7:29: unknown key `cuont`; did you mean `count`"),
        ("beside: {kernel: requests, count: 5}", "7:11: beside: `beside` is no name for a program"),
        ("scan: {kernel: clotho-scan, layout: nsm, records: 9000000000000}", "7:53: .* take more than"),
        ("plain: {kernel: requests, count: 5, pattern: sequential, seed: 3}", "beside.plain.seed has no effect"),
    ],
)
def test_mistakes_are_told_where_they_are(tmp_path: Path, programs: str, said: str) -> None:
    with pytest.raises(UserError, match=f"experiment.yaml:.*{said}"):
        expand(load_experiment(experiment(tmp_path, SEARCH, programs)))


@pytest.mark.parametrize(
    ("workload", "sets", "said"),
    [
        (SEARCH, ("storage=null",), "beside has no effect on this run: it is for runs of a machine that ask `storage` for pages"),
        ("kernel: requests, count: 5", (), "beside has no effect on this run"),
        ("kernel: hash-join, algorithm: grace, build_tuples: 100, probe_tuples: 200, tuple_bytes: 60", (), "storage has no effect"),
        (SEARCH, ("storage.queue=sptf", "beside.plain.repeat=true"), "requests of the workload may wait for ever beside plain"),
        (SEARCH, ("beside.plain=null",), "plain"),
    ],
)
def test_what_nothing_runs_beside_is_refused(tmp_path: Path, workload: str, sets: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        expand(load_experiment(experiment(tmp_path, workload)), overrides=[parse_set(text) for text in sets])


def test_the_order_in_which_programs_are_named_is_nothing(tmp_path: Path) -> None:
    few, many = (f"{name}: {{kernel: clotho-insert, layout: nsm, records: {records}}}" for name, records in (("a", 200), ("b", 2000)))
    one, other = (point(tmp_path, SEARCH, "\n  ".join(programs)) for programs in ((few, many), (many, few)))
    assert one.id == other.id
    assert run(one) == run(other)


def test_users_are_measured_beside_the_workload_though_another_program_begins_later(tmp_path: Path) -> None:
    users = "users: {kernel: tpcc, layout: nsm, warehouses: 1, users: 2, pool: 1MiB, page_access: 100us, warm_up: 200ms, measured: 8s"
    users += ", fill_transactions: 20}"
    late = "late: {kernel: requests, count: 10, start: 30s}"
    found = run(point(tmp_path, SEARCH, f"{users}\n  {late}"))[STORAGE_TIME]
    assert found["users.seconds"] == pytest.approx(30 + found["late.seconds"] - 0.2), "until the last has ended"


WITH_RECORDS = "scan: {kernel: clotho-scan, layout: nsm, records: 2000, pool: 1MiB}"


def test_programs_that_work_on_records_want_the_profile_of_a_dbms(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"experiment.yaml:7:18: its records .* machine thesis-simulator has no profile of one; name one as `dbms`"
    ):
        point(tmp_path, SEARCH, WITH_RECORDS)
    assert run(point(tmp_path, SEARCH, WITH_RECORDS, "dbms=compiled"))[STORAGE_TIME]["scan.slowdown"] > 1


@pytest.mark.parametrize(
    ("programs", "blocks", "said"),
    [
        (
            "one: {kernel: clotho-insert, layout: nsm, records: 1000}\n  two: {kernel: clotho-insert, layout: nsm, records: 1000}",
            2000,
            "8:54: 1000 records in nsm take more",
        ),
        (
            "users: {kernel: tpcc, layout: nsm, warehouses: 1, users: 1, pool: 1MiB, page_access: 1s, warm_up: 0s, measured: 10ms}",
            1_000_000,
            "7:19: program users, alone: .* measure longer",
        ),
    ],
)
def test_what_is_refused_when_it_runs_is_told_where_the_program_stands(tmp_path: Path, programs: str, blocks: int, said: str) -> None:
    path = experiment(tmp_path, SEARCH, programs)
    (tmp_path / "device.yaml").write_text(DEVICE.replace("page_bytes", f"blocks: {blocks}\npage_bytes"))
    rows = expand(load_experiment(path))
    with pytest.raises(UserError, match=f"experiment.yaml:{said}") as refused:
        run_rows("beside", rows, tmp_path / "out", jobs=1)
    assert "('" not in str(refused.value)


def test_a_workload_that_takes_no_time_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    nothing = "kernel: hash-join, algorithm: sort-merge, build_tuples: 0, probe_tuples: 0, page_bytes: 8KiB, pages_asked_ahead: 2"
    with pytest.raises(UserError, match="the workload takes no time"):
        run(point(tmp_path, nothing))


def test_where_there_are_no_programs_what_varies_them_lies_idle(tmp_path: Path) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text() + "variants: {with: {}, alone: {beside: null}}\ngrid: {beside.plain.in_flight: [1, 2]}\n")
    rows = expand(load_experiment(path))
    assert [(row.variant, row.parameters.get("beside.plain.in_flight")) for row in rows] == [
        ("with", 1),
        ("with", 2),
        ("alone", None),
        ("alone", None),
    ]
    assert len({row.point.id for row in rows}) == 3


def test_a_point_that_stands_in_two_rows_of_a_variant_is_broken_down_once(tmp_path: Path) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text() + "variants: {with: {}, alone: {beside: null}}\ngrid: {beside.plain.in_flight: [1, 2]}\n")
    run_rows("beside", expand(load_experiment(path)), tmp_path / "out", jobs=1)
    first, again = explain(tmp_path / "out", "alone")
    assert first == again
    assert not isinstance(first, StorageExplanation)
    assert sum(part.cycles for part in first.parts) == pytest.approx(first.cycles)


NONE = "beside: null"
ONE = "beside: {plain: {kernel: requests, count: 40}}"
VARY = "grid: {beside.plain.count: [1, 2]}"


@pytest.mark.parametrize(
    ("beside", "rest", "sets", "place"),
    [
        (NONE, VARY, (), "experiment.yaml:7:"),
        (NONE, "variants: {a: {beside.plain.count: 3}, b: {}}", (), "experiment.yaml:7:"),
        (NONE, "", ("beside.plain={kernel: requests, count: 4}",), "--set beside.plain={kernel: requests, count: 4}"),
        (ONE, "", ("beside=null", "beside.plain.count=3"), "--set beside.plain.count=3"),
        (ONE, "", ("beside.plain.count=3", "beside=null"), "--set beside.plain.count=3"),
        (ONE, VARY, ("beside=null", "beside.plain.count=[3, 4]"), "--set beside.plain.count=[3, 4]"),
        (ONE, f"variants: {{a: {{beside: null}}}}\n{VARY}", (), "experiment.yaml:8:"),
        (ONE, "variants: {a: {beside.plain.count: 3, beside: null}, b: {}}", (), "experiment.yaml:7:"),
        (ONE, "grid: {beside: [null], beside.plain.count: [1]}", (), "experiment.yaml:7:"),
    ],
)
def test_what_is_set_of_programs_together_with_null_is_refused(
    tmp_path: Path, beside: str, rest: str, sets: tuple[str, ...], place: str
) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text().replace(f"beside:\n  {PLAIN}", f"{beside}\n{rest}"))
    with pytest.raises(UserError) as refused:
        expand(load_experiment(path), overrides=[parse_set(text) for text in sets])
    for line in str(refused.value).splitlines():
        assert place in line
        assert "beside.plain" in line
        assert "has no effect on this run: it is for runs of a machine that ask `storage` for pages, where `beside` is not null" in line


@pytest.mark.parametrize(
    "rest",
    [VARY, "variants: {a: {beside.plain.count: 3}, b: {}}", "variants: {a: {beside: null}, b: {beside.plain.count: 3}}"],
)
@pytest.mark.parametrize("none", ["null", "{}"])
def test_the_command_line_takes_away_what_the_file_has(tmp_path: Path, rest: str, none: str) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text() + f"{rest}\nscales: {{quick: {{beside.plain.in_flight: 3}}}}\n")
    for scale in ("paper", "quick"):
        rows = expand(load_experiment(path), scale, [parse_set(f"beside={none}")])
        assert not any(row.point.beside for row in rows)
        assert any(row.point.beside for row in expand(load_experiment(path), scale))


def test_null_of_a_scale_takes_away_programs_and_what_varies_them(tmp_path: Path) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text() + f"{VARY}\nscales: {{quick: {{beside: null}}}}\n")
    (row,) = expand(load_experiment(path), "quick")
    assert not row.point.beside


def test_a_row_that_asks_storage_for_nothing_runs_once_and_has_no_slowdown(tmp_path: Path) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text() + "grid: {workload.pool_frames: [0, 20], beside.plain.in_flight: [1, 2]}\n")
    rows = expand(load_experiment(path))
    in_memory = rows[0].point
    assert (in_memory.beside, in_memory.neighbours) == ({}, None)
    assert len({row.point.id for row in rows}) == 3, "no program varies what nobody runs beside"
    assert work(in_memory, built=True).steps == 0
    found = table(rows, run_rows("beside", rows, tmp_path / "out", jobs=1))
    assert found["slowdown"].isna().tolist() == found["plain.slowdown"].isna().tolist() == [True, True, False, False]
    assert found["beside.plain.count"].isna().tolist() == [True, True, False, False]
    assert (found["io_seconds"] > 0).tolist() == [False, False, True, True]


def test_progress_goes_on_in_the_second_run_and_does_not_run_ahead_with_a_program_that_repeats(tmp_path: Path) -> None:
    warm = SEARCH.replace("caches: empty", "caches: warm, warm_up: 6000")
    one = point(tmp_path, warm, "plain: {kernel: requests, count: 1, repeat: true}")
    told: list[tuple[int, int, int]] = []
    simulate(one.machine, one.workload, one.observe, one.run, lambda *passed: told.append(passed), neighbours=one.neighbours)
    estimated = work(one, built=True)
    events = [events for events, _, _ in told]
    assert max(events) == pytest.approx(estimated.events, rel=0.2)
    half = next(passed for passed in told if passed[0] >= estimated.events / 2)
    assert estimated.done(*half) == pytest.approx(0.5, abs=0.1)


def test_natively_there_is_no_storage_and_nobody_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = experiment(tmp_path)
    path.write_text(path.read_text() + "grid: {beside.plain.in_flight: [1, 2]}\n")
    monkeypatch.chdir(tmp_path)
    done = invoke("native", "experiment.yaml", "--machine", "thesis-simulator", "--repetitions", "1", "--json")
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    in_memory = point(tmp_path, SEARCH)
    cycles = simulate(in_memory.machine, in_memory.workload)["cycles"]
    assert row["simulated_ns"] == pytest.approx(1e9 * cycles / in_memory.machine["clock_hz"] / 300)
