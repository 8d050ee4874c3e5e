"""Kernel `together`: programs side by side as an experiment says them, against each of them alone, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import invoke, write_experiment
from jsonschema import Draft202012Validator
from storage_pages import DEVICE

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.schema import json_schema, load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.explain.breakdown import explain
from memwalk.analysis.explain.time_breakdown import StorageExplanation
from memwalk.analysis.storage_workloads.oltp import Compound, Tpcc
from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.analysis.storage_workloads.together import Together
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.system import System

EXPERIMENT = """\
schema_version: 1
id: mix
storage: {device: ./device.yaml, disks: 2, volume: striped, stripe_blocks: 16}
workload:
  kernel: together
  programs:
    scan: {kernel: clotho-scan, layout: nsm, records: 20000, pool: 1MiB}
    users:
      {kernel: tpcc, layout: nsm, warehouses: 1, users: 2, pool: 1MiB, page_access: 100us, warm_up: 200ms, measured: 3s}
    plain: {kernel: requests, count: 60, in_flight: 2}
"""
SCAN = "scan: {kernel: clotho-scan, layout: nsm, records: 20000, pool: 1MiB}"


def experiment(folder: Path, text: str = EXPERIMENT) -> Path:
    (folder / "device.yaml").write_text(DEVICE)
    return write_experiment(folder, text)


@pytest.fixture
def device(tmp_path: Path) -> System:
    """Two disks that take 5 ms for each page that does not follow the one before."""
    (tmp_path / "device.yaml").write_text(DEVICE)
    return System(load_device("./device.yaml", tmp_path), disks=2, volume="striped", stripe_blocks=16)


def together(system: System, programs: dict[str, Any]) -> dict[str, float | int]:
    workload = Together(kernel="together", programs=programs)
    workload.check(system)
    return workload.run(system)


def stream(seed: int, **given: Any) -> dict[str, Any]:
    """Requests of which hardly one follows another."""
    return {"kernel": "requests", "count": 80, "in_flight": 2, "seed": seed} | given


def of(columns: dict[str, float | int], program: str) -> dict[str, float | int]:
    return {name.removeprefix(f"{program}."): value for name, value in columns.items() if name.startswith(f"{program}.")}


def test_seconds_of_all_begin_with_the_first(device: System) -> None:
    # The request of the one begins 10 s behind that of the other, and takes some milliseconds.
    found = together(device, {"late": stream(1, count=1, start="20s"), "early": stream(2, count=1, start="10s")})
    assert found["seconds"] == pytest.approx(10 + found["late.seconds"])
    assert found["late.seconds"] < 0.01


def test_no_device_is_busy_for_longer_than_time_passes() -> None:
    # One has 16 requests in a drive that takes them all at once, and the other, with one after the other, runs as long.
    found = together(
        System(load_device("nvme-ssd")), {"many": stream(1, count=1600, in_flight=16), "one": stream(2, count=100, in_flight=1)}
    )
    assert found["many.disk_utilization"] == pytest.approx(1)
    assert found["one.disk_utilization"] == 1


def test_programs_on_disks_of_their_own_are_each_alone(device: System) -> None:
    programs = {"a": stream(1, disks=[0]), "b": stream(2, write_share=0.5, disks=[1])}
    found = together(device, programs)
    for name, seed in (("a", 1), ("b", 2)):
        alone = Requests(**{key: value for key, value in programs[name].items() if key != "disks"}).run(device.on(1))
        assert alone.items() <= of(found, name).items(), seed
        assert found[f"{name}.slowdown"] == 1
        assert found[f"{name}.seconds_alone"] == found[f"{name}.seconds"]
    assert found["mean_slowdown"] == 1
    assert together(device, dict(reversed(programs.items()))) == found, (
        "the order in which they are named is nothing to those who never meet"
    )


def test_programs_on_one_disk_are_slower_and_the_disk_works_as_long_as_for_each_alone(device: System) -> None:
    one = device.on(1)
    programs = {"a": stream(1, first_block=0, span_blocks=16_000), "b": stream(2, first_block=16_000, span_blocks=16_000)}
    found = together(one, programs)
    alone = [Requests(**program).run(one) for program in programs.values()]
    assert found["a.slowdown"] > 1.8
    assert found["b.slowdown"] > 1.8
    busy = ("overhead", "seek", "rotation", "transfer", "bus")
    for columns in (found, *(of(found, name) for name in programs)):
        assert columns["io_requests"] == 80 * (2 if columns is found else 1)
    asked = sum(one_[f"io_{part}_seconds"] for one_ in alone for part in busy)
    assert sum(found[f"io_{part}_seconds"] for part in busy) == pytest.approx(asked, rel=0.02)
    assert found["seconds"] == pytest.approx(asked, rel=0.02), "it has something to do all the time"


@pytest.mark.parametrize(
    ("seeds", "drawn"),
    [
        ((None, None, None), (1, 2, 3)),
        ((None, 1, None), (2, 1, 3)),
        ((2, None, None), (2, 1, 3)),
        ((3, 3, None), (3, 3, 1)),
    ],
)
def test_requests_without_a_seed_ask_for_blocks_of_their_own(device: System, seeds: tuple[int | None, ...], drawn: tuple[int, ...]) -> None:
    plain = {"kernel": "requests", "count": 40}
    said = {name: plain | ({} if seed is None else {"seed": seed}) for name, seed in zip("abc", seeds, strict=True)}
    written = {name: plain | {"seed": seed} for name, seed in zip("abc", drawn, strict=True)}
    found = Together(kernel="together", programs=said).native()
    assert found == Together(kernel="together", programs=written).native()
    assert Together(**found).native() == found
    assert together(device, said) == together(device, written)
    # By name: the order in which they stand in a file means nothing.
    assert Together(kernel="together", programs=dict(reversed(said.items()))).native() == found


def test_seeds_are_what_they_are_alone_where_no_blocks_would_be_the_same() -> None:
    records = {"kernel": "clotho-point", "layout": "nsm"}
    programs = {"plain": {"kernel": "requests", "count": 5}, "groups": {"kernel": "clotho-column"}, "a": records, "b": records}
    found = Together(kernel="together", programs=programs).native()["programs"]
    assert {name: program["seed"] for name, program in found.items()} == dict.fromkeys(programs, 1)


def test_data_lie_one_behind_the_other(device: System) -> None:
    """A volume that holds each of two relations does not hold both, unless they have disks of their own."""
    scan = {"kernel": "clotho-scan", "layout": "nsm", "records": 2000, "pool": "1MiB"}
    blocks = -(-2000 // 60) * 16
    small = System(device.device.model_copy(update={"blocks": blocks + 16}), disks=2, volume="striped", stripe_blocks=16)
    with pytest.raises(
        UserError, match=f"2000 records in nsm take more than the {blocks + 16} blocks of the volume from block {blocks} on"
    ):
        together(small.on(1), {"a": scan, "b": scan})
    assert together(small, {"a": scan | {"disks": [0]}, "b": scan | {"disks": [1]}})["mean_slowdown"] == 1


@pytest.mark.parametrize("layout", ["nsm", "dsm", "pax", "csm"])
def test_every_kernel_runs_beside_another(layout: str) -> None:
    """Each in turn beside requests that have no end before it, which it repeats with; data of all lie behind those of another."""
    disks = System(load_device("cheetah-36es"), disks=2, volume="atropos", queue="aged-sptf")
    laid = {"layout": "mbsm" if layout == "csm" else layout, "data": {"kind": "uniform", "records": 20_000}}
    stored = {"layout": layout, "records": 20_000}
    programs = {
        "first": {"kernel": "clotho-scan", "pool": "16MiB", **stored},
        "insert": {"kernel": "clotho-insert", **stored},
        "point": {"kernel": "clotho-point", "warm_up": 20, "queries": 30, "pool": "1MiB", **stored},
        "query": {"kernel": "clotho-tpch", "layout": layout, "query": "q6", "scale_factor": 0.01},
        "column": {"kernel": "clotho-column", "groups": 30},
        "scan": {"kernel": "layout-scan", "query": "3", **laid},
        "records": {"kernel": "layout-point", "table": "r", "records": 50, **laid},
        "gaps": {"kernel": "interleaved-read", "pages": 200},
        "plain": stream(1),
    }
    found = together(disks, programs)
    for name in programs:
        assert found[f"{name}.slowdown"] > 0.99
        assert found[f"{name}.io_requests"] > 0
        assert found[f"{name}.mean_response_ms"] > 0
    assert found["mean_slowdown"] > 1.5
    assert found["io_blocks"] == sum(found[f"{name}.io_blocks"] for name in programs)


def test_users_are_measured_beside_what_begins_when_they_have_warmed_up(device: System) -> None:
    users = {"kernel": "tpcc", "layout": "nsm", "warehouses": 1, "users": 2, "pool": "1MiB", "page_access": "100us"}
    users |= {"warm_up": "200ms", "measured": "8s", "fill_transactions": 20}
    found = together(device, {"users": users, "plain": stream(1, count=2000)})
    assert found["users.seconds"] == pytest.approx(max(8, found["plain.seconds"]))
    assert found["seconds"] == pytest.approx(0.2 + found["users.seconds"])
    alone = Tpcc(**users).run(device)
    assert found["users.tpmc_alone"] == alone["tpmc"]
    assert found["users.slowdown"] == alone["tpmc"] / found["users.tpmc"] > 1
    later = together(device, {"users": users, "plain": stream(1, count=2000, start="300ms")})
    assert later["seconds"] == pytest.approx(0.3 + later["users.seconds"])


def test_what_repeats_has_means_of_its_runs(device: System) -> None:
    found = together(device, {"again": stream(1, count=10, repeat=True), "long": stream(2, count=100)})
    assert found["again.runs"] > 5
    assert found["again.io_requests"] == 10
    assert found["again.seconds"] * found["again.runs"] == pytest.approx(found["seconds"])
    assert "long.runs" not in found


@pytest.mark.parametrize("again", [stream(1, count=20), {"kernel": "interleaved-read", "pages": 20}], ids=["its own rates", "those of all"])
def test_rates_of_what_repeats_are_totals_over_times(device: System, again: dict[str, Any]) -> None:
    """Runs beside the long one take longer than the last, which goes on when that has ended: the mean of their rates is another."""
    found = of(together(device.on(1), {"again": again | {"repeat": True}, "long": stream(2, count=130, in_flight=1)}), "again")
    assert found["runs"] > 2
    times = [value for name, value in found.items() if name.startswith("io_") and name.endswith("_seconds") and name != "io_seconds"]
    busy = sum(times) - found["io_queue_seconds"]
    assert found["MB_per_second"] == pytest.approx(found["io_blocks"] * 512 / 1e6 / found["seconds"])
    assert found["requests_per_second"] == pytest.approx(found["io_requests"] / found["seconds"])
    assert found["mean_response_ms"] == pytest.approx(1000 * sum(times) / found["io_requests"])
    assert found["disk_utilization"] == pytest.approx(busy / found["seconds"])


@pytest.mark.parametrize(
    "again",
    [
        stream(1, count=20, span_blocks=2000),
        {"kernel": "interleaved-read", "pages": 100, "skipped_runs": 0},
        stream(1, count=20, write_share=1),
    ],
    ids=["few blocks", "in sequence", "writes"],
)
def test_what_repeats_is_compared_with_itself_repeated_alone(again: dict[str, Any]) -> None:
    """Later runs find in the drive's buffer what the first has read, and the arm where it ended: nobody else has done that."""
    disks = System(load_device("cheetah-36es"), disks=2, volume="striped")
    found = together(disks, {"again": again | {"disks": [1], "repeat": True}, "long": stream(2, count=200, disks=[0])})
    assert found["again.runs"] > 2
    assert found["again.slowdown"] == found["long.slowdown"] == 1
    assert found["again.seconds_alone"] == found["again.seconds"]
    once = together(disks, {"again": again | {"disks": [1]}, "long": stream(2, count=200, disks=[0])})
    assert once["again.seconds"] != found["again.seconds"]


