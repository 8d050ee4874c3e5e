"""Files that commands write: what has their name already, and standard output that cannot take what is printed."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from files import command, environment, memwalk, write_experiment
from papers import every_paper

from memwalk.analysis import check
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_file, expect_folder, expect_new_file, replacing, write_atomically
from memwalk.simcore.storage.trace_lines import write_lines


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match="no regular file"):
        write_atomically(pipe, b"content")
    with pytest.raises(UserError, match="no regular file"):
        write_lines(pipe, ["line"])
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(UserError, match="/dev/null: it is no regular file"):
        write_atomically(Path("/dev/null"), b"content")
    assert Path("/dev/null").is_char_device()


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_link_to_nothing_makes_the_file_it_names(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_recording_follows_a_link(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path)
    link = tmp_path / "link.parquet"
    link.symlink_to("trace.parquet")
    one = ("--variant", "B+", "--set=workload.keys=500", "--set=workload.seed=1")
    done = memwalk("trace", "record", experiment, "-o", link, *one, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    assert (tmp_path / "trace.parquet").read_bytes()[:4] == b"PAR1"


def test_a_name_as_long_as_the_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_atomically(path, b"content")
    assert path.read_bytes() == b"content"


def test_files_that_are_written_at_a_time_do_not_take_each_others_content(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    with replacing(one) as first:
        first.write(b"of the one")
        write_atomically(other, b"of the other")
    assert (one.read_bytes(), other.read_bytes()) == (b"of the one", b"of the other")
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_a_longer_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="File name too long"):
        write_atomically(tmp_path / ("n" * 256), b"content")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds an experiment, a trace and its machine, and a file where a folder belongs."""
    folder = tmp_path_factory.mktemp("inputs")
    write_experiment(folder)
    native.record({"kernel": "index", "operation": "search", "keys": 500, "operations": 20, "caches": "empty"}, folder / "t.parquet")
    (folder / "file").write_text("")
    (folder / "folder").mkdir()
    (folder / "requests").write_text("what is no request\n")
    return folder


BUILD = ("--structure", "slotted", "--keys", "1000", "--page-size", "16KiB")
SETS = (
    "--set",
    "workload={kernel: index, operation: search, tree: {kind: b+}, keys: 500, operations: 5, caches: empty}",
    "--set",
    "workload.seed=1",
)
UNUSABLE = {
    "native": (
        ("native", "experiment.yaml", "--machine", "./small.yaml", "-o", "file"),
        "cannot write file/native.parquet: file is no folder",
    ),
    "check": (("check", "--junit", "/proc/x.xml"), "cannot write /proc/x.xml: No such file or directory"),
    "check, a folder": (("check", "--junit", "folder"), "cannot write folder: it is no regular file"),
    "curve": (("curve", "none.parquet", "-o", "file"), "cannot write file: file is no folder"),
    "replay": (("replay", "t.parquet", "--machine", "./small.yaml", "--out", "/proc/x"), "cannot write /proc/x: "),
    "requests, a file": (("disk", "replay", "requests", "--device", "atlas-10k", "--out", "file"), "cannot write file: file is no folder"),
    "requests, a plot": (
        ("disk", "replay", "requests", "--device", "atlas-10k", "--plot", "file/x.png"),
        "cannot write file/x.png: file is no",
    ),
    "convert": (("disk", "convert", "requests", "/proc/x"), "cannot write /proc/x: No such file or directory"),
    "critical path": (
        ("explain", "t.parquet", "--critical-path", "--machine", "./small.yaml", "--out", "x.gif"),
        "--out x.gif: cannot draw `.gif`; end the name in .png or .svg",
    ),
    "critical path, nowhere": (
        ("explain", "t.parquet", "--critical-path", "--machine", "./small.yaml", "--out", "file/x.png"),
        "cannot write file/x.png: file is no folder",
    ),
    "detect": (("machine", "detect", "-o", "/proc/x.yaml"), "cannot write /proc/x.yaml: No such file or directory"),
    "index": (("index", "build", "none/x", *BUILD), "cannot write none/x: No such file or directory"),
    "record": (("trace", "record", *SETS, "-o", "none/x"), "cannot write none/x: No such file or directory"),
    "import": (("trace", "import", "requests", "--format", "din", "-o", "file/x"), "cannot write file/x: file is no folder"),
    "export": (("trace", "export", "t.parquet", "--format", "din", "-o", "none/x"), "cannot write none/x: No such file or directory"),
    "export to standard output": (
        ("trace", "export", "t.parquet", "--format", "din", "-o", "-"),
        "-: nothing is written to standard output",
    ),
    "record to standard output": (("trace", "record", *SETS, "-o", "-"), "-: nothing is written to standard output here; name a file"),
    "export compressed by zstd": (
        ("trace", "export", "t.parquet", "--format", "din", "-o", "x.din.zst"),
        "x.din.zst: would not be compressed as .zst says; end the name in .gz or .xz, or in neither",
    ),
    "export compressed by bzip2": (("trace", "export", "t.parquet", "--format", "din", "-o", "x.bz2"), "not be compressed as .bz2 says"),
    "export in capitals": (("trace", "export", "t.parquet", "--format", "din", "-o", "x.GZ"), "would not be compressed as .GZ says"),
}
"""Places that take nothing. Some inputs are wrong too, which would be told if anything was done before."""


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_place_that_takes_nothing_is_told_before_any_work(name: str, inputs: Path) -> None:
    arguments, message = UNUSABLE[name]
    before = set(inputs.iterdir())
    done = memwalk(*arguments, cwd=inputs)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert message in line
    assert set(inputs.iterdir()) == before


def test_results_of_something_else_are_told_before_anything_is_measured(inputs: Path) -> None:
    ran = memwalk("run", "experiment.yaml", "--scale", "quick", "--out", "other", "--jobs", "1", cwd=inputs)
    assert ran.returncode == 0, ran.stderr
    done = memwalk("native", "experiment.yaml", "--scale", "quick", "--machine", "./small.yaml", "-o", "other", cwd=inputs)
    (line,) = done.stderr.splitlines()
    assert "other: holds the results of another configuration" in line
    assert line.endswith("choose another folder")


def test_committed_files_that_cannot_be_written_are_told_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise UserError(f"cannot write {path}")

    monkeypatch.setattr(check, "load_papers", every_paper)
    monkeypatch.setattr(check, "expect_file", refuse)
    monkeypatch.setattr(check, "run_points", lambda *_: pytest.fail("points were simulated"))
    with pytest.raises(UserError, match=r"cannot write .*baselines.*json"):
        check.run_checks(update=True)


def test_a_place_that_takes_files_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "link").symlink_to("new")
    for path in ("old", "new", "link", "deep/er/new"):
        expect_file(tmp_path / path)
    for path in ("new", "deep/er", "."):
        expect_folder(tmp_path / path)
    assert {path.name for path in tmp_path.iterdir()} == {"old", "link"}
    assert (tmp_path / "old").read_text() == "old"
    with pytest.raises(UserError, match="exists already and is left alone"):
        expect_new_file(tmp_path / "old")


@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
def test_standard_output_that_takes_nothing_is_no_failed_check(redirection: str) -> None:
    line = " ".join(command("list", "machines"))
    done = subprocess.run(f"{line} {redirection}", shell=True, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 74
    assert done.stderr.startswith("memwalk: error: standard output")
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_enough_ends_the_program_quietly() -> None:
    line = " ".join(command("schema", "experiment"))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line} | head -1"], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode != 1
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
