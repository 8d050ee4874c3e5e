"""What follows from formats and mappings alone: Figures 3, 5, 6 and 11, and access along rows and columns (sections 5.2 and 5.4)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, at_most, in_order, marginal, series
from memwalk.analysis.cost_models import clotho as model
from memwalk.analysis.papers.clotho.layouts import ATTRIBUTES, BLOCKS, measure

# Figure 3: minipages of 2, 3, 6 and 5 blocks, of which a query wants the first two.

MINIPAGES, FIRST_TWO, FRAME_BLOCKS = "2_3_6_5", "1_2", 16


@measure("cl-fig3-a-pages-per-c-page")
def _(_study: Study) -> float:
    return model.a_pages_in_c_page(MINIPAGES, FIRST_TWO, FRAME_BLOCKS)


@measure("cl-fig3-sharing-factor")
def _(_study: Study) -> float:
    return float(model.c_page_utilization(MINIPAGES, FIRST_TWO, FRAME_BLOCKS))


# Figure 5: twelve attributes of 8 bytes on four disks.

COLUMNS, VALUE_BYTES, RECORDS = 12, 8, 1008


@measure("cl-fig5-records-per-a-page")
def _(_study: Study) -> float:
    return model.a_page_records(COLUMNS, VALUE_BYTES)


@measure("cl-fig5-records-per-16-lbns")
def _(_study: Study) -> float:
    return model.band_records(COLUMNS, VALUE_BYTES)


@measure("cl-fig5-lbns-per-attribute-scan")
def _(_study: Study) -> float:
    return model.column_scan_blocks(COLUMNS, VALUE_BYTES, RECORDS)


@measure("cl-fig5-attribute-scan-reads")
def _(_study: Study) -> float:
    return model.column_scan_reads(COLUMNS, VALUE_BYTES, RECORDS)


@measure("cl-fig5-semiseq-count")
def _(_study: Study) -> float:
    return model.a_page_accesses(COLUMNS, VALUE_BYTES, RECORDS)


@measure("cl-si-every-page")
def _(_study: Study) -> float:
    return float(model.every_page_selectivity_percent(ATTRIBUTES, VALUE_BYTES))


# Section 5.2: along the columns of a disk.

SEMI_SEQUENTIAL, SEQUENTIAL, RANDOM = "semi-sequential", "sequential", "random"


@measure("cl-semiseq-track-switch")
def _(study: Study) -> pd.Series[float]:
    column = study["column"]
    return marginal(series(column, SEMI_SEQUENTIAL, "group_ms"), series(column, SEMI_SEQUENTIAL, "group_blocks"), along=BLOCKS)


@measure("cl-semiseq-random-penalty")
def _(study: Study) -> pd.Series[float]:
    column = study["column"]
    return marginal(series(column, RANDOM, "group_turns"), series(column, RANDOM, "group_blocks"), along=BLOCKS)


@measure("cl-semiseq-bandwidth-order")
def _(study: Study) -> Holds:
    column = study["column"]
    several = column[column[BLOCKS] > 1]
    return in_order(*(series(several, pattern, "MB_per_second") for pattern in (RANDOM, SEMI_SEQUENTIAL, SEQUENTIAL)))


# Section 5.4: MEMStores.


@measure("cl-fig6-parallel-lbns")
def _(_study: Study) -> float:
    return float(model.drawn_parallel_blocks())


@measure("cl-mems-parallel-lbns")
def _(_study: Study) -> pd.Series[float]:
    return pd.Series({device: float(model.device_parallel_blocks(device)) for device in ("mems-g1", "mems-g2")})


@measure("cl-mems-rows-cols-equal")
def _(study: Study) -> Holds:
    return alike(series(study["class"], SEMI_SEQUENTIAL, "group_ms"), series(study["class"], SEQUENTIAL, "group_ms"))


# Figure 11: records of an A-page, in % of those of a slotted page of the same size.

LARGER_AT_ONE_COLUMN = ("tpcc.customer", "tpcc.stock")
TPCC = tuple(f"tpcc.{name}" for name in ("new_orders", "item", "history", "orders", "warehouse", "order_line", "district"))
TPCH = tuple(f"tpch.{name}" for name in ("region", "nation", "partsupp", "supplier", "customer", "part", "orders", "lineitem"))
SIZES_KIB = (4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48)
OVER_PERCENT = 90.0


def _efficiency(tables: tuple[str, ...], page_kib: float) -> pd.Series[float]:
    return pd.Series({table: model.a_page_efficiency(table, page_kib) for table in tables})


@measure("cl-fig11-16kb-90pct")
def _(_study: Study) -> pd.Series[float]:
    return _efficiency(TPCC + TPCH, page_kib=16)


@measure("cl-fig11-32kb-90pct")
def _(_study: Study) -> pd.Series[float]:
    return _efficiency(LARGER_AT_ONE_COLUMN, page_kib=32)


@measure("cl-fig11-page-32kb")
def _(_study: Study) -> pd.Series[float]:
    return pd.Series({table: model.efficient_page(table, OVER_PERCENT) for table in LARGER_AT_ONE_COLUMN})


@measure("cl-fig11-csm-vs-nsm")
def _(_study: Study) -> Holds:
    return all_of(at_most(_efficiency(TPCC + LARGER_AT_ONE_COLUMN + TPCH, size), 100.0) for size in SIZES_KIB)
