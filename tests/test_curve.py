"""Miss curves from one pass: exact, sampled and classified, from Python and from the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracles.address_traces import addresses
from typer.testing import CliRunner

from memwalk.analysis.capacities import Geometry
from memwalk.analysis.cli import results_folder
from memwalk.analysis.cli.main import app
from memwalk.analysis.figures.curve import draw_curves
from memwalk.analysis.figures.distribution import draw_distributions
from memwalk.analysis.figures.draw import image
from memwalk.analysis.traces import curves
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import write_atomically
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


def refusal(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["curve", *map(str, arguments)])
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


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


def test_of_caches_that_a_sample_is_too_small_for_nothing_is_said(trace: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Below a line of each of its eight parts, all of these say the same."""
    unchosen = curves.sampled(trace, Geometry(64), rate=0.25)
    assert unchosen["ways"].min() == 32
    assert not caplog.records
    chosen = curves.sampled(trace, Geometry(64), [64, 31 * 64, 32 * 64], rate=0.25)
    assert chosen["ways"].tolist() == [32]
    assert "--shards 0.25: nothing is known of 64 B, 1984 B: a line of the sample stands for 4" in caplog.text
    with pytest.raises(UserError, match="a line of the sample stands for 4"):
        curves.sampled(trace, Geometry(64), [64], rate=0.25)
    assert curves.sampled(trace, Geometry(64), [64], rate=1)["ways"].tolist() == [1], "all lines are in it"


def test_a_sample_is_a_share_or_a_number() -> None:
    for both in ({}, {"rate": 0.5, "lines": 8}):
        with pytest.raises(UserError, match="give one of them"):
            native.sampled_curve(np.zeros(1, dtype=np.uint64), 64, [1], **both)  # type: ignore[arg-type]


def test_every_curve_is_in_the_legend_as_written() -> None:
    table = curves.exact(np.arange(100, dtype=np.uint64) * 64, Geometry(64))
    legend = draw_curves("curves", {"_a$b$c": table, "b": table}).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [r"_a\$b\$c", "b"]
    with pytest.raises(UserError, match="there is no curve to draw; give one at least"):
        draw_curves("curves", {})


@pytest.mark.parametrize("size", [-64, -1, 0])
def test_caches_have_sizes(size: int) -> None:
    with pytest.raises(UserError, match=f"{size} bytes are no multiple of 64 .*; the nearest: 64"):
        Geometry(64).ways([size])


def test_no_sizes_are_no_rows() -> None:
    assert curves.exact(np.arange(100, dtype=np.uint64) * 64, Geometry(64), []).empty


def test_tables_and_figure_are_written(trace: Path, tmp_path: Path) -> None:
    result = run(trace, "--classify", "thesis-simulator", "-o", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("curve.parquet", "curve.csv", "curve.png", "curve.svg", "classes.parquet", "classes.csv", "manifest.json"),
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


def test_a_folder_holds_the_curves_of_one_question(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(trace, "--sizes", "16KiB", "-o", out)
    assert run(trace, "--sizes", "16KiB", "-o", out) == first, "the same is asked again"
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    other = tmp_path / "other.npy"
    np.save(other, addresses("zipf", 100))
    for arguments in ((other, "--sizes", "16KiB"), (trace,), (trace, "--sizes", "16KiB", "--line", "32")):
        assert "holds the results of another configuration (curve" in refusal(*arguments, "-o", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("theirs", ["results.parquet", "curve.parquet", "curve.svg", "classes.csv"])
def test_results_of_others_are_left_alone(trace: Path, tmp_path: Path, theirs: str) -> None:
    (tmp_path / theirs).write_text("theirs")
    assert "choose another folder" in refusal(trace, "-o", tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["theirs"]


def test_curves_that_were_stopped_leave_room_for_others(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written before the stop has no part in what is written then."""

    def stop(path: Path, content: bytes) -> None:
        if path.name == "curve.png":
            raise KeyboardInterrupt
        write_atomically(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(results_folder, "write_atomically", stop)
        stopped = CliRunner().invoke(app, ["curve", str(trace), "--classify", "thesis-simulator", "-o", str(tmp_path)])
        assert stopped.exit_code != 0
    assert (tmp_path / "classes.csv").exists()
    run(trace, "--sizes", "16KiB", "-o", tmp_path)
    assert not (tmp_path / "classes.csv").exists()
    assert json.loads((tmp_path / "manifest.json").read_text())["end_reason"] == "completed"


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
