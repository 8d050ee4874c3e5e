"""TPC-H, TPC-C and both at once: Figures 9 and 10, Table 2, and what section 1 sums up."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, gained, less, much_less, no_more, only, reduced, series, speedup
from memwalk.analysis.claims.orders import SLIGHT
from memwalk.analysis.papers.clotho.layouts import CSM, DSM, LAYOUTS, NSM, PAX, QUERY, SECONDS, WHOLE, measure

TPMC = "tpmc"

# Figure 9: queries of TPC-H.


def _order(queries: pd.DataFrame) -> Holds:
    """CSM takes the least time, and DSM less than NSM and PAX but for query 1, where it takes more."""
    q1, others = queries[queries[QUERY] == "q1"], queries[queries[QUERY] != "q1"]
    best = all_of(less(series(queries, CSM, SECONDS), series(queries, other, SECONDS)) for other in (NSM, DSM, PAX))
    ahead = all_of(less(series(others, DSM, SECONDS), series(others, whole, SECONDS)) for whole in WHOLE)
    return best & ahead & all_of(less(series(q1, whole, SECONDS), series(q1, DSM, SECONDS)) for whole in WHOLE)


@measure("cl-fig9-csm-best")
def _(study: Study) -> Holds:
    return _order(study["disks"])


@measure("cl-fig9-mems-trend")
def _(study: Study) -> Holds:
    return _order(study["memstore"])


@measure("cl-fig9-nsm-pax-slowdown")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([speedup(study["disks"], CSM, over=whole, column=SECONDS) for whole in WHOLE])


# Table 2: TPC-C.


@measure("cl-table2-tpmc-nsm")
def _(study: Study) -> float:
    return only(study["tpcc"], NSM, TPMC)


@measure("cl-table2-tpmc-dsm")
def _(study: Study) -> float:
    return only(study["tpcc"], DSM, TPMC)


@measure("cl-table2-tpmc-pax")
def _(study: Study) -> float:
    return only(study["tpcc"], PAX, TPMC)


@measure("cl-table2-tpmc-csm")
def _(study: Study) -> float:
    return only(study["tpcc"], CSM, TPMC)


@measure("cl-table2-csm-6pct-lower")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([reduced(study["tpcc"], CSM, over=whole, column=TPMC) for whole in WHOLE])


@measure("cl-table2-order")
def _(study: Study) -> Holds:
    done = {layout: only(study["tpcc"], layout, TPMC) for layout in LAYOUTS}
    return alike(done[NSM], done[PAX]) & all_of(less(done[CSM], done[whole]) for whole in WHOLE) & much_less(done[DSM], done[CSM])


@measure("cl-buffer-cache-10pct")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(study["tpcc"], NSM, "workload.pool", per="database_bytes")


@measure("cl-abstract-comparable")
def _(study: Study) -> Holds:
    queries = study["queries"]
    decisions = less(series(queries, CSM, SECONDS), (1 + SLIGHT) * series(queries, DSM, SECONDS))
    return decisions & less(only(study["tpcc"], PAX, TPMC), (1 + SLIGHT) * only(study["tpcc"], CSM, TPMC))


# Figure 10: query 1 beside TPC-C.


@measure("cl-fig10-csm-not-worse")
def _(study: Study) -> Holds:
    lost = {layout: only(study["compound"], layout, "mean_slowdown") for layout in LAYOUTS}
    return all_of(no_more(lost[CSM], lost[other]) for other in (NSM, PAX, DSM))


@measure("cl-fig10-dsm-worse")
def _(study: Study) -> Holds:
    lost = {layout: only(study["compound"], layout, "query_slowdown") for layout in LAYOUTS}
    return all_of(less(lost[other], lost[DSM]) for other in (NSM, PAX, CSM))


@measure("cl-fig10-pax-query")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["compound"], PAX, over=CSM, column="query_slowdown")


@measure("cl-fig10-pax-tpcc")
def _(study: Study) -> pd.Series[float]:
    return gained(study["compound"], CSM, over=PAX, column="tpcc_slowdown")
