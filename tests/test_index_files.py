"""Page files of indexes: `memwalk index`, and experiments whose runs start from one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import ROOT, command, environment, memwalk, wait_for_work, write_experiment

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

WIDTHS = {
    "slotted": {},
    "array": {},
    "micro-index": {"subarray_lines": 2},
    "disk-first": {"nonleaf_lines": 1, "leaf_lines": 6},
    "cache-first": {"node_lines": 9},
}
KEYS = 20_000
LEAST = """\
schema_version: 1
id: pages
machine: ./small.yaml
workload: {kernel: disk-index, operation: insert, operations: 50, caches: empty, page_file: keys.pages}
"""
NAMED = LEAST.replace("page_file: keys.pages", "structure: array, keys: 20000, fill: 0.7, page_bytes: 4KiB, page_file: keys.pages")
BUILT = NAMED.replace(", page_file: keys.pages", "")


def build(folder: Path, structure: str, *options: str, name: str = "keys.pages", keys: int = KEYS) -> dict[str, Any]:
    widths = [word for width, lines in WIDTHS[structure].items() for word in (f"--{width.replace('_', '-')}", str(lines))]
    file = folder / name
    file.unlink(missing_ok=True)
    done = memwalk(
        "index", "build", file, "--structure", structure, "--keys", str(keys), "--page-size", "4KiB", *widths, *options, "--json"
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def points(folder: Path, experiment: str) -> list[Point]:
    write_experiment(folder, experiment)
    return [row.point for row in expand(load_experiment(folder / "experiment.yaml"))]


@pytest.mark.parametrize("structure", WIDTHS)
def test_an_index_is_built_shown_and_checked(structure: str, tmp_path: Path) -> None:
    built = build(tmp_path, structure, "--key-size", "8")
    assert (
        built["parameters"]
        == {
            "structure": structure,
            "page_bytes": 4096,
            "key_bytes": 8,
            "line_bytes": 64,
            "keys": KEYS,
            "fill": 1.0,
            "maturity": "bulkloaded",
        }
        | WIDTHS[structure]
    )
    file = tmp_path / "keys.pages"
    assert built["file_bytes"] == file.stat().st_size
    for looked in ("info", "check"):
        done = memwalk("index", looked, file, "--json")
        assert (done.returncode, json.loads(done.stdout)) == (0, built)
    content = bytearray(file.read_bytes())
    content[2048 + 4096 * (built["pages"] - 1) + 5] ^= 1
    file.write_bytes(content)
    assert memwalk("index", "info", file).returncode == 0
    done = memwalk("index", "check", file)
    assert done.returncode == 2
    assert done.stderr == f"memwalk: error: {file}: page {built['pages']} is damaged: the checksum is another; build it again\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--structure", "disk-first", "--keys", "9"), "--nonleaf-lines is missing; --structure disk-first needs it"),
        (("--structure", "micro-index", "--keys", "9"), "--subarray-lines is missing; --structure micro-index needs it"),
        (("--structure", "slots", "--keys", "9"), "--structure slots: `slots` is not one of slotted"),
        (("--structure", "array", "--keys", "9", "--page-size", "5KiB"), "--page-size: 5120 bytes; it must be"),
        (("--structure", "array", "--keys", "9", "--key-size", "5"), "--key-size: 5"),
        (("--structure", "array", "--keys", "9", "--leaf-lines", "3"), "--leaf-lines: it is for structure: disk-first"),
        (("--structure", "array", "--keys", "9", "--seed", "3"), "--seed 3: has no effect"),
        (("--structure", "array", "--keys", "9", "--bulkloaded-share", "1.0", "--seed", "3"), "--seed 3: has no effect"),
        (("--structure", "cache-first", "--keys", "9", "--node-lines", "64", "--page-size", "4KiB"), "--node-lines: 64 lines"),
    ],
)
def test_what_cannot_be_built_is_told_and_leaves_no_file(options: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = memwalk("index", "build", tmp_path / "keys.pages", *options)
    assert done.returncode == 2
    assert done.stderr.startswith(f"memwalk: error: {says}"), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = memwalk("index", "build", tmp_path / "mine", "--structure", "array", "--keys", "9")
    assert (done.returncode, (tmp_path / "mine").read_text()) == (2, "mine")
    assert "exists already and is left alone" in done.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file or directory"),
        (b"", "is no page file of memwalk"),
        (b"PAR1" * 1000, "is no page file of memwalk"),
        (b"\x89MWpages", "is cut off: it has 8 bytes"),
        (b"\x89MWpages\x07\0\0\0" + bytes(4000), "is a page file of version 7, and this memwalk reads versions 1 to 3"),
        (b"\x89MWpages\x01\0\0\0" + bytes(4000), "its header is damaged"),
    ],
)
def test_what_is_no_page_file_is_refused(content: bytes | None, says: str, tmp_path: Path) -> None:
    file = tmp_path / "keys.pages"
    if content is not None:
        file.write_bytes(content)
    for looked in ("info", "check"):
        done = memwalk("index", looked, file)
        assert done.returncode == 2
        assert done.stderr.startswith(f"memwalk: error: {file}: {says}"), done.stderr
    with pytest.raises(UserError, match=r"experiment\.yaml:4:\d+: page_file: .*keys\.pages: "):
        points(tmp_path, LEAST)


@pytest.mark.parametrize("cut", [1, 8, 4096, 50_000])
def test_a_file_that_is_cut_off_is_refused(cut: int, tmp_path: Path) -> None:
    build(tmp_path, "slotted")
    file = tmp_path / "keys.pages"
    file.write_bytes(file.read_bytes()[:-cut])
    done = memwalk("index", "check", file)
    assert (done.returncode, "is cut off" in done.stderr) == (2, True)


def test_a_damaged_page_is_told_where_its_file_is_named(tmp_path: Path) -> None:
    """It is found when the file is read, by the run of a variant that names another file than the rest."""
    for name in ("keys.pages", "others.pages"):
        build(tmp_path, "array", name=name)
    content = bytearray((tmp_path / "others.pages").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "others.pages").write_bytes(content)
    write_experiment(tmp_path, LEAST + "variants:\n  a: {}\n  b: {workload.page_file: others.pages}\n")
    done = memwalk("run", "experiment.yaml", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "experiment.yaml:7:27: page_file: " in done.stderr
    assert "others.pages: page 2" in done.stderr


def test_a_folder_and_a_device_are_no_page_files(tmp_path: Path) -> None:
    for place in (tmp_path, Path("/dev/zero")):
        with pytest.raises(UserError, match="is no regular file"):
            native.index_info(place)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_stopped_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    options = ("--structure", "array", "--keys", "30000000", "--bulkloaded-share", "0.1")
    process = subprocess.Popen(
        command("index", "build", tmp_path / "keys.pages", *options),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_for_work(process, 2)
    process.send_signal(number)
    told, _ = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else 143), told
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


def test_building_writing_and_checking_are_heard_of_and_stopped(tmp_path: Path) -> None:
    class StopHereError(Exception):
        pass

    def stop(_steps: int) -> None:
        raise StopHereError

    workload = {"kernel": "disk-index", "structure": "array", "keys": 3_000_000, "maturity": "mature", "caches": "empty"}
    file = tmp_path / "keys.pages"
    with pytest.raises(StopHereError):
        native.build_index(workload, file, stop)
    assert list(tmp_path.iterdir()) == []


def test_a_run_from_a_page_file_is_that_of_the_workload_that_builds_the_index(tmp_path: Path) -> None:
    build(tmp_path, "array", "--fill", "0.7")
    (least,), (named,), (built,) = (points(tmp_path, text) for text in (LEAST, NAMED, BUILT))
    assert least.id == named.id != built.id
    assert least.workload["page_file"].keys() == {"path", "sha256"}
    assert {key: value for key, value in least.workload.items() if key != "page_file"} == built.workload
    assert "page_file" not in built.workload
    from_file, plain = (native.simulate(point.machine, point.workload) for point in (least, built))
    assert from_file == plain


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("structure: slotted", "structure: slotted, but the index in {file} has array; write that or remove it"),
        ("keys: 19999", "keys: 19999, but the index in {file} has 20000; write that or remove it"),
        ("page_bytes: 8KiB", "page_bytes: 8KiB, but the index in {file} has 4096; write that or remove it"),
        ("key_bytes: 8", "key_bytes: 8, but the index in {file} has 4; write that or remove it"),
        ("line_bytes: 128B", "line_bytes: 128B, but the index in {file} has 64; write that or remove it"),
        ("maturity: mature", "maturity: mature, but the index in {file} has bulkloaded; write that or remove it"),
        ("fill: 0.8", "fill: 0.8, and the index in {file} has 0.7; write that, or leave page_file out"),
        ("bulkloaded_share: 0.5", "bulkloaded_share: it is for maturity: mature, and maturity is bulkloaded; remove it"),
        ("leaf_lines: 3", "leaf_lines: it is for structure: disk-first, and structure is array; remove it"),
    ],
)
def test_what_a_page_file_contradicts_is_refused_where_it_stands(setting: str, says: str, tmp_path: Path) -> None:
    build(tmp_path, "array", "--fill", "0.7")
    with pytest.raises(UserError) as error:
        points(tmp_path, LEAST.replace("caches: empty", f"caches: empty, {setting}"))
    place, _, message = str(error.value).partition(": ")
    column = LEAST.splitlines()[3].index(", page_file") + 3 + setting.index(":") + 2
    assert place == f"{tmp_path}/experiment.yaml:4:{column}"
    assert message == says.format(file=tmp_path / "keys.pages")


def test_an_index_that_has_grown_is_a_mature_one(tmp_path: Path) -> None:
    built = build(tmp_path, "cache-first", "--bulkloaded-share", "0.3", "--seed", "7", keys=19_999)
    assert built["parameters"]["maturity"] == "mature"
    assert (built["bulkloaded_keys"], built["inserted_keys"]) == (6000, 13_999)
    assert built["page_splits"] > 0
    for share in ("", ", bulkloaded_share: 0.3"):
        (point,) = points(tmp_path, LEAST.replace("caches: empty", f"caches: empty, maturity: mature{share}"))
        assert point.workload["node_lines"] == 9
    with pytest.raises(UserError, match=r"bulkloaded_share: 0\.4, and the index in .* has 0\.3"):
        points(tmp_path, LEAST.replace("caches: empty", "caches: empty, maturity: mature, bulkloaded_share: 0.4"))


@pytest.mark.parametrize("keys", [200, 1001])
def test_a_run_starts_from_an_index_of_the_least_share(keys: int, tmp_path: Path) -> None:
    built = build(tmp_path, "array", "--bulkloaded-share", "0.001", keys=keys)
    assert built["bulkloaded_keys"] == keys // 1000
    (point,) = points(tmp_path, LEAST)
    assert (point.workload["keys"], point.workload["bulkloaded_share"]) == (keys, 0.001)


def test_another_content_is_another_point(tmp_path: Path) -> None:
    build(tmp_path, "array", "--bulkloaded-share", "0.3")
    first, again = points(tmp_path, LEAST), points(tmp_path, LEAST)
    assert first == again
    content = (tmp_path / "keys.pages").read_bytes()
    (tmp_path / "keys.pages").write_bytes(content)
    assert points(tmp_path, LEAST) == first
    build(tmp_path, "array", "--bulkloaded-share", "0.3", "--seed", "2")
    assert points(tmp_path, LEAST) != first
    with pytest.raises(native.SpecError, match="has changed since it was named"):
        native.simulate(first[0].machine, first[0].workload)


def test_a_changed_file_is_computed_again(tmp_path: Path) -> None:
    write_experiment(tmp_path, LEAST)
    results = []
    for seed in ("1", "1", "2"):
        build(tmp_path, "array", "--bulkloaded-share", "0.3", "--seed", seed)
        done = memwalk("run", "experiment.yaml", "--jobs", "1", "--out", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        table = pd.read_parquet(tmp_path / "out" / "results.parquet")
        results.append((len(list((tmp_path / "out" / "points").glob("*.json"))), table["point"].item(), table["cycles"].item()))
    assert results[0] == results[1]
    assert results[2][0] == 2
    assert results[2][1:] != results[1][1:]


def test_page_files_are_found_beside_the_experiment_and_by_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    build(tmp_path / "files", "array")
    (beside,) = points(tmp_path, LEAST.replace("keys.pages", "files/keys.pages"))
    (absolute,) = points(tmp_path, LEAST.replace("keys.pages", str(tmp_path / "files" / "keys.pages")))
    assert beside == absolute
    # Whatever folder the command is called in.
    done = memwalk("run", tmp_path / "experiment.yaml", "--dry-run", "--json", cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_a_variant_takes_the_page_file_away(tmp_path: Path) -> None:
    build(tmp_path, "array", "--fill", "0.7")
    kept, built = points(tmp_path, NAMED + "variants:\n  kept: {}\n  built: {workload.page_file: null}\n")
    assert "page_file" in kept.workload
    assert built.workload == {name: value for name, value in kept.workload.items() if name != "page_file"}


def test_a_trace_is_recorded_from_a_page_file(tmp_path: Path) -> None:
    build(tmp_path, "slotted")
    write_experiment(tmp_path, LEAST)
    done = memwalk("trace", "record", "experiment.yaml", "-o", "t.parquet", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert native.trace_info(tmp_path / "t.parquet")["workload"]["page_file"]["path"] == str(tmp_path / "keys.pages")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is free")
def test_a_file_that_reserves_more_than_there_is_memory_is_refused(tmp_path: Path) -> None:
    build(tmp_path, "array", keys=2_000_000)
    file = tmp_path / "keys.pages"
    code = (
        "import resource\n"
        "from pathlib import Path\n"
        "from memwalk.simcore.engines import native\n"
        "from memwalk.simcore.errors import UserError\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * resource.getpagesize() + 10_000_000\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        f"    native.check_index(Path({str(file)!r}))\n"
        "except UserError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{file}: has "), done.stdout
    assert "of memory are free" in done.stdout
