"""No claim is met by a simulation in which nothing makes a difference; what a DBMS was calibrated on is no evidence."""

import re
from functools import cache

import pytest

from memwalk.analysis.claims import Claim, Holds, MeasureError, Published, Study, panel
from memwalk.analysis.claims.claim import EXACT
from memwalk.analysis.claims.rule import NO_EFFECT
from memwalk.analysis.claims.verdict import judge
from memwalk.analysis.figures.load import Figure, Paper, load_papers
from memwalk.analysis.papers import measures
from memwalk.analysis.reproduce import axes, figure_rows, machine_facts
from memwalk.simcore.paths import configs

PAPERS = ("cstore", "pax")
MISSING_COLUMN = re.compile(r"no column `(.+?)`")
SAYS_THAT_NOTHING_DIFFERS = {"pax-update-oblivious"}


@cache
def papers() -> dict[str, Paper]:
    return {paper.id: paper for paper in load_papers() if paper.id in PAPERS}


def claims(paper: str) -> dict[str, tuple[Figure, Claim]]:
    return {claim.id: (figure, claim) for figure in papers()[paper].figures for claim in figure.file.claims}


def tells_of_an_effect(claim: Claim) -> bool:
    """A ratio or a percentage that is published without "no effect" in its range."""
    nothing = NO_EFFECT.get(claim.unit or "")
    return nothing is not None and isinstance(claim.published, Published) and not claim.published.contains(nothing)


def simulated(claim: Claim) -> bool:
    """A simulated statement or effect."""
    told = claim.published is None or tells_of_an_effect(claim)
    return told and claim.needs is None and claim.class_ not in EXACT and claim.id not in SAYS_THAT_NOTHING_DIFFERS


ALL = [(paper, figure, claim) for paper in PAPERS for figure, claim in claims(paper).values()]
SIMULATED = [pytest.param(paper, figure, claim, id=claim.id) for paper, figure, claim in ALL if simulated(claim)]


@pytest.mark.parametrize(("paper", "figure", "claim"), SIMULATED)
def test_a_simulation_in_which_nothing_makes_a_difference_meets_no_claim(paper: str, figure: Figure, claim: Claim) -> None:
    function, columns = measures(paper)[claim.id], {"seconds": 1.0}
    while True:
        study = without_effects(figure, columns)
        try:
            measured = function(study)
        except MeasureError as error:
            missing = MISSING_COLUMN.search(str(error))
            if missing is None:
                return  # nothing is what one divides by
            columns[missing[1]] = 1.0
            continue
        assert not (isinstance(measured, Holds) and measured.holds)
        assert judge(claim, figure.id, study, function).verdict == "missed"
        return


@cache
def rows(paper: str, name: str) -> list[dict[str, object]]:
    (figure,) = [figure for figure in papers()[paper].figures if figure.id == name]
    return [{"experiment": row.experiment, "variant": row.variant, **row.parameters} for row in figure_rows(figure, "quick")]


def without_effects(figure: Figure, columns: dict[str, float]) -> Study:
    """Give the points of a figure, all with the same results."""
    panels = {}
    for experiment in figure.experiments:
        mine = [row | columns for row in rows(figure.paper, figure.id) if row["experiment"] == experiment.name]
        panels[experiment.name] = panel(mine, axes(experiment, "quick"))
    return Study(panels, machine_facts)


def test_what_a_dbms_was_calibrated_on_is_of_that_class() -> None:
    texts = " ".join(path.read_text() for path in (configs() / "dbms").glob("*.yaml"))
    named = {name for sentence in re.findall(r"calibrated on ([^;(:]*)", texts) for name in re.findall(r"(?:pax|cs)-[a-z0-9.-]+", sentence)}
    calibrated = {claim.id for _, _, claim in ALL if claim.class_ == "calibration"}
    assert named
    assert named <= calibrated
