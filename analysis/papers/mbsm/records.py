"""Single records: Figures 5(c) and 7(b), and section 4.1."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, at_most, exactly, in_order, much_less, only, reduced, series, similar
from memwalk.analysis.papers.mbsm.layouts import DSM, MBSM, NSM, PAX, WHOLE, measure

TIME, PAGES, MOST, RANDOM = "io_ms", "pages", "most_pages", "random_pages"
NINE_PAGES = "nine pages"
LINEITEM_COLUMNS = 16
SUPER_BLOCKS = {"Table 4's pages": 17, NINE_PAGES: 9}
"""Pages of Lineitem's super-block, by variant of the panel `insert` of section 4.1."""

# Insertions and deletions.


@measure("mbsm-fig5c-writes", "mbsm-fig7b-writes")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([series(study["insert"], layout, PAGES) for layout in (MBSM, DSM)])


@measure("mbsm-fig5c-writes-nsm-pax", "mbsm-fig7b-writes-nsm-pax")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([series(study["insert"], layout, PAGES) for layout in WHOLE])


def _order_of_times(study: Study) -> Holds:
    took = {layout: only(study["insert"], layout, TIME) for layout in (NSM, DSM, PAX, MBSM)}
    return similar(took[NSM], took[PAX]) & all_of(in_order(took[whole], took[MBSM], took[DSM]) for whole in WHOLE)


@measure("mbsm-fig5c-order")
def _(study: Study) -> Holds:
    far = {layout: only(study["insert"], layout, RANDOM) for layout in (MBSM, DSM)}
    return _order_of_times(study) & exactly(far[MBSM], 1.0) & much_less(far[MBSM], far[DSM])


@measure("mbsm-fig7b-order")
def _(study: Study) -> Holds:
    return _order_of_times(study)


@measure("mbsm-insdel-40pct-less-than-dsm")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["insert"], MBSM, over=DSM, column=TIME)


@measure("mbsm-random-write-10ms")
def _(study: Study) -> pd.Series[float]:
    return series(study["random-writes"], "write", "mean_response_ms")


# Section 4.1: how many pages.


@measure("mbsm-insert-block-writes")
def _(study: Study) -> Holds:
    insert = study["insert"]
    bounds = {name: float(min(LINEITEM_COLUMNS, pages)) for name, pages in SUPER_BLOCKS.items()}
    written = all_of(exactly(only(insert, name, MOST), bound) for name, bound in bounds.items())
    touched = {"with values": bounds["Table 4's pages"], "nine pages with values": bounds[NINE_PAGES]}
    return written & all_of(at_most(only(insert, name, MOST), bound) for name, bound in touched.items())


@measure("mbsm-insert-cost-random-plus-nearby")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([series(study["insert"], name, RANDOM) for name in SUPER_BLOCKS])


@measure("mbsm-insert-dsm-writes")
def _(study: Study) -> Holds:
    insert = study["insert"]
    return exactly(series(insert, DSM, RANDOM), float(LINEITEM_COLUMNS)) & exactly(series(insert, DSM, PAGES), float(LINEITEM_COLUMNS))


@measure("mbsm-modify-one-attribute")
def _(study: Study) -> pd.Series[float]:
    return series(study["modify"], MBSM, MOST)


@measure("mbsm-lookup-one-attribute")
def _(study: Study) -> pd.Series[float]:
    lookup = study["lookup"]
    return series(lookup[lookup["workload.columns"] == 1], MBSM, MOST)


@measure("mbsm-lookup-v-attributes")
def _(study: Study) -> Holds:
    lookup = study["lookup"]
    pages = {MBSM: SUPER_BLOCKS["Table 4's pages"], NINE_PAGES: SUPER_BLOCKS[NINE_PAGES]}
    wanted = {name: series(lookup, name, "workload.columns") for name in pages}
    return all_of(at_most(series(lookup, name, MOST), wanted[name].clip(upper=pages[name])) for name in pages)
