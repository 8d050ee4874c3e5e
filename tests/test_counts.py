"""Counts mode gives what independent simulators count, on arrays, .npy files and traces alike."""

import csv
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from machines import THESIS
from oracles.address_traces import SHA256, TRACES, addresses, splitmix64
from oracles.counts.kernels import KERNELS
from oracles.textbook_cache import LOAD, PREFETCH, STORE, TextbookMachine
from typer.testing import CliRunner

from memwalk.analysis.cli.main import app
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

REFERENCES = Path(__file__).parent / "oracles" / "counts"


def references(name: str) -> dict[str, dict[str, str]]:
    """Rows of a reference file by trace."""
    with (REFERENCES / name).open(newline="") as file:
        return {row["trace"]: row for row in csv.DictReader(file)}


def misses(statistics: native.Statistics) -> list[int]:
    return [cache["misses"] for cache in statistics["caches"]]


def expected(row: dict[str, str]) -> list[int]:
    return [int(row[column]) for column in row if column.endswith("_misses")]


class ForgetfulWriteBacks(TextbookMachine):
    """As in pycachesim, a write-back that finds its line leaves the order of use alone: only loads renew it."""

    def write_back(self, number: int, address: int, size: int) -> None:
        cache = self.caches[number] if number < len(self.caches) else None
        line = address // THESIS["caches"][0]["line_bytes"]
        if cache and line in cache.sets[line % len(cache.sets)]:
            cache.dirty.add(line)
        else:
            super().write_back(number, address, size)


@pytest.fixture(scope="module")
def kernel_traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What the kernels do, recorded."""
    paths = {name: tmp_path_factory.mktemp(name) / "trace.parquet" for name in KERNELS}
    for name, path in paths.items():
        native.record(KERNELS[name], path)
    return paths


def accesses(path: Path) -> Iterable[tuple[int, int, int]]:
    """Kind, address and size of the accesses of a recorded kernel; kinds have one number in the file and in the textbook."""
    columns = pq.read_table(path, columns=["kind", "address", "size"]).columns
    for kind, address, size in zip(*(column.to_pylist() for column in columns), strict=True):
        if kind in (LOAD, STORE, PREFETCH):
            yield kind, address, size


@pytest.mark.parametrize("name", TRACES)
def test_pycachesim_counts_the_same_on_addresses(name: str) -> None:
    row = references("pycachesim.csv")[name]
    trace = addresses(name, int(row["accesses"]))
    assert misses(native.count(trace, THESIS)) == expected(row)


def test_whole_traces_have_one_reference() -> None:
    """`check_whole_traces.py` compares memwalk with these; pycachesim was run on them anew."""
    whole, agreed = references("pycachesim-whole.csv"), references("set-associative.csv")
    assert {name: expected(whole[name]) for name in TRACES} == {name: expected(agreed[name]) for name in TRACES}


@pytest.mark.parametrize("name", KERNELS)
def test_counts_mode_and_timing_mode_count_the_same_on_kernels(name: str, kernel_traces: dict[str, Path]) -> None:
    counted, timed = native.count(kernel_traces[name], THESIS), native.replay(kernel_traces[name], THESIS)
    for fast, slow in zip(counted["caches"], timed["caches"], strict=True):
        assert fast["hits"] == slow["hits"] + slow["merges"]
        assert fast["misses"] == slow["misses"]
        assert fast["write_backs"] == slow["write_backs"]


@pytest.mark.parametrize("name", KERNELS)
def test_pycachesim_counts_the_same_on_kernels_but_for_write_backs(name: str, kernel_traces: dict[str, Path]) -> None:
    """Its one difference is a rule, which the textbook hierarchy takes over: then all counts are equal, and without it ours are."""
    events = list(accesses(kernel_traces[name]))
    counted = misses(native.count(kernel_traces[name], THESIS))
    reference = expected(references("pycachesim.csv")[name])
    for rules, counts in ((TextbookMachine, counted), (ForgetfulWriteBacks, reference)):
        machine = rules(THESIS)
        machine.run(events)
        assert [cache.misses for cache in machine.caches] == counts
    assert counted[0] == reference[0]
    assert (counted == reference) == (name == "search")


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
        ([1, 2, 3], "addresses: a list; give a NumPy array"),
        ("trace.parquet", "addresses: a str; give a NumPy array"),
    ],
)
def test_what_is_no_array_of_addresses_is_refused(array: Any, message: str) -> None:
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


@pytest.mark.parametrize("options", [(), ("--sample", "auto"), ("--engine", "gem5")])
def test_an_array_in_time_says_which_mode_takes_it(options: tuple[str, ...], tmp_path: Path) -> None:
    np.save(tmp_path / "walks.npy", addresses("btree", 100))
    result = CliRunner().invoke(app, ["replay", str(tmp_path / "walks.npy"), "--machine", "thesis-simulator", *options])
    assert result.exit_code == 2
    assert "walks.npy: not a memwalk trace; --mode counts takes .npy of addresses, which have no time" in result.stderr


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
