"""Pages that tables take and queries ask for: Figures 5(a) and 6(a)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    all_of,
    clearly_less,
    exactly,
    less,
    only,
    series,
    similar,
    slightly_less,
    up_to_where,
)
from memwalk.analysis.cost_models.super_block import record_number_bytes
from memwalk.analysis.papers.mbsm.layouts import DSM, LAYOUTS, MBSM, NSM, PAX, QUERY, TABLE, WHOLE, at, measure

READ, STORED = "pages_read", "pages_stored"

# Figure 5(a): eight columns of 8 bytes.


@measure("mbsm-fig5a-mbsm-least")
def _(study: Study) -> Holds:
    queries = study["queries"]
    return all_of(less(series(queries, MBSM, READ), series(queries, other, READ)) for other in (NSM, DSM, PAX))


@measure("mbsm-fig5a-nsm-pax-all")
def _(study: Study) -> Holds:
    return all_of(exactly(series(study["queries"], layout, READ), only(study["space"], layout, STORED)) for layout in WHOLE)


@measure("mbsm-fig5a-dsm-most-above-6")
def _(study: Study) -> float:
    by_columns = {layout: series(study["queries"], layout, READ).rename(index=int) for layout in LAYOUTS}
    most_of_others = pd.concat([by_columns[layout] for layout in (NSM, PAX, MBSM)], axis=1).max(axis=1)
    return up_to_where(by_columns[DSM] <= most_of_others, QUERY)


@measure("mbsm-fig5a-space-order")
def _(study: Study) -> Holds:
    stored = {layout: only(study["space"], layout, STORED) for layout in LAYOUTS}
    return slightly_less(stored[MBSM], stored[PAX]) & all_of(less(stored[other], stored[DSM]) for other in (NSM, PAX, MBSM))


@measure("mbsm-fig5a-dsm-space")
def _(_study: Study) -> float:
    return record_number_bytes()


# Figure 6(a): tables of TPC-H.


@measure("mbsm-fig6a-dsm-lineitem-space")
def _(study: Study) -> Holds:
    lineitem = at(study["space"], TABLE, "lineitem")
    stored = {layout: only(lineitem, layout, STORED) for layout in LAYOUTS}
    most = all_of(clearly_less(stored[other], stored[DSM]) for other in (NSM, PAX, MBSM))
    return most & all_of(less(stored[whole], stored[MBSM]) for whole in WHOLE) & similar(stored[NSM], stored[PAX])


@measure("mbsm-fig6a-mbsm-space")
def _(study: Study) -> Holds:
    space = study["space"]
    return all_of(slightly_less(series(space, whole, STORED), series(space, MBSM, STORED)) for whole in WHOLE)
