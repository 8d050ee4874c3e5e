"""`memwalk check`: what counts as drift, and how it is reported."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from files import MACHINE
from papers import every_paper
from test_reproduce import FIGURE, PAPER
from typer.testing import CliRunner

import memwalk.analysis.check
from memwalk.analysis.baselines import load_baselines
from memwalk.analysis.check import _study_rows, junit, run_checks
from memwalk.analysis.cli.main import app
from memwalk.analysis.figures.load import find_figures
from memwalk.analysis.model_checks import STUDIES, Check
from memwalk.analysis.model_checks.comparison import is_best
from memwalk.analysis.reproduce import machine_facts
from memwalk.simcore.errors import UserError

BASELINE = '{"schema_version": 1, "figures": ["fig-1"], "scale": "quick", "points": {}}'


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper with one figure, whose points at scale quick are the baseline; no cost models are compared."""
    folder = tmp_path / "papers" / "small-paper"
    for path in (folder, tmp_path / "machines", tmp_path / "baselines"):
        path.mkdir(parents=True)
    (tmp_path / "machines" / "small.yaml").write_text(MACHINE)
    (folder / "paper.yaml").write_text(PAPER)
    (folder / "fig-1.yaml").write_text(FIGURE)
    (tmp_path / "baselines" / "b.json").write_text(BASELINE)
    monkeypatch.setenv("MEMWALK_CONFIGS", str(tmp_path))
    monkeypatch.setattr(memwalk.analysis.check, "STUDIES", ())
    machine_facts.cache_clear()
    return tmp_path / "baselines" / "b.json"


@pytest.mark.parametrize(
    ("expected", "found", "tolerance", "passed"),
    [
        (100, 100, 0, True),
        (100, 101, 0, False),
        (100, 115, 0.15, True),
        (100, 84, 0.15, False),
        (None, 1, 0, False),
        (1, None, 0, False),
    ],
)
def test_a_check_passes_within_its_tolerance(expected: float | None, found: float | None, tolerance: float, passed: bool) -> None:
    assert Check("g", "n", expected, found, tolerance).passed is passed


def test_update_stores_what_later_runs_must_give(baseline: Path) -> None:
    assert [(check.expected, check.passed) for check in run_checks(1)] == [(None, False)] * 2
    assert all(check.passed for check in run_checks(1, update=True))
    stored = json.loads(baseline.read_text())
    assert list(stored["points"]) == ["fig-1 / search / B+ / keys=500", "fig-1 / search / p8B+ / keys=500"]
    assert all(check.passed for check in run_checks(1))


