"""Counts mode gives what independent simulators count, on arrays, .npy files and traces alike."""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from oracles.address_traces import SHA256, TRACES, addresses, splitmix64
from oracles.counts.kernels import KERNELS
from typer.testing import CliRunner

from analysis.cli.main import app
from simcore.engines import native
from simcore.errors import UserError
from simcore.machine import load_machine

REFERENCES = Path(__file__).parent / "oracles" / "counts"
THESIS = load_machine("thesis-simulator").native_json()


def references(name: str) -> dict[str, dict[str, str]]:
    """Rows of a reference file by trace."""
    with (REFERENCES / name).open(newline="") as file:
        return {row["trace"]: row for row in csv.DictReader(file)}


def misses(statistics: native.Statistics) -> list[int]:
    return [cache["misses"] for cache in statistics["caches"]]


def expected(row: dict[str, str]) -> list[int]:
    return [int(row[column]) for column in row if column.endswith("_misses")]


@pytest.mark.parametrize("name", TRACES)
def test_pycachesim_counts_the_same_on_addresses(name: str) -> None:
    row = references("pycachesim.csv")[name]
    trace = addresses(name, int(row["accesses"]))
    assert misses(native.count(trace, THESIS)) == expected(row)


@pytest.mark.parametrize("name", KERNELS)
def test_pycachesim_counts_the_same_on_kernels(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    native.record(KERNELS[name], path)
    counted = native.count(path, THESIS)
    first, *others = expected(references("pycachesim.csv")[name])
    assert misses(counted)[0] == first
    # The insertions write, and pycachesim treats lines that are written back otherwise.
    assert misses(counted)[1:] == (others if name == "search" else pytest.approx(others, rel=0.002))
    timed = native.replay(path, THESIS)
    for fast, slow in zip(counted["caches"], timed["caches"], strict=True):
        assert fast["hits"] == slow["hits"] + slow["merges"]
        assert fast["misses"] == slow["misses"]
        assert fast["write_backs"] == slow["write_backs"]


def test_cachegrind_counts_nearly_the_same_on_a_native_program() -> None:
    """Cachegrind sees the whole program, of which the reference leaves out all but the loop: a few lines differ."""
    row = references("cachegrind.csv")["skewed_reads"]
    count = int(row["accesses"])
    lines = splitmix64(5, count) % np.uint64(1 << 20) >> splitmix64(6, count) % np.uint64(20)
    machine = json.loads(json.dumps(THESIS))
    del machine["caches"][1]
    counted = misses(native.count(lines * np.uint64(64), machine))
    assert counted == pytest.approx(expected(row), rel=0.001)


def test_the_traces_are_those_that_other_simulators_ran() -> None:
    """The cheapest of the four whole; `check_whole_traces.py` checks all."""
    assert hashlib.sha256(addresses("seq").astype("<u8").tobytes()).hexdigest() == SHA256["seq"]


def test_a_npy_file_counts_like_its_array(tmp_path: Path) -> None:
    trace = addresses("btree", 100_000)
    np.save(tmp_path / "walks.npy", trace)
    assert native.count(tmp_path / "walks.npy", THESIS) == native.count(trace, THESIS)
    assert native.count(trace.astype(np.int64), THESIS) == native.count(trace, THESIS)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 2), dtype=np.uint64), "one dimension"),
        (np.zeros(3), "float64"),
        (np.array([5, -1]), "negative address -1"),
    ],
)
def test_arrays_of_something_else_are_refused(array: np.ndarray, message: str) -> None:
    with pytest.raises(UserError, match=message):
        native.count(array, THESIS)


@pytest.mark.parametrize(
    ("content", "message"), [(None, "check the path"), (b"", "not a whole .npy"), (b"\x93NUMPY\x01\x00", "not a whole .npy")]
)
def test_files_of_something_else_are_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "bad.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        native.count(path, THESIS)


def test_the_command_prints_counts(tmp_path: Path) -> None:
    np.save(tmp_path / "walks.npy", addresses("btree", 10_000))
    command = ["replay", str(tmp_path / "walks.npy"), "--machine", "thesis-simulator", "--mode", "counts"]
    result = CliRunner().invoke(app, [*command, "--json"])
    assert result.exit_code == 0, result.output
    counted = json.loads(result.stdout)
    assert counted["caches"][0]["accesses"] == 10_000
    text = CliRunner().invoke(app, command)
    assert text.exit_code == 0
    assert "write_backs" in text.stdout
