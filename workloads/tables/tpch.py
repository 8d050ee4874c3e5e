"""The tables of TPC-H, and which columns each of its 22 queries names.

Types and lengths are those of the benchmark's schema (dss.ddl of its generator dbgen). Columns of a query are all that its text
names, sub-queries and the view of Query 15 included; a ``select *`` within ``exists`` counts for its conditions only. This is what
the MBSM paper calls an abstract query (section 6.2).
"""

from collections.abc import Iterable

from memwalk.workloads.tables.schema import Column, Table

INTEGER_BYTES = 4
DECIMAL_BYTES = 8
DATE_BYTES = 4

_RECORDS = {
    "region": 5,
    "nation": 25,
    "supplier": 10_000,
    "part": 200_000,
    "partsupp": 800_000,
    "customer": 150_000,
    "orders": 1_500_000,
    "lineitem": 6_001_215,
}
"""Records at scale factor 1; those of region and nation never change."""
_SAME_AT_EVERY_SCALE = ("region", "nation")

_COLUMNS = {
    "region": "r_regionkey integer, r_name char 25, r_comment varchar 152 66",
    "nation": "n_nationkey integer, n_name char 25, n_regionkey integer, n_comment varchar 152 74.28",
    "supplier": """s_suppkey integer, s_name char 25, s_address varchar 40 24.98, s_nationkey integer, s_phone char 15,
        s_acctbal decimal, s_comment varchar 101 62.57""",
    "part": """p_partkey integer, p_name varchar 55 32.75, p_mfgr char 25, p_brand char 10, p_type varchar 25 20.60, p_size integer,
        p_container char 10, p_retailprice decimal, p_comment varchar 23 13.51""",
    "partsupp": "ps_partkey integer, ps_suppkey integer, ps_availqty integer, ps_supplycost decimal, ps_comment varchar 199 123.61",
    "customer": """c_custkey integer, c_name varchar 25 18, c_address varchar 40 25.05, c_nationkey integer, c_phone char 15,
        c_acctbal decimal, c_mktsegment char 10, c_comment varchar 117 72.51""",
    "orders": """o_orderkey integer, o_custkey integer, o_orderstatus char 1, o_totalprice decimal, o_orderdate date,
        o_orderpriority char 15, o_clerk char 15, o_shippriority integer, o_comment varchar 79 48.51""",
    "lineitem": """l_orderkey integer, l_partkey integer, l_suppkey integer, l_linenumber integer, l_quantity decimal,
        l_extendedprice decimal, l_discount decimal, l_tax decimal, l_returnflag char 1, l_linestatus char 1, l_shipdate date,
        l_commitdate date, l_receiptdate date, l_shipinstruct char 25, l_shipmode char 10, l_comment varchar 44 26.49""",
}
"""Name, type and length; for ``varchar`` also the average length of the generated values at scale factor 1 (measured)."""

_QUERIES = {
    "Q1": "l_quantity l_extendedprice l_discount l_tax l_returnflag l_linestatus l_shipdate",
    "Q2": """s_suppkey s_name s_address s_nationkey s_phone s_acctbal s_comment n_nationkey n_name n_regionkey
        p_partkey p_mfgr p_type p_size ps_partkey ps_suppkey ps_supplycost r_regionkey r_name""",
    "Q3": """l_orderkey l_extendedprice l_discount l_shipdate o_orderkey o_custkey o_orderdate o_shippriority c_custkey c_mktsegment""",
    "Q4": "o_orderkey o_orderdate o_orderpriority l_orderkey l_commitdate l_receiptdate",
    "Q5": """n_nationkey n_name n_regionkey l_orderkey l_suppkey l_extendedprice l_discount c_custkey c_nationkey
        o_orderkey o_custkey o_orderdate s_suppkey s_nationkey r_regionkey r_name""",
    "Q6": "l_quantity l_extendedprice l_discount l_shipdate",
    "Q7": """n_nationkey n_name l_orderkey l_suppkey l_extendedprice l_discount l_shipdate s_suppkey s_nationkey
        o_orderkey o_custkey c_custkey c_nationkey""",
    "Q8": """o_orderkey o_custkey o_orderdate l_orderkey l_partkey l_suppkey l_extendedprice l_discount n_nationkey n_name n_regionkey
        p_partkey p_type s_suppkey s_nationkey c_custkey c_nationkey r_regionkey r_name""",
    "Q9": """n_nationkey n_name o_orderkey o_orderdate l_orderkey l_partkey l_suppkey l_quantity l_extendedprice l_discount
        ps_partkey ps_suppkey ps_supplycost s_suppkey s_nationkey p_partkey p_name""",
    "Q10": """c_custkey c_name c_address c_nationkey c_phone c_acctbal c_comment l_orderkey l_extendedprice l_discount l_returnflag
        n_nationkey n_name o_orderkey o_custkey o_orderdate""",
    "Q11": "ps_partkey ps_suppkey ps_availqty ps_supplycost s_suppkey s_nationkey n_nationkey n_name",
    "Q12": "l_orderkey l_shipdate l_commitdate l_receiptdate l_shipmode o_orderkey o_orderpriority",
    "Q13": "c_custkey o_orderkey o_custkey o_comment",
    "Q14": "p_partkey p_type l_partkey l_extendedprice l_discount l_shipdate",
    "Q15": "l_suppkey l_extendedprice l_discount l_shipdate s_suppkey s_name s_address s_phone",
    "Q16": "p_partkey p_brand p_type p_size ps_partkey ps_suppkey s_suppkey s_comment",
    "Q17": "l_partkey l_quantity l_extendedprice p_partkey p_brand p_container",
    "Q18": "c_custkey c_name o_orderkey o_custkey o_totalprice o_orderdate l_orderkey l_quantity",
    "Q19": """l_partkey l_quantity l_extendedprice l_discount l_shipinstruct l_shipmode p_partkey p_brand p_size p_container""",
    "Q20": """s_suppkey s_name s_address s_nationkey ps_partkey ps_suppkey ps_availqty p_partkey p_name
        l_partkey l_suppkey l_quantity l_shipdate n_nationkey n_name""",
    "Q21": """s_suppkey s_name s_nationkey l_orderkey l_suppkey l_commitdate l_receiptdate o_orderkey o_orderstatus n_nationkey n_name""",
    "Q22": "c_custkey c_phone c_acctbal o_custkey",
}

QUERIES: dict[str, tuple[str, ...]] = {query: tuple(columns.split()) for query, columns in _QUERIES.items()}
"""Columns that each query names, by query."""


def tables(scale_factor: float, date_bytes: int = DATE_BYTES) -> dict[str, Table]:
    """Give the eight tables by name, the smallest first; ``date_bytes`` is what a date takes."""
    return {name: Table(name, _columns(name, date_bytes), _records(name, scale_factor)) for name in _COLUMNS}


def columns_in(table: Table, query: Iterable[str]) -> tuple[str, ...]:
    """Give those of a query's columns that are columns of ``table``."""
    return tuple(name for name in query if name in table.names)


def _records(name: str, scale_factor: float) -> int:
    return _RECORDS[name] if name in _SAME_AT_EVERY_SCALE else round(_RECORDS[name] * scale_factor)


def _columns(name: str, date_bytes: int) -> tuple[Column, ...]:
    sizes = {"integer": INTEGER_BYTES, "decimal": DECIMAL_BYTES, "date": date_bytes}
    found = []
    for column in _COLUMNS[name].split(","):
        title, type_, *length = column.split()
        size = int(length[0]) if length else sizes[type_]
        found.append(Column(title, type_, size, float(length[-1]) if length else float(size)))
    return tuple(found)
