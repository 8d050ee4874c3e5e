"""No claim is met by a simulation in which nothing makes a difference; what a DBMS was calibrated on is no evidence."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

import pandas as pd
import pytest
from papers import the_paper

from memwalk.analysis.claims import Claim, Holds, MeasureError, Published, Study, panel
from memwalk.analysis.claims.registry import Measured
from memwalk.analysis.claims.rule import NO_EFFECT
from memwalk.analysis.claims.verdict import judge
from memwalk.analysis.figures.load import Figure
from memwalk.analysis.papers import measures
from memwalk.analysis.reproduce import axes, figure_rows, machine_facts
from memwalk.simcore.paths import configs

PAPERS = ("cstore", "pax", "thesis-ch2", "thesis-ch3", "thesis-ch4", "thesis-ch5")
MISSING_COLUMN = re.compile(r"no column `(.+?)`")
SAYS_THAT_NOTHING_DIFFERS = {
    "pax-update-oblivious",
    "bt-fig2.1-csb-scan-no-gain",
    "bt-fig2.1-csb-remaining-stall",  # more than half of a whole, which is 1 here
    "bt-fig2.13-p8-eq-p5csb",
    "bt-fig2.15-jpa-search-neutral",
    "bt-fig2.17a-pe-eq-pi",
    "bt-fig2.19b-full-comparable",
    "bt-fig2.25bc-c-order",
    "bt-deletion-search-dominated",
    "bt-pb-insert-better-csb",  # no slower
    "hj-intro-group-beats-swp",  # not slower
    "hj-fig5.10-linear-2cpu",
    "hj-bw-sufficient-2cpu",
    "hj-ch5-group-approx-swp",
    "bt-fig3.15-micro-as-array",
    "bt-fig3.24b-mature-insert-it2",
    "bt-it2-le-sim",  # gains no more
    "hj-cpart-repartition-share",  # more than a third of a whole, which is 1 here
}
"""Statements that things are equal, or no worse, or a large part of each other."""

PLACES = {
    "bt-fig2.10-wopt-pb-it2",
    "bt-fig2.10-wopt-pcsb-it2",
    "bt-fig2.11-wopt-pb",
    "bt-fig2.11-wopt-pcsb",
    "bt-it2-csb-noprefetch-wopt",
    "hj-dup-enhcpart-better-at",
    "hj-dup-stationary-best-until",
    "hj-enhanced-cpart-degrades-beyond-4",
    "hj-fig5.1-grace-suffers",
    "hj-fig5.1-prefetch-worse-than-grace",
    "hj-sorted-crossover",
}
"""Where on an axis something is best: nowhere, if it is equally good everywhere."""


def claims(paper: str) -> dict[str, tuple[Figure, Claim]]:
    return {claim.id: (figure, claim) for figure in the_paper(paper).figures for claim in figure.file.claims}


def tells_of_an_effect(claim: Claim) -> bool:
    """A place on an axis; a ratio or a percentage that is published without "no effect" in its range."""
    if claim.id in PLACES:
        return True
    nothing = NO_EFFECT.get(claim.unit or "")
    return nothing is not None and isinstance(claim.published, Published) and not claim.published.contains(nothing)


def simulated(claim: Claim) -> bool:
    """A simulated statement or effect."""
    told = claim.published is None or tells_of_an_effect(claim)
    return told and claim.needs is None and claim.class_ not in ("arithmetic", "input") and claim.id not in SAYS_THAT_NOTHING_DIFFERS


WANTED: defaultdict[str, set[str]] = defaultdict(lambda: {"seconds"})
"""The columns of results that measures of a figure have asked for so far."""

ALL = [(paper, figure, claim) for paper in PAPERS for figure, claim in claims(paper).values()]
SIMULATED = [pytest.param(paper, figure, claim, id=claim.id) for paper, figure, claim in ALL if simulated(claim)]


@pytest.mark.parametrize(("paper", "figure", "claim"), SIMULATED)
def test_a_simulation_in_which_nothing_makes_a_difference_meets_no_claim(paper: str, figure: Figure, claim: Claim) -> None:
    study, measured = measured_without_effects(paper, figure.id, claim.id)
    if measured is not None:
        assert not (isinstance(measured, Holds) and measured.holds)
        assert judge(claim, figure.id, study, measures(paper)[claim.id]).verdict == "missed"


@pytest.mark.parametrize("figure", [pytest.param(figure, id=figure.id) for paper in PAPERS for figure in the_paper(paper).figures])
def test_every_panel_of_a_figure_is_drawn_or_measured(figure: Figure) -> None:
    used: set[str] = set()
    for claim in figure.file.claims:
        if claim.needs is None:
            study, _ = measured_without_effects(figure.paper, figure.id, claim.id)
            assert isinstance(study.panels, Panels)
            used |= study.panels.used
    text = figure.path.read_text()
    plotted = text[text.index("plots:") : text.find("claims:")] if "plots:" in text else ""
    assert not [one.name for one in figure.experiments if one.name not in used and not re.search(rf"\b{re.escape(one.name)}\b", plotted)]


class Panels(dict[str, pd.DataFrame]):
    """Panels that know which of them were looked at."""

    def __init__(self, panels: dict[str, pd.DataFrame]) -> None:
        super().__init__(panels)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.used.add(name)
        return super().__getitem__(name)


@cache
def measured_without_effects(paper: str, name: str, claim: str) -> tuple[Study, Measured | None]:
    """Measure the points of a figure when all have the same results; None if one would have to divide by nothing."""
    function = measures(paper)[claim]
    while True:
        study = without_effects(paper, name)
        try:
            return study, function(study)
        except MeasureError as error:
            missing = MISSING_COLUMN.search(str(error))
            if missing is None:
                return study, None
            WANTED[name].add(missing[1])


def without_effects(paper: str, name: str) -> Study:
    """Give the points of a figure, of which all have a result of 1."""
    return Study(Panels(panels(paper, name, frozenset(WANTED[name]))), machine_facts)


@cache
def panels(paper: str, name: str, columns: frozenset[str]) -> dict[str, pd.DataFrame]:
    """Give them by panel, with columns of results; claims of a figure look at the same, and change nothing."""
    ones = dict.fromkeys(sorted(columns), 1.0)
    found = {}
    for experiment in figure_of(paper, name).experiments:
        mine = [row | ones for row in rows(paper, name) if row["experiment"] == experiment.name]
        found[experiment.name] = panel(mine, axes(experiment, "quick"))
    return found


def figure_of(paper: str, name: str) -> Figure:
    (figure,) = [figure for figure in the_paper(paper).figures if figure.id == name]
    return figure


@cache
def rows(paper: str, name: str) -> list[dict[str, object]]:
    found = figure_rows(figure_of(paper, name), "quick")
    return [{"experiment": row.experiment, "variant": row.variant, **row.parameters} for row in found]


def test_what_a_dbms_was_calibrated_on_is_of_that_class() -> None:
    texts = " ".join(path.read_text() for path in (configs() / "dbms").glob("*.yaml"))
    named = {name for sentence in re.findall(r"calibrated on ([^;(:]*)", texts) for name in re.findall(r"(?:pax|cs)-[a-z0-9.-]+", sentence)}
    calibrated = {claim.id for _, _, claim in ALL if claim.class_ == "calibration"}
    assert named
    assert named <= calibrated
