"""DBMS profiles: read, laid over machines, told where they are wrong; their numbers, and byte usage, in the results."""

import json
from pathlib import Path
from typing import Any

import pytest
from files import EXPERIMENT, MACHINE, memwalk, write_experiment

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.results import flatten
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.session import run_rows
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.explain.breakdown import explain
from memwalk.simcore import _native
from memwalk.simcore.dbms import dbms_names
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.yaml_source import lookup

PROFILE = """\
schema_version: 1
description: a small system
source: made up for tests
calls:
  next-record: {instructions: 40, code_bytes: 128B, mispredicts_per_1000: 0, dependent_per_1000: 0}
  next-page:
    instructions: 1000
    code_bytes: 1KiB
    mispredicts_per_1000: 20
    dependent_per_1000: 300
    data_bytes: 64B
    source: made up too
clock_tick:
  period_cycles: 10us
  routine: {instructions: 10, code_bytes: 64B, mispredicts_per_1000: 0, dependent_per_1000: 0}
"""

CODE = MACHINE.replace("dtlb:\n", "instruction_cache: {size_bytes: 4KiB, line_bytes: 64B, ways: 2, replacement: lru}\ndtlb:\n")


SCANS = """\
schema_version: 1
id: scans
machine: ./small.yaml
workload: {kernel: table, operation: scan, records: 100}
grid:
  workload.layout: [nsm, pax]
"""


def write(folder: Path, profile: str = PROFILE, machine: str = CODE) -> None:
    (folder / "small.yaml").write_text(machine)
    (folder / "tiny.yaml").write_text(profile)


def load(folder: Path, *sets: str) -> Any:
    settings = [parse_set(text) for text in sets]
    return load_machine("./small.yaml", settings, folder, dbms="./tiny.yaml")


def rows(folder: Path, *sets: str) -> list[Row]:
    text = SCANS.replace("machine: ./small.yaml", "machine: ./small.yaml\ndbms: ./tiny.yaml")
    path = write_experiment(folder, text)
    write(folder)
    return expand(load_experiment(path), overrides=[parse_set(one) for one in sets])


def test_a_profile_becomes_part_of_the_machine_with_its_sources(tmp_path: Path) -> None:
    write(tmp_path)
    machine = load(tmp_path)
    dbms = machine.native()["dbms"]
    assert dbms["name"] == "tiny"
    assert dbms["calls"]["next-record"]["code_bytes"] == 128
    assert "data_bytes" not in dbms["calls"]["next-record"]
    assert dbms["clock_tick"]["period_cycles"] == 10_000, "with the machine's clock"
    assert machine.sources["dbms.calls.next-page.instructions"] == "made up too"
    assert machine.sources["dbms.calls.next-record.instructions"] == "made up for tests"


@pytest.mark.parametrize("name", dbms_names())
def test_every_number_of_our_profiles_has_a_source(name: str) -> None:
    machine = load_machine("pentium2-xeon-400", dbms=name)
    numbers = machine.native()
    assert all(text and lookup(numbers, path) is not None for path, text in machine.sources.items())


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("instructions: 40", "instruction: 40", "tiny.yaml:5:17: unknown key `instruction`; did you mean `instructions`?"),
        ("instructions: 40", "instructions: 0", "tiny.yaml:5:31: calls.next-record.instructions: `0` is too small; the least is 1"),
        ("128B", "128", "tiny.yaml:5:47: calls.next-record.code_bytes: `128` has no unit; write for example 64B or 16KiB"),
        ("1000: 300", "1000: 1300", "tiny.yaml:10:25: dbms.calls.next-page.dependent_per_1000: 1300 is more than all of a thousand"),
        ("10us", "10B", "tiny.yaml:14:18: clock_tick.period_cycles: `10B` is a size; cycles or a time belong here"),
        ("source: made up for tests\n", "", "dbms.calls.next-record.instructions has no source"),
        ("calls:", "name: other\ncalls:", "name `other` is not the file's name; write `tiny` or leave it out"),
    ],
)
def test_mistakes_are_told_where_they_are(tmp_path: Path, old: str, new: str, answer: str) -> None:
    write(tmp_path, PROFILE.replace(old, new, 1))
    with pytest.raises(UserError) as error:
        load(tmp_path)
    assert answer in str(error.value)


def test_an_unknown_profile_is_told_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match=r"DBMS profile `shore-pentium3`: not in .*; did you mean `shore-pentium"):
        load_machine("pentium2-xeon-400", dbms="shore-pentium3")


