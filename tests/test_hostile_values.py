"""Values that nobody means: numbers without end, tags that lie, truth for a number, strange digits."""

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from files import EXPERIMENT, MACHINE, memwalk, write_experiment

from memwalk.analysis.experiments.resolve import resolve_workload
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.json_text import json_text
from memwalk.simcore.machine import Setting, build_machine, read_machine
from memwalk.simcore.units import to_bytes, to_count, to_cycles
from memwalk.simcore.yaml_source import Place, Route, Sourced, dotted, load, parse

QUICK_SECONDS = 5


@pytest.mark.parametrize("number", ["1e99999999", "1e-99999999", "9" * 5000, "1_" * 3000 + "1", "0." + "1" * 5000])
@pytest.mark.parametrize("unit", ["KiB", " B", ""])
def test_a_number_without_end_is_refused_at_once(number: str, unit: str) -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match="not a number with a unit"):
        to_bytes(number + unit)
    with pytest.raises(ValueError, match="not a number with a unit"):
        to_cycles(number + unit, 10**9)
    assert time.monotonic() - began < QUICK_SECONDS


@pytest.mark.parametrize("text", ["a: " + "9" * 5000, "a: 0x" + "f" * 5000, "a: 1." + "1" * 5000, "a: !!int " + "7" * 5000])
def test_yaml_numbers_without_end_are_refused_where_they_stand(text: str) -> None:
    with pytest.raises(UserError, match=r"^here:1:4: .* has 50\d\d characters; a number has at most 64"):
        parse(text, "here")


@pytest.mark.parametrize("text", ["a: !!bool maybe", "a: !!int maybe", "a: !!float maybe", "a: !!null maybe"])
def test_a_tag_that_lies_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^here:1:4: "):
        parse(text, "here")


