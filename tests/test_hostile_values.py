"""Values that nobody means: numbers without end, tags that lie, truth for a number, strange digits."""

import json
import time
from pathlib import Path

import pytest
from files import EXPERIMENT, MACHINE, memwalk, write_experiment

from memwalk.simcore.errors import UserError
from memwalk.simcore.units import to_bytes, to_count, to_cycles
from memwalk.simcore.yaml_source import load, parse

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
