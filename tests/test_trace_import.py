"""`memwalk trace import`: the documented examples, pipes, mistakes and Ctrl-C."""

import json
import re
import shlex
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from files import MACHINE, ROOT, command, environment, memwalk

from memwalk.simcore.engines import native

SAMPLES = ROOT / "traces" / "samples" / "import"
PAGE = (ROOT / "docs" / "trace-formats.md").read_text()
EXAMPLES = [line for line in PAGE.splitlines() if line.startswith("memwalk trace import traces/samples/")]


def imported(*arguments: str | Path, output: Path) -> Any:
    done = memwalk("trace", "import", *arguments, "-o", output, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_format_is_documented_with_an_example() -> None:
    formats = {about["name"] for about in native.import_formats()}
    assert formats == {match for line in EXAMPLES for match in re.findall(r"--format (\S+)", line)}
    assert formats <= set(re.findall(r"^\| `(\S+)`", PAGE, re.MULTILINE))


@pytest.mark.parametrize("example", EXAMPLES)
def test_documented_examples_make_valid_traces(example: str, tmp_path: Path) -> None:
    words = shlex.split(example)
    options = {word.removeprefix("--"): value for word, value in pairwise(words) if word.startswith("--")}
    path = tmp_path / "t.parquet"
    report = native.import_trace(str(ROOT / words[3]), path, options)
    description = native.trace_info(path)["workload"]["imported"]
    assert description == {key: value for key, value in report.items() if key != "trace"}
    assert description["format"] == options["format"]
    assert native.trace_check(path)["summary"]["events"] >= description["accesses"] > 0


def test_a_trace_comes_through_a_pipe_and_replays(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(MACHINE)
    run = command("trace", "import", "-", "-o", tmp_path / "t.parquet", "--segment", "stack=0x1ffef00000:1MiB", "--json")
    trace = (SAMPLES / "lackey.txt").read_bytes()
    piped = subprocess.run(run, input=trace, env=environment(), capture_output=True, check=True)
    report = json.loads(piped.stdout)
    assert (report["format"], report["file"], report["lines"], report["accesses"]) == ("lackey", "<stdin>", 12, 5)
    done = memwalk("replay", tmp_path / "t.parquet", "--machine", tmp_path / "small.yaml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["instructions"] == report["trace"]["instructions"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SAMPLES / "din.din", "--format", "lackei"), "--format lackei: no such format; did you mean `lackey`?"),
        ((SAMPLES / "din.din", "--format", "pinatrace"), "din.din:1: not three words: `2 400000`; pinatrace is"),
        ((SAMPLES / "din.din", "--segment", "heap=10"), "--segment heap=10: "),
        ((SAMPLES / "missing", "--format", "din"), "missing: No such file or directory (os error 2); check the path"),
        ((SAMPLES, "--format", "din"), "it is a directory"),
        ((SAMPLES / "regex.log", "--format", "regex"), "the format regex needs --pattern"),
    ],
)
def test_mistakes_are_told_in_one_line_and_leave_no_file(arguments: tuple[str | Path, ...], message: str, tmp_path: Path) -> None:
    done = memwalk("trace", "import", *arguments, "-o", tmp_path / "t.parquet")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_text("mine")
    done = memwalk("trace", "import", SAMPLES / "din.din", "--format", "din", "-o", path)
    assert done.returncode == 2
    assert "exists already and is left alone" in done.stderr
    assert path.read_text() == "mine"


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    run = command("trace", "import", "-", "--format", "din", "-o", tmp_path / "t.parquet")
    with subprocess.Popen(run, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdin is not None
        process.stdin.write(b"0 1000\n" * 100_000)  # more than a pipe holds: the import has begun
        process.stdin.flush()
        time.sleep(2)  # by then it waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert not list(tmp_path.iterdir())


def test_numbers_of_imported_columns_are_those_of_the_sample(tmp_path: Path) -> None:
    report = imported(SAMPLES / "csv.csv", "--format", "csv", "--column", "address", output=tmp_path / "t.parquet")
    assert report["accesses"] == 3
    head = native.trace_head(tmp_path / "t.parquet", 3)
    assert [event["address"] for event in head] == [4096, 1 << 63, (1 << 64) - 1]