def test_what_has_run_once_though_it_repeats_is_compared_with_one_run(device: System) -> None:
    again = stream(1, count=60, first_block=0, span_blocks=16_000)
    short = stream(2, count=10, first_block=16_000, span_blocks=16_000)
    repeats = together(device.on(1), {"again": again | {"repeat": True}, "short": short})
    assert repeats.pop("again.runs") == 1
    assert repeats == together(device.on(1), {"again": again, "short": short})


def test_compound_is_two_programs() -> None:
    """Of which TPC-C has its data first, as here by its name."""
    disks = System(load_device("cheetah-36es"), disks=4, volume="atropos", queue="aged-sptf")
    users = {"layout": "csm", "warehouses": 1, "users": 4, "pool": "8MiB", "page_access": "100us", "fill_transactions": 100}
    times = {"warm_up": "100ms", "measured": "400ms"}
    query = {"query": "q6", "scale_factor": 0.01}
    compound = Compound(kernel="compound", **users, **times, **query).run(disks)
    found = together(
        disks,
        {
            "oltp": {"kernel": "tpcc", **users, **times},
            "query": {"kernel": "clotho-tpch", "layout": "csm", "pool": "8MiB", **query, "start": "500ms", "repeat": True},
        },
    )
    assert compound == {
        "seconds": found["query.seconds"],
        "query_seconds_alone": found["query.seconds_alone"],
        "query_seconds_together": found["query.seconds"],
        "query_runs_together": found["query.runs"],
        "query_slowdown": found["query.slowdown"],
        "tpmc_alone": found["oltp.tpmc_alone"],
        "tpmc_together": found["oltp.tpmc"],
        "tpcc_slowdown": found["oltp.slowdown"],
        "mean_slowdown": found["mean_slowdown"],
        "disk_utilization": compound["disk_utilization"],
    } | {name.replace("oltp.", "tpcc."): value for name, value in found.items() if name.startswith(("io_", "oltp.", "query."))}
    assert max(compound["tpcc.disk_utilization"], compound["query.disk_utilization"]) <= compound["disk_utilization"] <= 1


