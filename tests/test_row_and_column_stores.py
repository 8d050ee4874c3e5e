"""The figures of the comparison of row and column stores: complete, and what small scans already show."""

from collections import Counter
from pathlib import Path

import pytest
from papers import the_paper
from pydantic import TypeAdapter

from memwalk.analysis.claims.verdict import judge
from memwalk.analysis.experiments.points import distinct_points
from memwalk.analysis.experiments.runner import run_points
from memwalk.analysis.experiments.workload import Parameters, Workload
from memwalk.analysis.figures.load import Figure
from memwalk.analysis.papers import measures
from memwalk.analysis.reproduce import figure_rows, figure_study
from memwalk.simcore.engines import native

PAPER = the_paper("cstore")
CLAIMS = {claim.id: claim for figure in PAPER.figures for claim in figure.file.claims}


def figure(name: str) -> Figure:
    (found,) = [one for one in PAPER.figures if one.file.id == name]
    return found


def test_every_figure_that_shows_results_has_a_file() -> None:
    assert {one.file.id for one in PAPER.figures} >= {f"fig-{number}" for number in (1, 2, 3, 4, *range(9, 15))}


def test_published_claims_by_platform() -> None:
    # What the text states, place by place; a claim added or lost shows here.
    published = Counter(claim.platform for claim in CLAIMS.values() if claim.published != "unknown")
    assert published == {"analytic": 8, "prototype": 42}


def test_calibrations_are_named() -> None:
    assert [name for name, claim in CLAIMS.items() if claim.calibrates] == ["cs-fig3a-std-4"]


def test_what_only_others_systems_can_show_is_said() -> None:
    needs = {name for name, claim in CLAIMS.items() if claim.needs}
    assert needs == {"cs-intro-cstore-q", "cs-intro-dbms-q", "cs-q7-cstore-code", "cs-q7-published", "cs-runs"}


@pytest.mark.parametrize("one", PAPER.figures, ids=lambda one: one.file.id)
def test_every_figure_can_be_run_at_both_scales(one: Figure) -> None:
    for scale in ("quick", "paper"):
        assert len(figure_rows(one, scale)) >= len(one.experiments)


def test_table_workloads_have_the_kernels_defaults() -> None:
    (kernel,) = [one for one in native.list_workloads() if one["name"] == "table"]
    least = {"kernel": "table", "operation": "scan", "layout": "nsm", "records": kernel["defaults"]["records"]}
    assert TypeAdapter[Parameters](Workload).validate_python(least).native() == kernel["defaults"] | {"kernel": "table"}


def test_small_scans_already_show_what_super_tuples_are_for(tmp_path: Path) -> None:
    one = figure("fig-11")
    rows = figure_rows(one, "quick")
    study = figure_study(one, "quick", rows, run_points(distinct_points(rows), tmp_path, 1))
    scan = study["scan"].set_index("variant")
    # A hundredth of 13 s, whose 640 of 808 million units are iteration (equation 2); its disk is busy a little longer than by
    # equation 1, since the first of 80 pages is not read in sequence.
    assert scan.loc["standard-row", "seconds"] == pytest.approx(0.13 + 0.007, rel=0.03)
    assert scan.loc["super-row", "cpu_seconds"] == pytest.approx(48e4 * 16.09e-9, rel=0.05)
    assert scan.loc["super-column", "cpu_seconds"] == pytest.approx(4 * scan.loc["super-row", "cpu_seconds"], rel=0.05)
    functions = measures("cstore")
    assert all(judge(claim, one.id, study, functions[claim.id]).agrees for claim in one.file.claims)
