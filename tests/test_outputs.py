"""Files that commands write: what has their name already, and standard output that cannot take what is printed."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from files import command, environment, memwalk, write_experiment

from memwalk.simcore.errors import UserError
from memwalk.simcore.files import write_atomically
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


def test_a_longer_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="File name too long"):
        write_atomically(tmp_path / ("n" * 256), b"content")


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
