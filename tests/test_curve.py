"""Miss curves from one pass: exact, sampled and classified, from Python and from the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracles.address_traces import addresses
from typer.testing import CliRunner

from memwalk.analysis.capacities import Geometry
from memwalk.analysis.cli.main import app
from memwalk.analysis.figures.distribution import draw_distributions
from memwalk.analysis.figures.draw import image
from memwalk.analysis.traces import curves
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

ACCESSES = 200_000


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("curve") / "zipf.npy"
    np.save(path, addresses("zipf", ACCESSES))
    return path


def run(*arguments: object) -> dict[str, object]:
    result = CliRunner().invoke(app, ["curve", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    tree: dict[str, object] = json.loads(result.stdout)
    return tree


def test_every_capacity_is_a_cache_of_its_own(trace: Path) -> None:
    misses = native.miss_curve(trace, 64, sets=16)
    machine = load_machine("thesis-simulator").native()
    machine["caches"] = machine["caches"][:1]
    for ways in (1, 2, 3, 4, 7, 8, 16, 100):
        machine["caches"][0] |= {"ways": ways, "size_bytes": ways * 16 * 64}
        assert native.count(trace, machine)["caches"][0]["misses"] == misses[ways]
    assert misses[0] == ACCESSES
    assert misses[-1] == len(np.unique(addresses("zipf", ACCESSES) // 64))


def test_chosen_sizes_are_the_rows(trace: Path) -> None:
    rows = run(trace, "--sizes", "16KiB,2MiB")["exact"]
    misses = native.miss_curve(trace, 64)
    assert rows == [
        {"capacity_bytes": size, "ways": size // 64, "misses": int(misses[size // 64]), "miss_ratio": misses[size // 64] / ACCESSES}
        for size in (2**14, 2**21)
    ]


def test_an_estimate_is_near_and_says_so(trace: Path) -> None:
    result = run(trace, "--shards", "0.2", "--against-exact", "--sizes", "64KiB,256KiB,1MiB")
    assert isinstance(result["error"], dict)
    assert 0 < result["error"]["largest"] < 0.1
    unchosen = run(trace, "--shards", "0.2", "--against-exact")
    assert [row["ways"] for row in unchosen["sample"]] == [row["ways"] for row in unchosen["exact"]]
    off = [abs(one["miss_ratio"] - other["miss_ratio"]) for one, other in zip(unchosen["sample"], unchosen["exact"], strict=True)]
    assert unchosen["error"] == {"mean_absolute": pytest.approx(np.mean(off)), "largest": max(off)}
    few = run(trace, "--shards-lines", "4096", "--sizes", "64KiB")
    assert few["sample"][0]["standard_error"] > 0


def test_tables_and_figure_are_written(trace: Path, tmp_path: Path) -> None:
    result = run(trace, "--classify", "thesis-simulator", "-o", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("curve.parquet", "curve.csv", "curve.png", "curve.svg", "classes.parquet", "classes.csv"),
    }
    table = pd.read_parquet(tmp_path / "curve.parquet")
    assert table.to_dict("records") == result["exact"]
    assert (np.diff(table["misses"]) <= 0).all()
    assert "MiB" in (tmp_path / "curve.svg").read_text()
    machine = load_machine("thesis-simulator").native()
    machine["caches"] = machine["caches"][:1]
    first = pd.read_csv(tmp_path / "classes.csv").iloc[0]
    assert first["compulsory"] + first["capacity"] + first["conflict"] == native.count(trace, machine)["caches"][0]["misses"]
    assert first["compulsory"] + first["capacity"] + first["spared"] == native.miss_curve(trace, 64)[256]


def test_a_name_with_dollars_is_drawn_as_written(trace: Path, tmp_path: Path) -> None:
    """Between dollars matplotlib reads mathematics, and this is none."""
    named = tmp_path / r"a$\frac$b.npy"
    named.write_bytes(trace.read_bytes())
    run(named, "-o", tmp_path / "out")
    assert r"a$\frac$b.npy" in (tmp_path / "out" / "curve.svg").read_text()
    steps = pd.DataFrame({"response_ms": [1.0, 2.0], "share": [0.5, 1.0]})
    assert rb"b$\frac$c" in image(draw_distributions(r"b$\frac$c", {"all": steps}), "svg")


def test_an_empty_trace_has_a_curve() -> None:
    table = curves.exact(np.array([], dtype=np.uint64), Geometry(64))
    assert table["misses"].tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--line", "48"], "--line: 48 bytes are no power of two"),
        (["--sets", "0"], "'--sets': `0` is too small; the least is 1"),
        (["--sizes", "100B"], "no multiple of 64 (line x sets); the nearest: 64 or 128"),
        (["--sizes", "0B"], "no multiple of 64 (line x sets); the nearest: 64"),
        (["--sizes", "16"], "has no unit"),
        (["--sizes", "1KiB,1024B"], "--sizes 1KiB,1024B: a size is named twice; keep one"),
        (["--shards", "2"], "'--shards': `2` is too large; the most is 1"),
        (["--shards", "0.1", "--shards-lines", "100"], "give one of them"),
        (["--shards", "0.1", "--sets", "4"], "leave --sets out"),
        (["--against-exact"], "add --shards"),
    ],
)
def test_mistakes_take_one_line(trace: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["curve", str(trace), *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
