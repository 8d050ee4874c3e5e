"""Device files of disks: those that come along, and the lines that wrong ones are refused with."""

from pathlib import Path

import pytest

from memwalk.simcore.errors import UserError
from memwalk.simcore.paths import configs
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.disk import DiskFile
from memwalk.simcore.storage.disk.model import Disk
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import load

DISKS = ["atlas-10k", "atlas-10k-ii", "atlas-iii", "cheetah-15k4", "cheetah-36es", "cheetah-4lp", "cheetah-9lp", "cheetah-x15", "disk-2024"]
FILE = """\
schema_version: 1
description: a small disk
source: made up for tests
kind: disk
rpm: 6000
heads: 2
cylinders: 20
blocks: 3000
zones:
  - {cylinders: [0, 9], sectors: 100, track_skew: 10, cylinder_skew: 20}
  - {cylinders: [10, 19], sectors: 50, track_skew: 5, cylinder_skew: 10}
seek:
  model: points
  points:
    - [1, 2ms]
    - [4, 2.5ms]
    - [11, 3ms]
head_switch: 1ms
write_settle: 0.5ms
bus_per_block: 1us
overhead: 0.1ms
segments: 4
segment_blocks: 100
read_ahead_blocks: 50
leaves_read_ahead: false
write_segments: 1
zero_latency: false
"""
FORMULA = """\
seek:
  model: formula
  track_to_track: 2ms
  average: {average}
  full_stroke: {full}
"""


def refusal(tmp_path: Path, old: str, new: str) -> str:
    """Change the file and return what is said about it, from the line number on."""
    assert FILE.count(old) == 1
    path = tmp_path / "wrong.yaml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(UserError) as caught:
        load_device(str(path))
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message.removeprefix(f"{path}:")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[10, 19]", "[9, 19]", "11:17: zones.1.cylinders: zones overlap: cylinders up to 9 come before; begin with 10"),
        ("[10, 19]", "[12, 19]", "11:17: zones.1.cylinders: zones leave a gap: begin with cylinder 10, or list those up to 11 as unused"),
        ("[0, 9]", "[9, 0]", "10:17: zones.0.cylinders: the last cylinder 0 comes before the first one 9; exchange them"),
        ("cylinders: 20", "cylinders: 21", "7:12: cylinders: the zones end with cylinder 19; the number of cylinders is 20"),
        ("blocks: 3000", "blocks: 3000\nunused_cylinders: [19]", "12:17: zones.1.cylinders: cylinder 19 is in the zone and among unused"),
        ("blocks: 3000", "blocks: 2999", "8:9: blocks: the zones hold 3000 blocks, which are to be blocks + reserved_blocks"),
        ("blocks: 3000", "blocks: 1000\nreserved_blocks: 2000", "9:18: reserved_blocks: the last zone holds 1000 blocks; fewer"),
        ("sectors: 50,", "sectors: 50, spares: 1000,", "11:5: zones.1: spares or empty sectors leave no room for blocks"),
        ("sectors: 50,", "sectors: 50, empty: 1000,", "11:5: zones.1: spares or empty sectors leave no room for blocks"),
        ("track_skew: 10,", "track_skew: 100,", "10:51: zones.0.track_skew: a track has 100 sectors; a skew is shorter than a track"),
        ("track_skew: 10,", "track_skew: 9,", "10:51: zones.0.track_skew: the heads are there 10 sectors later; a smaller skew costs"),
        ("cylinder_skew: 20", "cylinder_skew: 19", "10:70: zones.0.cylinder_skew: the heads are there 20 sectors later"),
        (
            "[4, 2.5ms]",
            "[4, 1.9ms]",
            "16:7: seek.points.1: a seek over 4 cylinders takes less time than one over 1; a seek curve never falls",
        ),
        ("[4, 2.5ms]", "[1, 2.5ms]", "16:7: seek.points.1: distance 1 comes after 1; put points in order of distance"),
        ("    - [1, 2ms]\n", "", "15:7: seek.points.0: the curve starts elsewhere; begin with distance 1"),
        ("[11, 3ms]", "[20, 3ms]", "13:3: seek: no seek of 20 cylinders is as long as 20; drop such points"),
        ("write_settle: 0.5ms", "write_settle: -0.5ms", "19:15: write_settle: `-0.5ms` is negative; write for example 7.2ms"),
        ("rpm: 6000", "rpm: 0", "5:6: rpm: `0` is too small; the least is 1"),
        ("rpm: 6000", "rpm: 1e18", "5:6: rpm: `1000000000000000000` is too large; the most is 1000000"),
        ("read_ahead_blocks: 50", "read_ahead_blocks: 101", "24:20: read_ahead_blocks: no segment holds as many blocks"),
        ("segment_blocks: 100\nread_ahead_blocks: 50", "segment_blocks: 0\nread_ahead_blocks: 0", "26:17: write_segments: segments of 0"),
        ("overhead: 0.1ms", "overhead: {read_hit: 1ms, read_miss: 1ms, write_hit: 1ms}", "21:1: `overhead.write_miss` is missing"),
        ("head_switch: 1ms\n", "", "1:1: `head_switch` is missing"),
        ("leaves_read_ahead", "leave_read_ahead", "25:1: unknown key `leave_read_ahead`; did you mean `leaves_read_ahead`?"),
    ],
)
def test_a_wrong_file_is_refused_at_the_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert refusal(tmp_path, old, new).splitlines()[0].startswith(expected)


