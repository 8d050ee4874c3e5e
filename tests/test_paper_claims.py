"""The claims of the papers: each with a measure or a reason, none that no effect would meet, their verdicts committed."""

from itertools import chain

import pytest
from papers import every_paper

from memwalk.analysis.claims import Claim, Published
from memwalk.analysis.claims.committed import read
from memwalk.analysis.claims.rule import NO_EFFECT
from memwalk.analysis.claims.verdict import agreement
from memwalk.analysis.figures.load import Paper, papers_folder
from memwalk.analysis.papers import measures

PAPERS = every_paper()
EACH = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)


def claims(paper: Paper) -> list[Claim]:
    return list(chain.from_iterable(figure.file.claims for figure in paper.figures))


def readable() -> list[tuple[Claim, Published, float]]:
    """Claims of a unit in which there is such a thing as no effect, with a published range."""
    every = chain.from_iterable(claims(paper) for paper in PAPERS)
    return [(one, one.published, NO_EFFECT[one.unit]) for one in every if one.unit in NO_EFFECT and isinstance(one.published, Published)]


@EACH
def test_every_claim_has_one_measure_or_says_what_it_needs(paper: Paper) -> None:
    functions = measures(paper.id)
    both_or_none = [one.id for one in claims(paper) if (one.id in functions) == (one.needs is not None)]
    assert not both_or_none
    assert not set(functions) - {one.id for one in claims(paper)}, "measures without a claim"


def effects() -> list[tuple[Claim, Published, float]]:
    """Of these, the ones of which no effect is neither what they say nor what they allow."""

    def allowed(claim: Claim, published: Published, none: float) -> bool:
        bounded = published.low is not None and published.high is not None
        return published.contains(none) and (bounded or claim.range == "loose")

    return [one for one in readable() if not allowed(*one)]


@pytest.mark.parametrize(("claim", "published", "none"), effects(), ids=lambda value: value.id if isinstance(value, Claim) else "")
def test_no_effect_meets_no_claim_of_an_effect(claim: Claim, published: Published, none: float) -> None:
    assert not agreement(claim, published, none, none).agrees


def test_what_no_effect_would_meet_is_known() -> None:
    # Each of these says "at most", or that nothing changes; of widths, that the chosen one is the best.
    allowed = {one.id for one, published, none in readable() if agreement(one, published, none, none).agrees}
    best = {f"bt-tab3.1-{width}-cost" for width in ("4kb-df", "16kb-cf", "32kb-cf")}
    best |= {f"bt-tab3.2-{width}-cost" for width in ("4kb-df", "4kb-mi", "16kb-df", "32kb-df", "32kb-mi")}
    at_most = {"bt-it2-stddev", "pax-stddev", "pax-point-query", "cs-iter-under-1pct", "mbsm-fig2c-zero-frag"}
    at_most |= {"bt-ch3-criterion-G", "bt-fig3.13-within5", "bt-it2-stddev-ch3", "bt-fig3.27-stddev"}
    at_most |= {"bt-fig3.25-df-space", "bt-fig3.25a-cf-space", "bt-sum3-space", "bt-fig3.26-df-io", "bt-sum3-io"}
    assert allowed == at_most | best


@EACH
def test_what_is_repeated_is_counted_elsewhere(paper: Paper) -> None:
    by_id = {one.id: one for one in claims(paper)}
    for one in claims(paper):
        for other in one.repeated:
            assert by_id[other].class_ == one.class_, one.id
            assert not by_id[other].repeats, one.id


@EACH
def test_misses_have_a_paragraph_and_what_has_one_is_missed(paper: Paper) -> None:
    committed = read(papers_folder() / paper.id)
    assert committed is not None
    missed = {name for name, entry in committed.items() if entry["verdict"] == "missed"}
    assert missed == {one.id for one in claims(paper) if one.deviation}


@EACH
def test_committed_verdicts_are_those_of_the_claims(paper: Paper) -> None:
    committed = read(papers_folder() / paper.id)
    assert committed is not None
    assert {name: entry["class"] for name, entry in committed.items()} == {one.id: one.class_ for one in claims(paper)}
