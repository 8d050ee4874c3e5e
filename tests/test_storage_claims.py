"""What the claims of MBSM and Clotho say where all layouts are alike: no order holds, but those that say so."""

from collections.abc import Iterator

import pandas as pd
import pytest
from papers import the_paper

from memwalk.analysis.claims import Claim, Holds, Study, panel
from memwalk.analysis.figures.load import Figure
from memwalk.analysis.papers import measures
from memwalk.analysis.reproduce import axes, figure_rows

TIMES = ("seconds", "io_seconds", "io_ms", "query_ms", "group_ms", "cycles", "slots_dcache", "mean_slowdown", "query_slowdown")
COUNTS = (
    "pages_read",
    "pages_stored",
    "pages",
    "most_pages",
    "random_pages",
    "blocks_read",
    "L2_data_misses",
    "score",
    "pages_with_one_column",
)
RATES = ("tpmc", "MB_per_second")

ALIKE = {
    "mbsm-affinity-unimportant-large-p",  # merging changes nothing
    "mbsm-fig5a-nsm-pax-all",  # all pages are read
    "mbsm-table2-update",  # one access each
    "mbsm-lookup-v-attributes",  # at most
    "cl-abstract-comparable",  # comparable
    "cl-fig10-csm-not-worse",  # no worse
    "cl-fig11-csm-vs-nsm",  # arithmetic, of no result
    "cl-mems-rows-cols-equal",  # equal
}
"""Statements that say that things are equal, or bounded by something that is."""


def statements() -> Iterator[tuple[Figure, Claim]]:
    for name in ("mbsm", "clotho"):
        for figure in the_paper(name).figures:
            yield from ((figure, claim) for claim in figure.file.claims if claim.published is None and claim.needs is None)


def without_effect(figure: Figure) -> Study:
    """Results of a figure in which every layout takes, reads and writes the same everywhere."""
    rows, panels = figure_rows(figure, "quick"), {}
    for experiment in figure.experiments:
        mine = [row.parameters | {"variant": row.variant} for row in rows if row.experiment == experiment.name]
        frame = pd.DataFrame(mine).assign(**dict.fromkeys((*TIMES, *COUNTS, *RATES), 1.0))
        panels[experiment.name] = panel(frame, axes(experiment, "quick"))
    return Study(panels, machine=lambda name: pytest.fail(f"no claim of storage asks for machine {name}"))


@pytest.mark.parametrize(("figure", "claim"), list(statements()), ids=lambda value: value.id if isinstance(value, Claim) else "")
def test_no_order_holds_without_an_effect(figure: Figure, claim: Claim) -> None:
    held = measures(figure.paper)[claim.id](without_effect(figure))
    assert isinstance(held, Holds)
    assert held.holds == (claim.id in ALIKE)