@pytest.mark.parametrize(("average", "full"), [("1ms", "9ms"), ("5ms", "4ms"), ("3ms", "200ms"), ("8ms", "8.1ms")])
def test_a_formula_that_falls_is_refused(tmp_path: Path, average: str, full: str) -> None:
    points = FILE[FILE.index("seek:") : FILE.index("head_switch")]
    said = refusal(tmp_path, points, FORMULA.format(average=average, full=full))
    assert said.startswith("13:3: seek: no curve that never falls has that")


def test_a_measured_curve_may_fall_but_not_by_half(tmp_path: Path) -> None:
    measured = "points\n  measured: true\n  points:\n    - [1, 2ms]\n    - [4, {}]\n    - [11, {}]"
    points = FILE[FILE.index("points") : FILE.index("\nhead_switch")]
    path = tmp_path / "measured.yaml"
    path.write_text(FILE.replace(points, measured.format("1.9ms", "1ms")))
    disk = load_device(str(path)).device()
    assert isinstance(disk, Disk)
    assert disk.drive.seek_ps(4) == 1_900_000_000
    said = refusal(tmp_path, points, measured.format("1.9ms", "0.999ms"))
    assert said.startswith("18:7: seek.points.2: a seek over 11 cylinders takes less than half the time of one over fewer")


@pytest.mark.parametrize("name", DISKS)
def test_a_disk_that_comes_along_names_the_source_of_every_number(name: str) -> None:
    file = load_device(name)
    assert isinstance(file, DiskFile)
    source = load(configs() / "devices" / f"{name}.yaml").data
    numbers = set(source) - {"schema_version", "description", "source", "sources", "kind", "unused_cylinders", "serpentine"}
    assert set(file.sources) <= numbers
    assert numbers <= set(file.sources) or "DIXtrac" in str(file.source)


@pytest.mark.parametrize("name", DISKS)
def test_facts_are_what_times_depend_on(name: str) -> None:
    file = load_device(name)
    assert isinstance(file, DiskFile)
    facts = file.facts()
    assert not {"description", "source", "sources"} & set(facts)
    again = DiskFile.model_construct(**{**dict(file), "description": "another", "sources": {}})
    assert again.facts() == facts
    assert file.model_copy(update={"read_ahead_blocks": 1}).facts() != facts


def test_a_file_says_the_same_with_and_without_its_lines() -> None:
    path = configs() / "devices" / "cheetah-x15.yaml"
    assert validate(DiskFile, load(path)).facts() == DiskFile.model_validate(load(path).data).facts()
