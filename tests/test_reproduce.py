"""`memwalk reproduce` on a small paper: what it writes, prints and exits with."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from files import MACHINE, give_measures
from typer.testing import CliRunner, Result

from memwalk.analysis import reproduce as module
from memwalk.analysis.claims import Holds, Study, less, series, speedup
from memwalk.analysis.claims.report import CLASSES, claim_lines, span, summary, totals
from memwalk.analysis.cli.main import app
from memwalk.analysis.cost_models import NodeLayout
from memwalk.analysis.cost_models.search import levels
from memwalk.analysis.experiments.points import distinct_points
from memwalk.analysis.figures.load import load_papers
from memwalk.analysis.reproduce import figure_rows, machine_facts

PAPER = """\
schema_version: 1
id: small-paper
title: Small trees
source: made up for tests
bases:
  search:
    machine: small
    workload: {kernel: index, operation: search, operations: 40, keys: 3000, caches: empty}
    variants:
      B+: {workload.tree: {kind: b+, node_lines: 1, prefetch: false}}
      p8B+: {workload.tree: {kind: b+, node_lines: 8, prefetch: true}}
    grid: {workload.keys: [1000, 3000]}
    scales: {quick: {workload.keys: [500]}}
"""
FIGURE = """\
schema_version: 1
id: fig-1
title: Searches
where: Figure 1
experiments:
  search: {base: search, variants: [B+, p8B+]}
plots:
  - {kind: lines, title: Search, panel: search, x: workload.keys, y: cycles}
claims:
  - {id: levels, class: arithmetic, where: w, platform: analytic, metric: levels, unit: levels, published: {low: 4, high: 4}}
  - {id: impossible, class: result, where: w, platform: simulation, metric: speedup, unit: x, published: {low: 1000}, range: loose}
  - {id: unreadable, class: result, where: w, platform: simulation, metric: speedup, unit: x, published: unknown}
  - {id: compiled, class: result, where: w, platform: simulation, metric: time, unit: s, published: {low: 1}, needs: compiler}
  - {id: settled, class: calibration, where: w, platform: simulation, metric: speed, unit: x, published: {low: 1000}, calibrates: the core}
  - {id: faster, class: order, where: w, platform: simulation, metric: wide nodes are faster}
  - {id: faster-again, class: order, where: w, platform: simulation, metric: wide nodes are faster, repeats: faster}
"""


def wide_over_narrow(study: Study) -> "pd.Series[float]":
    return speedup(study["search"], "p8B+", over="B+")


def wide_is_faster(study: Study) -> Holds:
    return less(series(study["search"], "p8B+"), series(study["search"], "B+"))


MEASURES = {
    "levels": lambda _study: levels(NodeLayout("b+", 1), 1000),
    **dict.fromkeys(("impossible", "unreadable", "settled"), wide_over_narrow),
    **dict.fromkeys(("faster", "faster-again"), wide_is_faster),
}
SAME_POINTS = """\
schema_version: 1
id: fig-2
title: The same searches
where: Figure 2
experiments:
  again: {base: search, variants: [B+, p8B+]}