def test_the_command_line_runs_prints_and_explains_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = invoke("run", "experiment.yaml", "--jobs", "1", "--out", "out", "--set", "workload.programs.plain.seed=7")
    assert done.exit_code == 0, done.output
    for name in ("scan", "users", "plain", "all"):
        assert any(line.split()[:1] == [name] for line in done.stdout.splitlines()), done.stdout
    frame = pd.read_parquet("out/results.parquet")
    assert frame["workload.programs.users.warehouses"].tolist() == [1]
    assert frame["plain.io_requests"].tolist() == [60]
    assert json.loads(Path("out/manifest.json").read_text())["seeds"] == [1, 7]
    told = [one for one in explain(Path("out")) if isinstance(one, StorageExplanation)]
    assert [one.parameters["program"] for one in told] == ["scan", "users", "plain"]
    assert [one.time.seconds for one in told] == [frame[f"{name}.seconds"][0] for name in ("scan", "users", "plain")]
    again = invoke("explain", "out", "--json")
    assert [one["parameters"]["program"] for one in json.loads(again.stdout)["points"]] == ["scan", "users", "plain"]
    assert "together" in invoke("list", "workloads").stdout


def test_a_dry_run_says_that_nobody_knows_how_often_a_program_will_repeat(tmp_path: Path) -> None:
    path, unknown = experiment(tmp_path), "at least: how often what repeats will run is unknown"
    assert unknown not in invoke("run", path, "--dry-run").stdout
    assert unknown in invoke("run", path, "--dry-run", "--set", "workload.programs.scan.repeat=true").stdout