def test_a_count_in_quotes_is_told_to_lose_them() -> None:
    with pytest.raises(ValueError, match="`1000` is text, but a count belongs here; write a bare number such as 1000"):
        to_count("1000")


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("workload.fill=true", "`True` is not a number"),
        ("workload.fill=0.5e", "not a number"),
        ("machine.caches.².ways=4", "²"),
        ("machine.caches." + "9" * 5000 + ".ways=4", "caches"),
        ("machine.schema_version='1'", "remove the quotes"),
        ("workload.keys='1000'", "is text"),
    ],
)
def test_a_hostile_setting_is_a_mistake_in_one_line(setting: str, says: str, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    done = memwalk("run", "experiment.yaml", f"--set={setting}", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_half_a_character_is_refused_where_it_stands() -> None:
    with pytest.raises(UserError, match=r"^here:2:4: half a character"):
        parse('a: 1\nb: "\\ud800"', "here")


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(UserError, match="/dev/zero: more than 8 MiB"):
        load(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["[/x]", "[red]x", "[bold", ":smile:", "a\\"])
def test_brackets_in_names_are_printed_as_written(name: str, tmp_path: Path) -> None:
    machine = MACHINE.replace("name: L1", f"name: {json.dumps(name)}")
    write_experiment(tmp_path, EXPERIMENT.replace("  B+:", f"  {json.dumps(name)}:"), machine)
    done = memwalk("run", "experiment.yaml", "--scale", "quick", "--jobs", "1", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert name in done.stdout
    explained = memwalk("explain", "out", cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert name in explained.stdout


HOSTILE: list[Any] = [2**32, 2**63, 2**64, 10**40, -1, 1.5, True, "1000", "", math.inf, math.nan, 1e300, [1], {"a": 1}]
HERE = Place("here", 7, 7)
WORKLOADS = {
    "index": """\
kernel: index
operation: scan
tree: {kind: b+, node_lines: 1, prefetch: true, jump_pointers: external, distance_nodes: 3, chunk_lines: 3}
word_bytes: 4
line_bytes: 64
keys: 1000
operations: 10
range: 10
buffer_bytes: 4096
warm_up: 5
seed: 1
""",
    "pointer-array": """\
kernel: pointer-array
lines: 100
distance_lines: 1
line_bytes: 128
word_bytes: 8
page_bytes: 16384
pages: 64
seed: 1
""",
    "pointer-chase": "kernel: pointer-chase\nlines: 100\nline_bytes: 128\nword_bytes: 8\npage_bytes: 16384\npages: 64\nseed: 1\n",
    "table": """\
kernel: table
operation: scan
layout: super-row
page_bytes: 8192
header_bytes: 32
attributes: 8
attribute_bytes: 8
records: 100
predicates: 1
first_predicate: 1
projected: 1
first_projected: 1
point_queries: 10
abstraction: [10, 10]
level_attributes: [4, 4]
prefetch_bytes: 1MiB
caches: warm
warm_up: 2
seed: 1
""",
    "tpch": "kernel: tpch\nquery: q6\nlayout: nsm\nscale_factor: 0.001\npage_bytes: 8192\npool_bytes: 128MiB\nheap_bytes: 64MiB\nseed: 1\n",
}
ANYTHING_GOES = {"seed", "prefetch_bytes", "scale_factor", "pool_bytes", "heap_bytes"}
"""Parameters that take some of these values."""


ABOUT = ("schema_version", "source", "description", "name")
"""What says something of numbers and is none."""


def numbers_in(source: Sourced) -> Iterator[Route]:
    """Gives the routes of all numbers, with a unit or without."""
    for route in source.spots:
        value = source.get(route)
        if isinstance(value, bool | dict | list) or "sources" in route or route[-1] in ABOUT:
            continue
        if isinstance(value, int | float) or str(value)[:1].isdigit():
            yield route


def assert_told_at_its_place(route: Route, error: UserError) -> None:
    (line,) = str(error).splitlines()
    assert line.startswith("here:7:7: "), line
    assert str(route[-1]) in line
    for jargon in ("line 1 column", "u32", "u64", "i64", "Input should"):
        assert jargon not in line


@pytest.mark.parametrize("kernel", WORKLOADS)
def test_every_number_of_a_workload_is_refused_where_it_stands(kernel: str) -> None:
    source = parse(WORKLOADS[kernel], "here")
    assert resolve_workload([Setting(("workload",), source)], HERE)
    for route in list(numbers_in(source)):
        for value in HOSTILE:
            changed = source.replaced(route, Sourced.uniform(value, HERE))
            settings = [Setting(("workload",), Sourced(changed.data, dict.fromkeys(changed.spots, changed.spot(route))))]
            try:
                resolve_workload(settings, HERE)
            except UserError as error:
                named = route[:1] if isinstance(route[-1], int) else route
                assert_told_at_its_place(named, error)
            else:
                assert route[-1] in ANYTHING_GOES, (route, value)


@pytest.mark.parametrize("name", ["thesis-simulator", "zen4-server", "pentium2-xeon-400", "zen4-ddr4"])
def test_every_number_of_a_machine_is_refused_where_it_stands(name: str) -> None:
    layers = read_machine(name)
    if name.startswith("pentium2"):
        layers = layers.with_dbms("shore-pentium2")
    seen = set()
    for route in list(numbers_in(build_machine(layers).source)):
        kind = dotted(tuple("#" if isinstance(step, int) else step for step in route))
        if kind in seen:
            continue
        seen.add(kind)
        for value in HOSTILE:
            try:
                build_machine(layers, [Setting(route, Sourced.uniform(value, HERE))])
            except UserError as error:
                assert_told_at_its_place(route, error)
            else:
                pytest.fail(f"{kind} took {value}")


@pytest.mark.parametrize(("parameter", "limit"), [("tree.node_lines", 64), ("line_bytes", 1024), ("word_bytes", 8)])
def test_limits_told_here_are_the_simulators(parameter: str, limit: int) -> None:
    source = parse(WORKLOADS["index"], "here").replaced(tuple(parameter.split(".")), Sourced.uniform(limit + 1, HERE))
    with pytest.raises(UserError, match=f"{parameter}: `{limit + 1}` is too large; the most is {limit}$"):
        resolve_workload([Setting(("workload",), source)], HERE)
    values = parse(WORKLOADS["index"], "here").replaced(tuple(parameter.split(".")), Sourced.uniform(limit * 2, HERE)).data
    with pytest.raises(native.SpecError, match=str(limit)):
        native.check_workload(values)


def test_what_the_simulator_cannot_read_is_told_without_the_json_that_it_stood_in() -> None:
    workload = {"kernel": "pointer-chase", "lines": 2**64, "line_bytes": 2**32}
    with pytest.raises(native.SpecError) as found:
        native.check_workload(workload)
    assert "line 1 column" not in found.value.args[1]
    assert "a whole number from 0 to" in found.value.args[1]


def test_json_has_no_infinities() -> None:
    value = {"a": [1.5, math.inf, (math.nan, {"b": -math.inf})], "c": True}
    assert json.loads(json_text(value)) == {"a": [1.5, None, [None, {"b": None}]], "c": True}
    assert json_text({"a": 1.5}, indent=1) == json.dumps({"a": 1.5}, indent=1)


@pytest.mark.parametrize("arguments", [("run",), ("native",), ("trace", "record", "-o", "t.parquet")])
@pytest.mark.parametrize("what", ["folder", "folder/", "a.parquet", "-", "/dev/stdin"])
def test_no_experiment_is_told_in_one_line(tmp_path: Path, arguments: tuple[str, ...], what: str) -> None:
    (tmp_path / "folder").mkdir()
    binary = b"PAR1" + bytes(range(256)) * 20 + b"PAR1"
    (tmp_path / "a.parquet").write_bytes(binary)
    (command, *rest) = arguments
    done = memwalk(command, *rest, what, cwd=tmp_path, stdin=tmp_path / "a.parquet")
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"memwalk: error: {what.rstrip('/')}: ")