"""
KEYS = {
    "id", "figure", "class", "platform", "metric", "unit", "published_low", "published_high",
    "simulated_low", "simulated_high", "verdict", "agrees", "strict", "reason", "repeats", "calibrates",
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "configs" / "papers" / "small-paper"
    folder.mkdir(parents=True)
    (tmp_path / "configs" / "machines").mkdir()
    (tmp_path / "configs" / "machines" / "small.yaml").write_text(MACHINE)
    for name, text in (("paper", PAPER), ("fig-1", FIGURE), ("fig-2", SAME_POINTS)):
        (folder / f"{name}.yaml").write_text(text)
    monkeypatch.setenv("MEMWALK_CONFIGS", str(tmp_path / "configs"))
    monkeypatch.chdir(tmp_path)
    give_measures(monkeypatch, "small-paper", MEASURES)
    machine_facts.cache_clear()


def reproduce(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["reproduce", *arguments, "--jobs", "1"])


def claims(path: str) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in json.loads(Path(path).read_text())}


def test_a_figure_gets_its_files() -> None:
    assert reproduce("fig-1", "--out", "o").exit_code == 1
    folder = Path("o/small-paper/fig-1")
    assert {path.name for path in folder.iterdir()} == {
        "results.parquet", "breakdown.parquet", "figure.png", "figure.svg", "claims.json", "manifest.json",
    }  # fmt: skip
    assert pq.read_table(folder / "results.parquet").num_rows == 4
    assert json.loads((folder / "manifest.json").read_text())["end_reason"] == "completed"


def test_claims_are_judged() -> None:
    reproduce("fig-1", "--out", "o")
    found = claims("o/small-paper/fig-1/claims.json")
    assert all(set(claim) == KEYS for claim in found.values())
    assert {name: (claim["class"], claim["verdict"]) for name, claim in found.items()} == {
        "levels": ("arithmetic", "strict"),
        "impossible": ("result", "missed"),
        "unreadable": ("result", "not readable"),
        "compiled": ("result", "not simulated"),
        "settled": ("calibration", "missed"),
        "faster": ("order", "strict"),
        "faster-again": ("order", "strict"),
    }
    assert 0 < found["unreadable"]["simulated_low"] <= found["unreadable"]["simulated_high"]
    assert found["unreadable"]["published_low"] is None
    assert found["impossible"]["figure"] == "small-paper/fig-1"
    assert found["compiled"]["reason"] == "needs compiler"


def test_equal_points_of_figures_run_once() -> None:
    (figures,) = (paper.figures for paper in load_papers())
    rows = [row for figure in figures for row in figure_rows(figure, "paper")]
    assert (len(rows), len(distinct_points(rows))) == (8, 4)
    reproduce("small-paper", "--out", "o")
    assert len(list(Path("o/points").iterdir())) == 4


def test_a_paper_gets_all_its_claims() -> None:
    reproduce("small-paper", "--out", "o")
    assert claims("o/small-paper/claims.json") == claims("o/small-paper/fig-1/claims.json")
    assert claims("o/small-paper/fig-2/claims.json") == {}


def test_running_again_gives_the_same_claims_from_the_kept_points() -> None:
    reproduce("fig-1", "--out", "o")
    first = Path("o/small-paper/fig-1/claims.json").read_bytes(), Path("o/small-paper/fig-1/figure.svg").read_bytes()
    kept = {path: path.stat().st_mtime_ns for path in Path("o/points").iterdir()}
    reproduce("fig-1", "--out", "o")
    assert {path: path.stat().st_mtime_ns for path in Path("o/points").iterdir()} == kept
    assert first == (
        Path("o/small-paper/fig-1/claims.json").read_bytes(),
        Path("o/small-paper/fig-1/figure.svg").read_bytes(),
    )


def test_nobody_else_writes_into_a_folder_while_its_figures_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    second = []
    write_figure = module._write_figure

    def begin_again(*arguments: Any) -> Any:
        second.append(reproduce("fig-2", "--out", "o"))
        return write_figure(*arguments)

    monkeypatch.setattr(module, "_write_figure", begin_again)
    reproduce("fig-1", "--out", "o")
    assert [(run.exit_code, "o/points: another memwalk is writing here" in run.output) for run in second] == [(2, True)]
    assert not Path("o/small-paper/fig-2/results.parquet").exists()
    assert Path("o/small-paper/fig-1/results.parquet").exists()


def test_at_small_sizes_nothing_is_missed() -> None:
    quick = reproduce("fig-1", "--scale", "quick", "--out", "q")
    assert quick.exit_code == 0
    assert "Sizes are small" in quick.stdout
    assert "not judged: sizes are small" in quick.stdout
    assert "MISSED" not in quick.stdout
    assert pq.read_table("q/small-paper/fig-1/results.parquet").num_rows == 2
    full = reproduce("fig-1", "--out", "o")
    assert full.exit_code == 1
    assert "MISSED: no paragraph" in full.stdout


def test_at_small_sizes_not_even_a_figure_without_a_small_scale_is_missed() -> None:
    paper = Path("configs/papers/small-paper/paper.yaml")
    paper.write_text(paper.read_text().replace("    scales: {quick: {workload.keys: [500]}}\n", ""))
    quick = reproduce("fig-1", "--scale", "quick", "--out", "q")
    assert quick.exit_code == 0
    assert "Sizes are small" in quick.stdout
    assert "MISSED" not in quick.stdout


def test_classes_are_printed_apart_and_counted_once() -> None:
    shown = reproduce("fig-1", "--out", "o").stdout
    starts = [shown.index(title) for title in CLASSES.values() if title in shown]
    assert starts == sorted(starts)
    assert len(starts) == 4
    printed = json.loads(reproduce("fig-1", "--json", "--out", "o").stdout)
    assert [set(claim) for claim in printed["claims"]] == [KEYS] * 7
    none = {"simulated": 0, "strict": 0, "tolerant": 0, "missed": 0, "small_sizes": 0, "not_readable": 0, "not_simulated": 0, "repeats": 0}
    headline = none | {"simulated": 2, "strict": 1, "tolerant": 1, "missed": 1, "not_readable": 1, "not_simulated": 1, "repeats": 1}
    assert printed["summary"]["headline"] == {"all": headline}
    assert printed["summary"]["papers"] == {"small-paper": headline}
    assert printed["summary"]["platforms"] == {"simulation": headline}
    assert printed["summary"]["classes"]["arithmetic"] == none | {"simulated": 1, "strict": 1, "tolerant": 1}
    assert printed["summary"]["classes"]["calibration"] == none | {"simulated": 1, "missed": 1}


VERDICTS = Path("configs/papers/small-paper/verdicts.json")


def test_committed_verdicts_decide_and_are_written_on_request() -> None:
    first = reproduce("small-paper", "--out", "o")
    assert first.exit_code == 1
    assert "impossible: missed, and no verdicts are committed" in first.stderr
    assert reproduce("small-paper", "--out", "o", "--update-verdicts").exit_code == 0
    assert {name: entry["verdict"] for name, entry in json.loads(VERDICTS.read_text()).items()}["impossible"] == "missed"
    again = reproduce("small-paper", "--out", "o")
    assert again.exit_code == 0, "a miss that is known is no failure"
    assert "MISSED" in again.stdout


@pytest.mark.parametrize(("claim", "other"), [("impossible", "strict"), ("faster", "missed")])
def test_a_verdict_that_flips_either_way_fails_and_is_named(claim: str, other: str) -> None:
    reproduce("small-paper", "--out", "o", "--update-verdicts")
    committed = json.loads(VERDICTS.read_text())
    found = committed[claim]["verdict"]
    committed[claim]["verdict"] = other
    VERDICTS.write_text(json.dumps(committed))
    flipped = reproduce("fig-1", "--out", "o")
    assert flipped.exit_code == 1
    (line,) = [line for line in flipped.stderr.splitlines() if "verdict differs" in line]
    assert f"{claim}: {other} (" in line
    assert f"-> {found} (" in line
    assert json.loads(reproduce("fig-1", "--out", "o", "--json").stdout)["flipped"][0].startswith(f"{claim}: ")


def test_verdicts_of_small_sizes_are_not_written() -> None:
    refused = reproduce("fig-1", "--scale", "quick", "--update-verdicts", "--out", "q")
    assert refused.exit_code == 2
    assert "published sizes" in refused.stderr
    assert not VERDICTS.exists()


def test_an_unknown_figure_is_a_mistake() -> None:
    result = reproduce("fig-11")
    assert result.exit_code == 2
    assert "no figure or paper is called `fig-11`; did you mean `fig-1`?" in result.stderr
    assert not Path("out").exists()


def test_a_measure_that_does_not_fit_names_file_and_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = MEASURES | {"impossible": lambda study: speedup(study["search"], "p9B+", over="B+")}
    give_measures(monkeypatch, "small-paper", wrong)
    result = reproduce("fig-1", "--out", "o")
    assert result.exit_code == 2
    assert "fig-1.yaml: claim impossible: there is no point of `p9B+`; did you mean `p8B+`?" in result.stderr
    assert not Path("o/small-paper/fig-1/claims.json").exists()


def test_a_claim_without_a_measure_says_what_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    give_measures(monkeypatch, "small-paper", {name: one for name, one in MEASURES.items() if name != "levels"})
    result = reproduce("fig-1", "--out", "o")
    assert result.exit_code == 2
    assert "fig-1.yaml: claim levels: it has no measure" in result.stderr


def test_a_claim_that_repeats_what_is_not_there_is_a_mistake() -> None:
    path = Path("configs/papers/small-paper/fig-1.yaml")
    path.write_text(path.read_text().replace("repeats: faster", "repeats: fastest"))
    result = reproduce("fig-1", "--out", "o")
    assert result.exit_code == 2
    assert "fig-1.yaml: claim faster-again repeats `fastest`, which is no other claim; did you mean `faster`?" in result.stderr


def test_ranges_are_written_for_people() -> None:
    assert [span(1, 2), span(None, 2), span(2, None), span(2, 2.001), span(None, None), span(12345, 12345)] == [
        "1 to 2", "... to 2", "2 to ...", "2", "", "12345",
    ]  # fmt: skip
    assert summary([])["headline"]["all"]["simulated"] == 0
    assert totals([]) == {}
    assert claim_lines([]) == []
