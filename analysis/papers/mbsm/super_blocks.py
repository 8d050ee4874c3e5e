"""Which columns share a page: Figure 2, Tables 3 to 5, and what sections 3, 4.2 and 6.2 say of placing columns."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from memwalk.analysis.claims import Holds, Study, exactly, less, only, ratio, series
from memwalk.analysis.cost_models.super_block import in_order_ratio, largest_first_ratio
from memwalk.analysis.papers.mbsm.layouts import MBSM, RUN, TABLE, at, measure
from memwalk.workloads.tables import tpch

# Figure 2: (a) a page for each of four columns, (b) the second and third together, (c) the first split as well.

APART, TOGETHER, SPLIT = "a", "b", "c"
FIRST, FOURTH, PAIR = (f"scan_pages_per_record.{columns}" for columns in ("attribute 1", "attribute 4", "pair"))


@measure("mbsm-fig2a-space-pages")
def _(study: Study) -> pd.Series[float]:
    return series(study["example"], APART, "pages_per_record")


@measure("mbsm-fig2c-min-pages")
def _(study: Study) -> pd.Series[float]:
    example = study["example"]
    return pd.concat([series(example, SPLIT, column) for column in ("pages_per_record", "full_pages_per_record")])


@measure("mbsm-fig2a-frag-fraction")
def _(study: Study) -> pd.Series[float]:
    return series(study["example"], APART, "fragmentation")


@measure("mbsm-fig2a-scan-pages")
def _(study: Study) -> pd.Series[float]:
    example = study["example"]
    return pd.concat([series(example, APART, FIRST), series(example, APART, FOURTH), series(example, APART, PAIR) / 2])


@measure("mbsm-fig2b-frag-fraction")
def _(study: Study) -> pd.Series[float]:
    return series(study["example"], TOGETHER, "fragmentation")


@measure("mbsm-fig2b-scan-2-and-3")
def _(study: Study) -> pd.Series[float]:
    example = study["example"]
    return ratio(series(example, TOGETHER, PAIR), series(example, APART, PAIR))


@measure("mbsm-fig2c-zero-frag")
def _(study: Study) -> pd.Series[float]:
    return series(study["example"], SPLIT, "fragmentation_percent")


@measure("mbsm-fig2c-scan-attr4")
def _(study: Study) -> pd.Series[float]:
    example = study["example"]
    return pd.concat([series(example, SPLIT, FOURTH), series(example, SPLIT, PAIR)])


@measure("mbsm-fig2c-scan-attr1")
def _(study: Study) -> pd.Series[float]:
    return series(study["example"], SPLIT, FIRST)


# Sections 3.2 and 4.2: bounds.


@measure("mbsm-lpt-43-approx")
def _(_study: Study) -> float:
    return float(largest_first_ratio(pages=20_000))


@measure("mbsm-greedy-2-approx")
def _(_study: Study) -> float:
    return float(in_order_ratio(pages=100))


@measure("mbsm-p-upper-bound-17")
def _(study: Study) -> pd.Series[float]:
    return series(study["placement"], MBSM, "room_for_pages")


@measure("mbsm-r-chosen-30")
def _(study: Study) -> pd.Series[float]:
    return series(study["placement"], MBSM, RUN)


@measure("mbsm-p-search-range")
def _(study: Study) -> pd.Series[float]:
    placement = study["placement"]
    return pd.concat([series(placement, MBSM, "pages"), series(placement, MBSM, "workload.mbsm.most_pages")])


# Tables 3 to 5 and section 6.2: the tables of TPC-H.


def _of_table(table: str, column: str) -> Callable[[Study], pd.Series[float]]:
    """Measure a column of the placement of one of the six tables."""
    return lambda study: series(at(study["placement"], TABLE, table), MBSM, column)


def _of_lineitem(column: str) -> Callable[[Study], float]:
    """Measure a column of the one placement of Lineitem that Table 4 or Table 5 prints."""
    return lambda study: only(study["placement"], MBSM, column)


for _table in ("part", "supplier", "partsupp", "customer", "orders", "lineitem"):
    measure(f"mbsm-table3-{_table}-columns")(_of_table(_table, "columns"))
    measure(f"mbsm-table3-{_table}-pages")(_of_table(_table, "pages"))
    measure(f"mbsm-table3-{_table}-frag")(_of_table(_table, "fragmentation_percent"))

for _printed in ("mbsm-table4", "mbsm-table5"):
    measure(f"{_printed}-M")(_of_lineitem("load_bytes"))
    measure(f"{_printed}-min-load")(_of_lineitem("least_load_bytes"))
    measure(f"{_printed}-record-bytes")(_of_lineitem("record_bytes"))
    for _column in tpch.tables(1)["lineitem"].names:
        measure(f"{_printed}-{_column.removeprefix('l_')}")(_of_lineitem(f"alike.{_column}"))

measure("mbsm-table5-from-r50")(_of_lineitem("pages"))


@measure("mbsm-affinity-unimportant-large-p")
def _(study: Study) -> Holds:
    placement = study["placement"]
    mostly = less(series(placement, "merged", "pages") / 2, series(placement, "merged", "pages_with_one_column"))
    return mostly & exactly(series(placement, "merged", "score"), series(placement, "not merged", "score"))


@measure("mbsm-affinity-threshold")
def _(study: Study) -> pd.Series[float]:
    return series(study["placement"], "merged", "workload.mbsm.affinity_threshold")


@measure("mbsm-q14-abstract")
def _(study: Study) -> pd.Series[float]:
    return series(study["example"], MBSM, "columns_read")
