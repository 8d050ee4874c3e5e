"""What the formats keep and take: sections 2.1, 2.2, 3.2 and 4.1, and the settings of the machine and the queries."""

from __future__ import annotations

from functools import reduce

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, clearly_less, falling, no_more, reduced, rows, series
from memwalk.analysis.cost_models import page_layout
from memwalk.analysis.papers.pax.layouts import (
    ALPHA,
    DSM,
    ITANIUM2,
    NSM,
    PAX,
    SELECTIVITY,
    ULTRASPARC,
    XEON,
    at,
    largest_cache,
    measure,
)
from memwalk.workloads.tables import tpch
from memwalk.workloads.tpcc import schema as tpcc

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


# Sections 2 and 3


@measure("pax-nsm-one-miss-per-record")
def _(_study: Study) -> float:
    return float(page_layout.aligned_lines_per_record("nsm", attribute_bytes=4, line_bytes=32))


@measure("pax-block-size-range")
def _(study: Study) -> pd.Series[float]:
    machines = (XEON, ULTRASPARC, ALPHA, ITANIUM2)
    return pd.Series([float(largest_cache(study.machine(name))["line_bytes"]) for name in machines])


@measure("pax-block-size-trend")
def _(_study: Study) -> Holds:
    sizes = pd.Index([32, 64, 128], name="line_bytes")
    lines = [float(page_layout.aligned_lines_per_record("pax", attribute_bytes=8, line_bytes=size)) for size in sizes]
    return falling(pd.Series(lines, index=sizes), along="line_bytes")


@measure("pax-dsm-space")
def _(study: Study) -> Holds:
    return clearly_less(series(study["relation"], NSM, "pages"), series(study["relation"], DSM, "pages"))


@measure("pax-sum-no-storage-penalty")
def _(study: Study) -> Holds:
    mine = series(study["relation"], PAX, "pages")
    return all_of(no_more(mine, series(study["relation"], layout, "pages")) for layout in (NSM, DSM))


@measure("pax-same-pages")
def _(study: Study) -> Holds:
    space = study["space"]
    return all_of(alike(series(space, PAX, f"{table}_pages"), series(space, NSM, f"{table}_pages")) for table in TABLES)


@measure("pax-nsm-offsets")
def _(_study: Study) -> float:
    return float(page_layout.offsets_per_record("nsm", variable=0))


@measure("pax-pax-offsets")
def _(_study: Study) -> float:
    return float(page_layout.offsets_per_record("pax", variable=1))


# Section 4.1


@measure("pax-shore-overhead")
def _(_study: Study) -> float:
    return page_layout.record_overhead("nsm")


@measure("pax-shore-tag-extra")
def _(_study: Study) -> float:
    return page_layout.tag_excess(header_bytes=8)


@measure("pax-tpch-storage-saving")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["space"], PAX, over=NSM, column="pages")


@measure("pax-slot-saving")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(study["space"], NSM, "slot_bytes", per="bytes")


@measure("pax-shore-tag-storage")
def _(study: Study) -> pd.Series[float]:
    space = rows(study["space"], NSM)
    records = reduce(pd.Series.add, [series(space, NSM, f"{table}_records") for table in TABLES])
    excess = records * page_layout.tag_excess(header_bytes=8)
    return 100 * excess / (series(space, NSM, "bytes") - excess)


# Settings of sections 5 to 7


@measure("pax-fig6-selectivity")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(study["selection"], NSM, "returned", per="lineitem_records")


@measure("pax-values-per-line")
def _(study: Study) -> pd.Series[float]:
    return series(at(study["selection"], SELECTIVITY, 0.01), PAX, "bus_line_bytes", per="workload.attribute_bytes")


@measure("pax-l1-miss-penalty")
def _(study: Study) -> float:
    return float(study.machine(XEON)["caches"][1]["latency_cycles"])


@measure("pax-l2-miss-penalty")
def _(study: Study) -> float:
    return float(study.machine(XEON)["memory"]["latency_cycles"])


@measure("pax-retire-width")
def _(study: Study) -> float:
    return float(study.machine(XEON)["core"]["issue_width"])


@measure("pax-fig8-useless")
def _(study: Study) -> pd.Series[float]:
    return 100 * (1 - series(study["projectivity"], NSM, "returned", per="records"))


@measure("pax-records-per-page-8")
def _(study: Study) -> pd.Series[float]:
    return series(study["degree-8"], PAX, "records", per="pages")


@measure("pax-records-per-page-64")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([series(study["degree-64"], layout, "records", per="pages") for layout in (NSM, PAX)])


@measure("pax-minipages-8")
def _(study: Study) -> pd.Series[float]:
    return series(study["degree-8"], PAX, "workload.attributes")


@measure("pax-q1-selectivity")
def _(study: Study) -> pd.Series[float]:
    counts = [series(study["q1"], NSM, f"answer.{group}.count_order", per="lineitem_records") for group in ("AF", "NF", "NO", "RF")]
    return 100 * reduce(pd.Series.add, counts)


@measure("pax-q6-selectivity")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(study["q6"], NSM, "calls_aggregate", per="lineitem_records")


@measure("pax-q1q6-record-share")
def _(_study: Study) -> pd.Series[float]:
    lineitem = tpch.tables(scale_factor=1)["lineitem"]
    read = [lineitem.pick(tpch.columns_in(lineitem, tpch.QUERIES[query])) for query in ("Q1", "Q6")]
    return pd.Series([sum(column.average_bytes for column in columns) / lineitem.average_bytes for columns in read])


@measure("pax-tpcc-history-max")
def _(_study: Study) -> float:
    (history,) = tpcc.tables(warehouses=1)["customer"].pick(["c_data"])
    return history.bytes