def test_one_worker_and_two_give_the_same(tmp_path: Path) -> None:
    rows = expand(load_experiment(experiment(tmp_path)), overrides=[parse_set("workload.programs.plain.count=[10, 20]")])
    one, two = (run_rows("mix", rows, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert len(one) == 2
    assert one == two


def test_settings_of_programs_can_be_varied(tmp_path: Path) -> None:
    text = EXPERIMENT + "grid:\n  workload.programs.plain.count: [10, 20]\n  workload.programs.scan.repeat: [true, false]\n"
    rows = expand(load_experiment(experiment(tmp_path, text)))
    assert [(row.parameters["workload.programs.plain.count"], row.parameters["workload.programs.scan.repeat"]) for row in rows] == [
        (10, True),
        (10, False),
        (20, True),
        (20, False),
    ]
    assert len({row.point.id for row in rows}) == 4


def test_editors_know_programs() -> None:
    checker = Draft202012Validator(json_schema())
    base = {"schema_version": 1, "id": "a", "storage": "cheetah-36es"}
    good = {
        "kernel": "together",
        "programs": {"a": {"kernel": "requests", "count": 5, "start": "5ms"}, "b": {"kernel": "tpcc", "disks": [0]}},
    }
    assert checker.is_valid(base | {"workload": good})
    for bad in ({"kernel": "together", "programs": {"a": {"kernel": "compound"}}}, {"kernel": "requests", "start": "5ms"}):
        assert not checker.is_valid(base | {"workload": bad})


@pytest.mark.parametrize(
    ("scan", "column", "said"),
    [
        ("scan: {kernel: clotho-scam, layout: nsm}", 20, "kernel `clotho-scam` is not one of .* did you mean `clotho-scan`"),
        ("scan: {kernel: table}", 20, "kernel `table` is not one of requests"),
        ("scan: {kernel: together}", 20, "together has programs of its own; name these here, one by one"),
        ("scan: {kernel: compound}", 20, "compound is two programs itself, tpcc and clotho-tpch"),
        ("scan: {kernel: layout-update}", 20, "layout-update is many runs"),
        ("scan: {layout: nsm}", 11, "`kernel` is missing"),
        ("scan: 7", 11, "a number stands where a map"),
        ("scan: {kernel: clotho-scan, layout: nsm, recrods: 5}", 46, "unknown key `recrods`; did you mean `records`"),
        ("scan: {kernel: clotho-scan, layout: nsm, start: 5}", 53, "`5` has no unit"),
        ("scan: {kernel: clotho-scan, layout: nsm, repeat: maybe}", 54, "`maybe` is neither true nor false"),
        ("scan: {kernel: clotho-scan, layout: nsm, in_flight: 3}", 57, "scan.in_flight has no effect .* operator: si-scan"),
        ("scan: {kernel: requests, count: 5, pattern: sequential, seed: 3}", 67, "scan.seed has no effect"),
        ("scan: {kernel: layout-scan, layout: nsm, query: all, data: {kind: tpch}}", 53, "`all` is several runs; name one query"),
        ("scan: {kernel: clotho-scan, layout: nsm, records: 9000000000000}", 55, r"9000000000000 records in nsm take more than"),
        ("scan: {kernel: clotho-scan, layout: csm}", 20, "volume: atropos or volume: memstore"),
        ("scan: {kernel: tpcc, layout: nsm, page_access: 1us, repeat: true}", 65, "it has no end"),
        ("storage: {kernel: clotho-scan, layout: nsm}", 14, "`storage` is no name for a program"),
        ("a.b: {kernel: clotho-scan, layout: nsm}", 10, "`a.b` is no name for a program"),
        ("users: {kernel: clotho-scan, layout: nsm}", None, "`users` is given twice in the same map"),
        (f"{SCAN[:-1]}, disks: [0]}}", None, "other programs name their disks, and this one has all"),
    ],
)  # fmt: skip
def test_mistakes_are_told_where_they_are(tmp_path: Path, scan: str, column: int | None, said: str) -> None:
    place = r"experiment.yaml:" + ("8:5" if column is None and "users" in scan else "9:7" if column is None else f"7:{column}")
    with pytest.raises(UserError, match=f"{place}: .*{said}"):
        expand(load_experiment(experiment(tmp_path, EXPERIMENT.replace(SCAN, scan))))


DISKS = ("workload.programs.scan.disks=[0]", "workload.programs.users.disks=[0]", "workload.programs.plain.disks=[1]")


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ((*DISKS[:2], "workload.programs.plain.disks=[0, 1]"), r"\[0, 1\] and the disks of scan, \[0\], overlap"),
        ((*DISKS[:2], "workload.programs.plain.disks=[2]"), "there is no disk 2; the storage has 2, numbered from 0"),
        ((*DISKS[:2], "workload.programs.plain.disks=[1, 1]"), r"\[1, 1\] names a disk twice"),
        ((*DISKS[:2], "workload.programs.plain.disks=[0]"), "storage.disks has no effect"),
        (("storage.disks=1", *DISKS[:2], "workload.programs.plain.disks=[0]"), r"workload.programs.plain.disks has no effect"),
        (("workload.programs.plain.repeat=true", "workload.programs.scan.repeat=true", "storage.queue=sptf"), None),
        (("workload.programs.scan.repeat=true", "storage.queue=sptf"), "requests of plain may wait for ever beside scan"),
        (("workload.programs={a: {kernel: requests, count: 5}}",), "1 programs; side by side run 2 to 64"),
        (("workload.programs={a: {kernel: requests, count: 5, repeat: true}, b: {kernel: requests, count: 5, repeat: true}}",), "no end"),
        (("workload.extra=1",), "unknown key `extra`; known here: kernel, programs"),
    ],
)
def test_programs_that_do_not_fit_together_are_refused(tmp_path: Path, sets: tuple[str, ...], said: str | None) -> None:
    loaded = load_experiment(experiment(tmp_path))
    overrides = [parse_set(text) for text in sets]
    if said is None:
        assert len(expand(loaded, overrides=overrides)) == 1
        return
    with pytest.raises(UserError, match=said):
        expand(loaded, overrides=overrides)