def test_an_experiment_names_varies_and_hashes_its_profile(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(PROFILE.replace("40", "400"))
    varied = rows(tmp_path, f"dbms=[{tmp_path}/tiny.yaml, {tmp_path}/other.yaml]")
    assert {row.parameters["machine.dbms.name"] for row in varied} == {"tiny", "other"}
    without = rows(tmp_path, "dbms=null")
    assert not any("machine.dbms.name" in row.parameters for row in without)
    assert len({row.point.id for row in [*varied, *without]}) == len(varied) + len(without)
    changed = rows(tmp_path, "machine.dbms.calls.next-page.instructions=7")
    assert {row.parameters["machine.dbms.calls.next-page.instructions"] for row in changed} == {7}


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ("dbms=./none.yaml", "none.yaml: no such file; name a DBMS profile"),
        ("dbms=3", "dbms is given by name or path, as text"),
        ("dbms.calls=3", "dbms names a profile as a whole; write machine.dbms.calls"),
    ],
)
def test_mistakes_of_an_experiment_about_its_profile(tmp_path: Path, setting: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        rows(tmp_path, setting)
    assert answer in str(error.value)


def calls(folder: Path) -> native.Statistics:
    """Run ten records of a page on the machine of ``folder``."""
    kinds = [7, 7, *[0, 7] * 9]
    columns = {"kind": kinds, "address": [1, 0, *[4096, 0] * 9], "size": [8] * 20, "words": [1] * 20, "site": [0] * 20}
    columns |= {name: [0] * 20 for name in ("instructions", "dep", "chain")}
    layout = {"segments": [], "sites": ["value"], "phases": ["scan"], "calls": ["next-record", "next-page"]}
    return _native.replay_events(_native.Machine(load(folder).native()), layout, columns).as_dict()


def test_the_numbers_of_calls_reach_the_result_table(tmp_path: Path) -> None:
    write(tmp_path)
    flat = flatten(calls(tmp_path))
    assert (flat["calls_next-record"], flat["calls_next-page"]) == (10, 1)
    assert flat["calls_instructions"] == 10 * 40 + 1000
    assert flat["calls_mispredicted"] == 20
    assert flat["instruction_cache_served_memory"] == flat["instruction_cache_misses"] == (1024 + 128) / 64
    assert sum(flat[f"retired_{number}"] for number in range(5)) == flat["cycles"]
    assert flat["instructions"] == 1400 + 9


def test_replay_takes_a_profile(tmp_path: Path) -> None:
    write(tmp_path)
    native.record({"kernel": "table", "operation": "scan", "layout": "nsm", "records": 100}, tmp_path / "scan.parquet")
    done = memwalk("replay", "scan.parquet", "--machine=./small.yaml", "--dbms=compiled", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    statistics = json.loads(done.stdout)
    assert statistics["calls"]["runs"]["next-record"] == 100
    assert len(statistics["retired"]) == 5


def test_bytes_are_observed_by_site_and_explained(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, EXPERIMENT + "observe: [bytes]\n")
    found = expand(load_experiment(path), "quick", [parse_set("workload.seed=1")])
    statistics = run_rows("small", found, tmp_path / "out", jobs=1)
    observed = next(iter(statistics.values()))["byte_usage"]
    assert (observed["cache"], observed["line_bytes"]) == ("L2", 64)
    one = explain(tmp_path / "out")[0]
    assert {part.site for part in one.usage} <= {row["site"] for row in observed["rows"]} | {"(none)"}
    assert all(0 <= part.used_bytes <= part.fetched_bytes == 64 * part.lines for part in one.usage)
    done = memwalk("explain", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    heading = "Bytes fetched into an LRU cache like the last that sees every access and no hardware prefetcher, and bytes of them used\n"
    assert heading in done.stdout
    point = next((tmp_path / "out" / "points").iterdir())
    assert explain(point)[0].usage


def test_a_call_that_the_profile_lacks_is_one_line(tmp_path: Path) -> None:
    text = "schema_version: 1\nid: point\nmachine: zen4-server\ndbms: compiled\n"
    text += "workload: {kernel: table, operation: point, layout: nsm, records: 100, point_queries: 5}\n"
    (tmp_path / "point.yaml").write_text(text)
    result = memwalk("run", str(tmp_path / "point.yaml"), "--jobs", "1", "--out", str(tmp_path / "out"))
    assert result.returncode == 2
    assert "the trace calls `lock-file`, but DBMS profile compiled has only aggregate" in result.stderr
    assert "Traceback" not in result.stderr
