"""Table 2, which compares the four layouts, and what is said of caches."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    alike,
    all_of,
    exactly,
    growth,
    in_order,
    less,
    much_less,
    only,
    reduced,
    series,
    slightly_less,
)
from memwalk.analysis.papers.mbsm.layouts import DSM, LAYOUTS, MBSM, NSM, PAX, QUERY, WHOLE, at, measure

STORED = "pages_stored"
SECOND = "workload.first_projected"
"""The attribute that is returned: the one that is tested, 2, or another one, 7."""
READ_BY = {"Q1": ("lineitem",), "Q6": ("lineitem",), "Q12": ("lineitem", "orders"), "Q14": ("lineitem", "part")}


@measure("mbsm-table2-insert")
def _(study: Study) -> Holds:
    insert = study["insert"]
    far = {layout: only(insert, layout, "random_pages") for layout in LAYOUTS}
    pages = {layout: only(insert, layout, "pages") for layout in LAYOUTS}
    one = all_of(exactly(far[layout], 1.0) for layout in (NSM, PAX, MBSM)) & all_of(exactly(pages[whole], 1.0) for whole in WHOLE)
    return one & much_less(1.0, pages[MBSM]) & much_less(1.0, far[DSM]) & exactly(far[DSM], pages[DSM])


@measure("mbsm-table2-update")
def _(study: Study) -> Holds:
    modify = study["modify"]
    return all_of(exactly(series(modify, layout, column), 1.0) for layout in LAYOUTS for column in ("most_pages", "random_pages"))


@measure("mbsm-table2-scan-volume")
def _(study: Study) -> Holds:
    queries, space = study["queries"], study["space"]
    read = {layout: series(queries, layout, "pages_read") for layout in LAYOUTS}
    stored = {layout: series(space, layout, STORED) for layout in WHOLE}
    tables = {layout: pd.Series({query: stored[layout][list(READ_BY[query])].sum() for query in read[layout].index}) for layout in WHOLE}
    everything = all_of(exactly(read[layout], tables[layout].rename_axis(QUERY)) for layout in WHOLE)
    return everything & all_of(in_order(read[MBSM], read[DSM], read[whole]) for whole in WHOLE)


@measure("mbsm-table2-space")
def _(study: Study) -> Holds:
    fixed = {layout: only(study["fixed"], layout, STORED) for layout in LAYOUTS}
    numbers = all_of(less(fixed[other], fixed[DSM]) for other in (NSM, PAX, MBSM)) & alike(fixed[MBSM], fixed[PAX])
    space = study["space"]
    return numbers & all_of(less(series(space, whole, STORED), series(space, MBSM, STORED)) for whole in WHOLE)


@measure("mbsm-table2-cache")
def _(study: Study) -> Holds:
    one = at(study["caches"], SECOND, 2)
    return in_order(*(series(one, layout, "L2_data_misses") for layout in (PAX, DSM, NSM)))


@measure("mbsm-table2-reconstruction")
def _(study: Study) -> Holds:
    more = {layout: growth(series(study["caches"], layout), along=SECOND) for layout in (NSM, DSM, PAX)}
    return all_of(slightly_less(1.0, more[whole]) for whole in WHOLE) & much_less(1.0, more[DSM])


@measure("mbsm-pax-cache-stall-75")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["caches"], PAX, over=NSM, column="slots_dcache")
