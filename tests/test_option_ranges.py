"""Numbers that options cannot take: one line with the option, the value and the range, and exit code 2."""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from files import MACHINE, memwalk, write_experiment
from typer.testing import CliRunner

from memwalk.analysis.cli.main import COMMANDS, app
from memwalk.analysis.experiments.parameters import kernels
from memwalk.simcore import addresses
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

RECORD = "trace record experiment.yaml --scale quick --variant B+ --set workload.seed=1 -o t.parquet"
BEYOND = "99999999999999999999"


def numeric_options() -> Iterator[tuple[str, Any]]:
    """Gives every option of every command that takes a number, with what Typer knows of it."""
    for name, module in COMMANDS.items():
        for command in importlib.import_module(module).app.registered_commands:
            assert command.callback is not None
            hints = get_type_hints(command.callback, include_extras=True)
            for parameter in inspect.signature(command.callback).parameters:
                kind, *about = get_args(hints[parameter]) or (hints[parameter],)
                if {int, float} & {kind, *get_args(kind)}:
                    yield f"{name} {command.name or command.callback.__name__} {parameter}", about[0]


def test_every_number_that_an_option_takes_has_a_range() -> None:
    options = dict(numeric_options())
    assert len(options) >= 10
    assert not [name for name, option in options.items() if option.min is None or option.max is None]