def test_the_engine_gives_what_the_committed_baselines_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference is a change of results: explain it in the commit that stores it (``memwalk check --update``)."""
    monkeypatch.setattr(memwalk.analysis.check, "STUDIES", ())
    monkeypatch.setattr(memwalk.analysis.check, "load_papers", every_paper)
    machine_facts.cache_clear()
    drifted = [(check.name, check.expected, check.found) for check in run_checks(1) if not check.passed]
    assert not drifted


def test_a_changed_machine_shows_as_drift(baseline: Path) -> None:
    run_checks(1, update=True)
    machine = baseline.parents[1] / "machines" / "small.yaml"
    machine.write_text(MACHINE.replace("latency_cycles: 150ns", "latency_cycles: 151ns"))
    result = CliRunner().invoke(app, ["check", "--jobs", "1", "--junit", str(baseline.parent / "check.xml")])
    assert result.exit_code == 1
    assert "fig-1 / search / B+ / keys=500" in result.stdout
    suite = ET.parse(baseline.parent / "check.xml").getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("baseline b", "2", "2")


def test_no_drift_exits_with_zero(baseline: Path) -> None:
    assert CliRunner().invoke(app, ["check", "--jobs", "1", "--update"]).exit_code == 0
    result = CliRunner().invoke(app, ["check", "--jobs", "1", "--json"])
    assert result.exit_code == 0
    assert [check["passed"] for check in json.loads(result.stdout)["checks"]] == [True, True]
    assert baseline.read_text().endswith("}\n")


def test_junit_counts_by_group() -> None:
    checks = [Check("a", "x", 1, 1, 0), Check("a", "y", 1, 2, 0), Check("b", "z", 1, 1, 0)]
    suites = {suite.get("name"): suite for suite in ET.fromstring(junit(checks))}
    assert {name: (s.get("tests"), s.get("failures")) for name, s in suites.items()} == {"a": ("2", "1"), "b": ("1", "0")}
    failure = suites["a"].find("testcase[@name='y']/failure")
    assert failure is not None
    assert failure.get("message") == "expected 1, found 2"


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Check("a", "x", 100, 120, 0.05, unit="cycles"), "expected 100 cycles within 5%, found 120 cycles"),
        (Check("a", "new", None, 7, 0), "found 7, and nothing was expected"),
        (Check("a", "gone", 7, None, 0), "expected 7, found nothing"),
    ],
)
def test_a_failure_says_what_is_missing(check: Check, said: str) -> None:
    assert not check.passed
    assert check.difference() == said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BASELINE.replace("figures", "figure"), "unknown key `figure`; did you mean `figures`"),
        (BASELINE.replace('["fig-1"]', "[]"), "`figures` is empty"),
        ("", "the file is empty"),
        (BASELINE.replace("quick", "qick"), r"b\.json:1:\d+: scale: `qick` is not one of quick, paper; did you mean `quick`\?"),
        (BASELINE.replace("{}", '{"fig-1 / search": -5}'), r"points.fig-1 / search: `-5` is too small; the least is 1"),
    ],
)
def test_a_damaged_baseline_is_a_mistake(baseline: Path, text: str, message: str) -> None:
    baseline.write_text(text)
    with pytest.raises(UserError, match=message):
        load_baselines()


def test_a_baseline_of_a_figure_that_no_paper_has_names_its_place(baseline: Path) -> None:
    baseline.write_text(BASELINE.replace("fig-1", "fig-11"))
    with pytest.raises(UserError, match=r"b\.json:1:35: no figure or paper is called `fig-11`; did you mean `fig-1`\?"):
        run_checks(1)


def test_a_missing_baseline_is_a_mistake_and_no_success(baseline: Path) -> None:
    baseline.unlink()
    with pytest.raises(UserError, match=r"baselines: no baseline \(\*\.json\) is here"):
        run_checks(1)
    baseline.parent.rmdir()
    with pytest.raises(UserError, match="no baseline"):
        run_checks(1)


@pytest.mark.parametrize(("latency", "widest", "status"), [(100, 106, "agrees"), (100, 105, "without power"), (120, 150, "drift")])
def test_a_choice_among_equals_is_no_agreement(latency: float, widest: float, status: str) -> None:
    cycles = pd.Series({1: widest, 2: 100.0, 4: latency})
    check = is_best("a", "w=4 is best", cycles, 4, 0.05, unit="cycles")
    assert check.status == status
    assert check.passed == (status == "agrees")


def test_a_check_without_power_fails_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    flat = is_best("a", "w=2 is best", pd.Series({1: 104.0, 2: 100.0}), 2, 0.05, unit="cycles")
    monkeypatch.setattr(memwalk.analysis.check, "run_checks", lambda *_, **__: [flat])
    result = CliRunner().invoke(app, ["check", "--junit", str(tmp_path / "check.xml")])
    assert result.exit_code == 1
    assert "Without power" in result.stdout
    failure = ET.parse(tmp_path / "check.xml").find(".//failure")
    assert failure is not None
    assert failure.get("message") == "nothing to choose from: the whole sweep is within 5% of 100.0 cycles, the worst is 104.0"


def test_a_choice_that_was_not_swept_is_no_drift(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    unswept = is_best("a", "G=26 is best", pd.Series({2: 104.0, 4: 90.0}), 26, unit="cycles a tuple")
    monkeypatch.setattr(memwalk.analysis.check, "run_checks", lambda *_, **__: [unswept])
    result = CliRunner().invoke(app, ["check", "--junit", str(tmp_path / "check.xml")])
    said = "the model chooses 26, which the sweep (2, 4) does not have; the best there is 90.0 cycles a tuple"
    assert (unswept.status, result.exit_code) == ("not swept", 1)
    assert f"a: G=26 is best: {said}" in result.stdout
    assert "Drift" not in result.stdout
    failure = ET.parse(tmp_path / "check.xml").find(".//failure")
    assert failure is not None
    assert failure.get("message") == said


def test_a_check_of_a_model_has_no_power_where_memory_is_as_near_as_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    (study,) = [one for one in STUDIES if one.panels == ("distance",) and one.figure == "fig-2.25"]
    near = (
        *study.overrides,
        "machine.memory.latency_cycles=20cycles",
        "machine.memory.interval_cycles=1cycles",
        "workload.tree.distance_nodes=[1,2,3]",
    )
    monkeypatch.setattr(memwalk.analysis.check, "STUDIES", (study, replace(study, overrides=near)))
    monkeypatch.setattr(memwalk.analysis.check, "load_papers", every_paper)
    monkeypatch.setattr(memwalk.analysis.check, "load_baselines", list)
    assert [check.status for check in run_checks(1)] == ["agrees", "without power"]


def test_parameters_of_one_variant_are_swept_without_the_others() -> None:
    (study,) = [one for one in STUDIES if one.variants == ("micro-indexing 5",)]
    _, rows = _study_rows(find_figures(study.figure, every_paper())[0], study)
    assert {row.variant for row in rows} == set(study.variants)
    assert {row.point.workload["subarray_lines"] for row in rows} >= {1, 5, 32}
