"""The command line: help with examples, JSON on stdout, traces, explanations, lists, schemas."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from files import ROOT, invoke, memwalk, write_experiment
from papers import every_paper
from rich.console import Console

from memwalk.analysis.cli import console
from memwalk.analysis.figures import load

COMMANDS = [
    (),
    ("run",),
    ("reproduce",),
    ("replay",),
    ("curve",),
    ("trace",),
    ("trace", "record"),
    ("trace", "import"),
    ("trace", "info"),
    ("trace", "head"),
    ("trace", "check"),
    ("trace", "export"),
    ("explain",),
    ("native",),
    ("machine",),
    ("machine", "show"),
    ("machine", "detect"),
    ("check",),
    ("list",),
    ("schema",),
    ("advise",),
    ("advise", "layout"),
    ("advise", "join"),
    ("advise", "index"),
    ("disk",),
    ("disk", "replay"),
    ("disk", "convert"),
    ("index",),
    ("index", "build"),
    ("index", "info"),
    ("index", "check"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_carries_an_example(command: tuple[str, ...]) -> None:
    done = memwalk(*command, "--help")
    assert done.returncode == 0
    assert "Example: memwalk" in done.stdout


@pytest.mark.parametrize("command", [("replay",), ("advise", "join"), ("advise", "index")])
def test_help_of_commands_without_an_experiment_sets_a_machine_only(command: tuple[str, ...]) -> None:
    said = " ".join(memwalk(*command, "--help").stdout.replace("│", " ").split())
    assert "Override a number of the machine" in said
    assert "workload.keys" not in said


def test_help_of_explain_has_no_hole_where_brackets_are_taken_for_markup() -> None:
    assert "`observe: `" not in memwalk("explain", "--help").stdout


def test_version_names_commit_and_profile() -> None:
    done = memwalk("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("memwalk 0.1.0 (commit ")
    assert done.stdout.endswith(" build)\n")


def answer(*arguments: str | Path, cwd: Path = ROOT) -> Any:
    done = memwalk(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_dry_run_lists_the_points_and_writes_nothing(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    points = answer("run", "experiment.yaml", "--dry-run", cwd=tmp_path)["points"]
    assert len(points) == 16
    assert points[0]["parameters"]["workload.keys"] == 1000
    shown = memwalk("run", "experiment.yaml", "--dry-run", cwd=tmp_path)
    assert "16 rows, 16 distinct points" in shown.stdout
    assert points[-1]["point"] in shown.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [("run", "experiment.yaml"), ("reproduce", "fig-2.7")], ids=["run", "reproduce"])
def test_jobs_are_not_for_a_scheduler(command: tuple[str, ...], tmp_path: Path) -> None:
    write_experiment(tmp_path)
    done = memwalk(*command, "--jobs", "2", "--scheduler", "tcp://127.0.0.1:1", cwd=tmp_path)
    assert done.returncode == 2
    assert "--jobs 2 is for processes of this computer, and --scheduler tcp://127.0.0.1:1 has workers of its own; remove one" in done.stderr


def test_a_recorded_trace_replays_to_the_statistics_of_the_live_run(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    choice = ("--scale", "quick", "--set", "workload.seed=1")
    latency = ("--set", "machine.memory.latency_cycles=100cycles")
    answer("trace", "record", "experiment.yaml", "--variant", "B+", *choice, "-o", "t.parquet", cwd=tmp_path)
    rows = answer("run", "experiment.yaml", *choice, *latency, "--out", "out", "--jobs", "1", cwd=tmp_path)["rows"]
    live = json.loads((tmp_path / "out" / "points" / f"{rows[0]['point']}.json").read_text())["statistics"]
    assert answer("replay", "t.parquet", "--machine", "./small.yaml", *latency, cwd=tmp_path) == live | {"dependences": "recorded"}


def test_help_has_a_short_name_everywhere() -> None:
    for words in ((), ("run",), ("trace", "import")):
        short = memwalk(*words, "-h")
        assert (short.returncode, short.stdout) == (0, memwalk(*words, "--help").stdout)


@pytest.mark.parametrize(
    "given",
    [
        ("replay", "a.parquet", "--machine", "thesis-simulator", "--machine=zen4-server"),
        ("advise", "index", "--machine", "thesis-simulator", "--machine=zen4-server"),
        ("trace", "record", "--machine", "thesis-simulator", "--machine=zen4-server"),
    ],
)
def test_an_option_of_one_value_is_given_once(given: tuple[str, ...]) -> None:
    done = memwalk(*given)
    assert done.returncode == 2
    assert "--machine is given twice, --machine thesis-simulator and --machine=zen4-server; keep one of them" in done.stderr


def test_a_path_is_set_once(tmp_path: Path) -> None:
    trace = tmp_path / "trace.parquet"
    workload = ("--set", "workload={kernel: pointer-chase, lines: 50}")
    twice = ("--set", "workload.lines=60", "--set", "workload.lines=70")
    refused = "--set workload.lines=70: workload.lines is set twice, by --set workload.lines=60, too; keep one of them"
    assert refused in memwalk("trace", "record", "-o", trace, *workload, *twice).stderr
    assert memwalk("trace", "record", "-o", trace, *workload, *twice[:2]).returncode == 0
    twice = ("--set", "machine.core.issue_width=1", "--set", "machine.core.issue_width=2")
    done = memwalk("replay", trace, "--machine", "thesis-simulator", *twice)
    assert "machine.core.issue_width=2: machine.core.issue_width is set twice, by --set machine.core.issue_width=1, too" in done.stderr


def test_a_part_is_set_whether_it_stands_before_its_whole_or_behind(tmp_path: Path) -> None:
    trace = tmp_path / "trace.parquet"
    part, whole = ("--set", "workload.lines=60"), ("--set", "workload={kernel: pointer-chase, lines: 50}")
    assert memwalk("trace", "record", "-o", trace, *part, *whole).returncode == 0
    interval = "machine.interference"
    part, whole = ("--set", f"{interval}.flush_interval_cycles=50cycles"), ("--set", f"{interval}={{flush_interval_cycles: 90000cycles}}")
    before, behind = (
        answer("replay", trace, "--machine", "thesis-simulator", *sets, "--json") for sets in ((*part, *whole), (*whole, *part))
    )
    assert before == behind
    assert before != answer("replay", trace, "--machine", "thesis-simulator", *whole, "--json")


def test_times_stand_beside_cycles_of_different_clocks(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    run = ("run", "experiment.yaml", "--scale", "quick", "--jobs", "1", "--set", "machine.memory.latency_cycles=150cycles")
    assert "ns/operation" not in memwalk(*run, cwd=tmp_path).stdout
    shown = memwalk(*run, "--set", "machine.clock_hz=[1GHz, 4GHz]", "--out", "clocks", cwd=tmp_path).stdout.splitlines()
    names = re.split(" {2,}", shown[1])
    for line in shown[2:]:
        row = dict(zip(names, line.split(), strict=True))
        ratio = float(row["cycles/operation"].replace(",", "")) / float(row["ns/operation"].replace(",", ""))
        assert ratio == pytest.approx(int(row["machine.clock_hz"].replace(",", "")) / 1e9, rel=0.01)


@pytest.mark.parametrize(
    ("workload", "zero"),
    [
        ("kernel: parallel-join, algorithm: no-partitioning, build_tuples: 0", "workload.build_tuples and workload.probe_tuples are 0"),
        ("kernel: hash-join, algorithm: grace, build_tuples: 10", "workload.probe_tuples is 0"),
    ],
)
def test_who_does_nothing_has_no_time_per_operation(tmp_path: Path, workload: str, zero: str) -> None:
    text = f"schema_version: 1\nid: idle\nmachine: thesis-simulator\nworkload: {{{workload}, probe_tuples: 0}}\n"
    write_experiment(tmp_path, text)
    shown = memwalk("run", "experiment.yaml", "--jobs", "1", "--out", "idle", cwd=tmp_path)
    assert shown.stdout.splitlines()[-1].split()[0] == "-"
    assert "cycles/op" not in memwalk("explain", "idle", cwd=tmp_path).stdout
    done = memwalk("native", "experiment.yaml", "--machine", "thesis-simulator", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"memwalk: error: idle: {zero}: times are per operation, of which there are none; it takes 1 at least"
    )


def test_the_command_to_go_on_with_can_be_copied(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    done = memwalk("run", "experiment.yaml", "--scale", "quick", "--out", "my résults", "--jobs", "1", cwd=tmp_path)
    last = done.stderr.splitlines()[-1]
    assert last == "memwalk: results in my résults; `memwalk explain 'my résults'` says where the time goes"
    assert memwalk(*shlex.split(last.split("`")[1])[1:], cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(("option", "chosen"), [("--variant", "B+"), ("--scale", "quick")])
def test_nothing_chooses_in_an_experiment_that_is_not_there(tmp_path: Path, option: str, chosen: str) -> None:
    done = memwalk(
        "trace", "record", option, chosen, "--set", "workload={kernel: pointer-chase, lines: 9}", "-o", "t.parquet", cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr == f"memwalk: error: {option} {chosen}: chooses in an experiment, and there is none; name its file, or remove this\n"
    assert list(tmp_path.iterdir()) == []


def test_traces_are_described_headed_and_checked(tmp_path: Path) -> None:
    whole = ("kernel=index", "operation=search", "tree.kind=b+", "keys=500", "operations=5", "caches=empty")
    sets = [f"--set=workload.{text}" for text in whole]
    answer("trace", "record", *sets, "-o", "t.parquet", cwd=tmp_path)
    info = answer("trace", "info", "t.parquet", cwd=tmp_path)
    assert info["workload"]["kernel"] == "index"
    head = answer("trace", "head", "t.parquet", "-n", "3", cwd=tmp_path)
    assert len(head) == 3
    assert [(event["kind"], event["site"], event.get("phase")) for event in head[:2]] == [("flush", None, None), ("mark", None, "search")]
    first = next(event for event in answer("trace", "head", "t.parquet", "-n", "20", cwd=tmp_path) if event["kind"] == "load")
    assert f"{first['address']:#x}  " in memwalk("trace", "head", "t.parquet", "-n", "20", cwd=tmp_path).stdout
    assert f" base {info['layout']['segments'][0]['base']:#x}, " in memwalk("trace", "info", "t.parquet", cwd=tmp_path).stdout
    events = pd.read_parquet(tmp_path / "t.parquet")
    assert len(events) == info["summary"]["events"] == answer("trace", "check", "t.parquet", cwd=tmp_path)["summary"]["events"]
    metadata = pq.read_metadata(tmp_path / "t.parquet").metadata
    assert json.loads(metadata[b"memwalk.contents"])["info"]["layout"] == info["layout"]
    assert "whole and valid" in memwalk("trace", "check", "t.parquet", cwd=tmp_path).stdout


def test_explain_prints_a_table_per_point_that_names_the_dearest_part(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    answer("run", "experiment.yaml", "--scale", "quick", "--out", "out", "--jobs", "1", cwd=tmp_path)
    explained = answer("explain", "out", "--variant", "B+", cwd=tmp_path)["points"]
    assert len(explained) == 4
    shown = memwalk("explain", "out", "--variant", "B+", cwd=tmp_path).stdout
    assert shown.count("Most goes to ") == 4
    assert "level 0 (leaves)" in shown
    assert explained[0]["headline"] in shown.replace("\n", " ")


@pytest.mark.parametrize(("terminal", "lines"), [(False, 1), (True, 3)])
def test_tables_cut_nothing_however_narrow_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, lines: int
) -> None:
    monkeypatch.setattr(console, "out", Console(force_terminal=terminal, width=20))
    console.print_table("title", ["name", "text", "number"], [["a-long-name", "text in words", 12_345_678]], numeric_from=2)
    title, _, *rows = capsys.readouterr().out.splitlines()
    assert title == "title"
    assert len(rows) == lines
    assert " ".join(" ".join(rows).split()) in ("a-long-name text in words 12,345,678", "a-long-name text 12,345,678 in words")


@pytest.mark.parametrize("subject", ["machines", "devices", "workloads", "figures", "claims"])
def test_lists(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "load_papers", every_paper)
    entries = json.loads(invoke("list", subject, "--json").stdout)
    shown = invoke("list", subject)
    assert shown.stdout.startswith(f"{len(entries)} {subject}")
    if subject == "machines":
        (thesis,) = [entry for entry in entries if entry["name"] == "thesis-simulator"]
        assert thesis["normalized_bandwidth"] == pytest.approx(250 / 15)


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("machine", "machines/*.yaml"),
        ("dbms", "dbms/*.yaml"),
        ("device", "devices/*.yaml"),
        ("experiment", "experiments/*.yaml"),
        ("figure", "papers/*/fig-*.yaml"),
    ],
)
def test_our_files_follow_their_schemas(kind: str, pattern: str) -> None:
    schema = json.loads(memwalk("schema", kind).stdout)
    paths = sorted((ROOT / "configs").glob(pattern))
    assert paths
    kind_of_schema = jsonschema.validators.validator_for(schema)
    kind_of_schema.check_schema(schema)
    validator = kind_of_schema(schema)
    for path in paths:
        validator.validate(yaml.load(path.read_text(), yaml.CSafeLoader))