@pytest.mark.parametrize(
    ("option", "kernel", "parameter"),
    [
        ("advise index keys", "disk-index", "keys"),
        ("advise index sample", "disk-index", "keys"),
        ("advise index range_", "disk-index", "range"),
        ("advise index key_bytes", "disk-index", "key_bytes"),
        ("advise index cores", "disk-index", "threads"),
        ("advise index skew", "disk-index", "skew"),
        ("advise join duplicates", "hash-join", "duplicates"),
        ("advise join cores", "hash-join", "threads"),
        ("advise join sample", "hash-join", "probe_tuples"),
    ],
)
def test_what_advice_takes_is_what_its_kernel_takes(option: str, kernel: str, parameter: str) -> None:
    taken, declared = dict(numeric_options())[option], kernels()[kernel].parameter(parameter).facts()
    assert taken.min >= declared["minimum"]
    assert taken.max == declared["maximum"]
    assert not declared["names"] or declared["values"] in taken.help


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranges")
    write_experiment(folder)
    made = memwalk(*RECORD.split(), cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder / "t.parquet"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("curve TRACE --line -64", ("--line", "`-64`", "the least is 2")),
        ("curve TRACE --line 3", ("--line", "3 bytes", "power of two from 2 to 1073741824")),
        ("curve TRACE --line 9223372036854775808", ("--line", "`9223372036854775808`", "the most is 1073741824")),
        ("curve TRACE --line nan", ("--line", "`nan` is not a whole number")),
        ("curve TRACE --sets 0", ("--sets", "`0`", "the least is 1")),
        (f"curve TRACE --sets {BEYOND}", ("--sets", BEYOND, "the most is 16777216")),
        ("curve TRACE --shards 0.01", ("--shards 0.01", "none of the 190 accesses", "leave it out")),
        ("curve TRACE --shards 0.01 --sizes 4KiB", ("--shards 0.01", "none of the 190 accesses")),
        ("curve TRACE --shards 0.05 --sizes 640B", ("--shards 0.05", "stands for 20", "leave it out")),
        ("curve TRACE --shards 1e-300", ("--shards", "`1e-300`", "the least is 1e-10")),
        ("curve TRACE --shards nan", ("--shards", "`nan` is not a number")),
        ("curve TRACE --shards=-NaN", ("--shards", "`-NaN` is not a number")),
        ("curve TRACE --shards -inf", ("--shards", "`-inf`", "the least is 1e-10")),
        ("curve TRACE --shards-lines -1", ("--shards-lines", "`-1`", "the least is 8")),
        (f"curve TRACE --shards-lines {BEYOND}", ("--shards-lines", BEYOND, "the most is")),
        ("curve TRACE --sizes 9223372036854775808B", ("--sizes", "9223372036854775808B", "write a smaller one")),
        (f"trace head TRACE -n {BEYOND}", ("--count", BEYOND, "the most is")),
        ("trace head TRACE -n 0", ("--count", "`0`", "the least is 1")),
        ("replay TRACE --machine thesis-simulator --sample ²:0:5", ("--sample ²:0:5", "UNIT:WARMUP:PERIOD")),
        (f"replay TRACE --machine thesis-simulator --sample 1:1:{BEYOND}", ("--sample", BEYOND, "the most is 9223372036854775807")),
        (f"replay TRACE --machine thesis-simulator --from {'9' * 5000}", ("--from", "a number of events such as")),
        ("replay TRACE --machine thesis-simulator --until -1", ("--until -1", "a number of events such as")),
        ("trace import x.din --segment heap=-1:4KiB -o x.parquet", ("--segment heap=-1:4KiB", "`-1` is no address", "heap=0x4a00000")),
        (f"trace import x.din --segment heap={2**64}:4KiB -o x.parquet", ("--segment", "is no address", "0xffffffffffffffff")),
        ("trace import x.din --segment heap=²:4KiB -o x.parquet", ("--segment", "`²` is no address")),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_told_in_one_line(trace: Path, command: str, names: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, command.replace("TRACE", str(trace)).split())
    assert done.exit_code == 2, done.output
    assert len(done.stderr.splitlines()) == 1
    for name in names:
        assert name in done.stderr


def test_a_sample_with_no_power_of_two_is_printed(trace: Path) -> None:
    done = CliRunner().invoke(app, ["curve", str(trace), "--shards", "0.1"])
    assert done.exit_code == 0, done.output
    assert "5824 B" in done.stdout


HEADER = b"{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"
NUMBERS = np.arange(3, dtype="<u8").tobytes()


def npy(header: bytes, numbers: bytes = NUMBERS) -> bytes:
    """A file of version 1 with this header."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + numbers


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (npy(HEADER, NUMBERS[:-1]), "holds 2 of the 3 addresses"),
        (npy(HEADER.replace(b"(3,)", b"(10000000000000000000000,)")), "holds 3 of the 10,000,000,000,000,000,000,000"),
        (npy(HEADER)[:40], "does not begin with a header"),
        (npy(HEADER.replace(b"(3,)", b"(-3,)")), "has no shape"),
        (npy(HEADER.replace(b"(3,)", b"(True,)")), "has no shape"),
        (npy(HEADER.replace(b"'<u8'", b"'<u3'")), "an array of something"),
        (npy(HEADER.replace(b"'<u8'", b"'|O'")), "an array of object"),
        (npy(HEADER.replace(b"'<u8'", b"[('a', '<u8')]")), "an array of records"),
        (npy(HEADER.replace(b"'<u8'", b"'\xff\xff,('")), "an array of something"),
        (npy(HEADER.replace(b"}", b"\x00")), "header cannot be read"),
        (npy(b"(" * 20000), "header cannot be read"),
        (npy(b"5"), "header cannot be read"),
        (npy(b""), "does not begin with a header"),
        (b"\x93NUMPY\x09\x00" + npy(HEADER)[8:], "does not begin with a header"),
        (b"\x93NUMPY\x03\x00\xff\xff\xff\xff" + HEADER, "does not begin with a header"),
    ],
)
def test_a_damaged_npy_is_told_in_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    done = CliRunner().invoke(app, ["curve", str(path)])
    assert done.exit_code == 2, done.output
    assert len(done.stderr.splitlines()) == 1
    assert str(path) in done.stderr
    assert says in done.stderr


@pytest.mark.parametrize("kind", ["<u8", ">u8", "<i4", "|u1"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_npy_of_whole_numbers_is_read(tmp_path: Path, kind: str, version: tuple[int, int]) -> None:
    array = np.arange(0, 120, 7).astype(kind)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    assert list(native.miss_curve(tmp_path / "a.npy", 64)) == list(native.miss_curve(array, 64))


def test_a_npy_that_is_cut_while_it_is_read_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapped file would end the process with SIGBUS."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(1 << 20, dtype=np.uint64))
    monkeypatch.setattr(addresses, "_PIECE", 1 << 14)
    cuts = addresses.read_npy

    def cut_after_a_while(path: Path) -> Iterator[addresses.Addresses]:
        for number, piece in enumerate(cuts(path)):
            if number == 3:
                with path.open("r+b") as file:
                    file.truncate(128)
            yield piece

    monkeypatch.setattr(native, "read_npy", cut_after_a_while)
    with pytest.raises(UserError, match=r"a\.npy: was cut to [0-9,]+ of its 1,048,576 addresses"):
        native.miss_curve(path, 64)


def test_a_negative_address_far_into_a_npy_is_told(tmp_path: Path) -> None:
    array = np.zeros(1 << 19, dtype=np.int64)
    array[-1] = -5
    np.save(tmp_path / "a.npy", array)
    (tmp_path / "m.yaml").write_text(MACHINE)
    done = CliRunner().invoke(app, ["replay", str(tmp_path / "a.npy"), "--machine", str(tmp_path / "m.yaml"), "--mode", "counts"])
    assert done.exit_code == 2
    assert "holds the negative address -5" in done.stderr