def test_what_gets_nothing_done_is_refused_before_anything_else_runs(device: System) -> None:
    users = {"kernel": "tpcc", "layout": "nsm", "warehouses": 1, "users": 1, "pool": "1MiB", "page_access": "100us", "fill_transactions": 0}
    with pytest.raises(UserError, match=r"program users, alone: .* no transaction ended in the 0\.001 s .* measure longer"):
        together(device, {"plain": stream(1, count=10_000_000), "users": users | {"warm_up": "0s", "measured": "1ms"}})


def test_compound_and_tpcc_are_checked_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE.replace("page_bytes", "blocks: 400000\npage_bytes"))
    users = "layout: nsm, warehouses: 1, page_access: 1us"
    text = f"schema_version: 1\nid: a\nstorage: ./device.yaml\nworkload: {{kernel: compound, {users}, scale_factor: 5}}\n"
    with pytest.raises(UserError, match=r"experiment.yaml:4:\d+: query q1: its tables at scale factor 5 end at .* make it smaller"):
        expand(load_experiment(write_experiment(tmp_path, text)))
    with pytest.raises(UserError, match=r"experiment.yaml:4:\d+: workload tpcc: 9 warehouses in nsm take \d+ blocks, .* have fewer"):
        expand(load_experiment(write_experiment(tmp_path, text.replace("warehouses: 1", "warehouses: 9"))))
