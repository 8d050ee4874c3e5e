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

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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


def test_documented_examples_can_be_run_one_after_another() -> None:
    outputs = [shlex.split(example)[-1] for example in EXAMPLES]
    assert len(set(outputs)) == len(outputs)  # an import leaves a file that exists alone


@pytest.mark.parametrize("example", EXAMPLES)
def test_documented_examples_make_valid_traces(example: str, tmp_path: Path) -> None:
    words = shlex.split(example)
    options = {word.removeprefix("--"): value for word, value in pairwise(words) if word.startswith("--")}
    path = tmp_path / "t.parquet"
    report = native.import_trace([str(ROOT / words[3])], path, options)
    description = native.trace_info(path)["workload"]["imported"]
    assert description == {key: value for key, value in report.items() if key != "trace"}
    assert description["format"] == options["format"]
    assert native.trace_check(path)["summary"]["events"] >= description["accesses"] > 0


@pytest.mark.parametrize(
    ("name", "at_export", "at_import"),
    [
        ("dramsim", "dramsim3", "dramsim"),
        ("dramsim3", "dramsim3", "dramsim"),
        ("ramulator1", "ramulator1", "ramulator"),
        ("ramulator2", "ramulator", "ramulator2"),
        ("din", "din", "din"),
    ],
)
def test_a_format_has_one_name_at_export_and_import(name: str, at_export: str, at_import: str, tmp_path: Path) -> None:
    """Each command takes the other's names, too, so that what one writes under a name the other reads under it."""
    native.record({"kernel": "pointer-chase", "lines": 50, "tlb": "cold"}, tmp_path / "t.parquet")
    done = memwalk("trace", "export", "t.parquet", "--format", name, "-o", "theirs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"as {at_export}\n" in done.stdout
    assert imported(tmp_path / "theirs", "--format", name, output=tmp_path / "back.parquet")["format"] == at_import


def test_a_name_of_two_formats_stays_that_of_the_command(tmp_path: Path) -> None:
    native.record({"kernel": "pointer-chase", "lines": 50, "tlb": "cold"}, tmp_path / "t.parquet")
    for name in ("ramulator1", "ramulator"):
        assert memwalk("trace", "export", "t.parquet", "--format", name, "-o", name, cwd=tmp_path).returncode == 0
    assert imported(tmp_path / "ramulator1", "--format", "ramulator", output=tmp_path / "1.parquet")["format"] == "ramulator"
    done = memwalk("trace", "import", "ramulator", "--format", "ramulator", "-o", "2.parquet", cwd=tmp_path)
    assert done.returncode == 2
    done = memwalk("trace", "export", "t.parquet", "--format", "dinero", "-o", "dinero", cwd=tmp_path)
    assert "--format dinero: did you mean `din`?" in done.stderr, "import calls another format so, and its own `din` as well"


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
        (
            (SAMPLES / "din.din", "--column", "1"),
            "--column: has no effect on a trace of the format din: it is for csv, parquet; leave it out",
        ),
        ((SAMPLES / "npy.npy", "--instructions", "fetch"), "--instructions fetch: has no effect on a trace of the format npy"),
        ((SAMPLES / "npy.npy", "--pattern", "x"), "--pattern: has no effect on a trace of the format npy: it is for regex; leave it out"),
        (
            (SAMPLES / "din.din", "--segment", "a=0:64B", "--segment", "b=32:64B"),
            "--segment b: its 64 bytes at 0x20 overlap those of --segment a",
        ),
        ((SAMPLES / "din.din", "--segment", "a=0:0B"), "--segment a: a segment of 0 bytes"),
        ((SAMPLES / "din.din", "--segment", "(none)=0:8B"), "--segment (none): `(none)` is what results call memory without a name"),
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
        time.sleep(0.3)  # by then it waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert not list(tmp_path.iterdir())


def test_numbers_of_imported_columns_are_those_of_the_sample(tmp_path: Path) -> None:
    report = imported(SAMPLES / "csv.csv", "--format", "csv", "--column", "address", output=tmp_path / "t.parquet")
    assert report["accesses"] == 3
    head = native.trace_head(tmp_path / "t.parquet", 3)
    assert [event["address"] for event in head] == [4096, 1 << 63, (1 << 64) - 1]


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_parquet_is_read_in_every_compression_that_pyarrow_writes(compression: str, tmp_path: Path) -> None:
    addresses = [64 * (number % 1000) for number in range(10_000)]
    for version in ("1.0", "2.0"):
        path = tmp_path / f"{version}.parquet"
        pq.write_table(pa.table({"address": pa.array(addresses, pa.uint64())}), path, compression=compression, data_page_version=version)
        assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == {"none": "UNCOMPRESSED"}.get(
            compression, compression.upper()
        )
        native.import_trace([str(path)], tmp_path / f"t{version}", {})
        head = native.trace_head(tmp_path / f"t{version}", len(addresses))
        assert [event["address"] for event in head] == addresses


def test_what_pandas_writes_is_read(tmp_path: Path) -> None:
    pd.DataFrame({"time": [1.5, 2.5], "address": [4096, 8192]}).to_parquet(tmp_path / "a.parquet")
    assert imported(tmp_path / "a.parquet", output=tmp_path / "t.parquet")["accesses"] == 2


@pytest.mark.parametrize("kind", [pa.int64(), pa.int32()])
def test_negative_numbers_are_no_addresses(kind: pa.DataType, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"address": pa.array([4096, 64, -64, 64], kind)}), path)
    done = memwalk("trace", "import", path, "-o", tmp_path / "t.parquet")
    assert done.returncode == 2
    assert f"{path}: row 2: `-64` is no address: it is negative; store addresses beyond 2^63 as uint64" in done.stderr
    pq.write_table(pa.table({"address": pa.array([2**31], pa.uint32())}), path)
    imported(path, output=tmp_path / "t.parquet")
    assert native.trace_head(tmp_path / "t.parquet", 1)[0]["address"] == 2**31
