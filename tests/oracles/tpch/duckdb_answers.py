"""What DuckDB answers to the queries of the kernel `tpch`, over the same generated tables.

    python tests/oracles/tpch/duckdb_answers.py 0.01 0.1 0.2 0.5 > tests/oracles/tpch/answers.csv

Predicates are those of the PAX paper's appendix B. Where the paper asks for an average, the sum stands here: sums of
decimals are exact, and the counts are there to divide by. Values are whole numbers: decimals without their point.
"""

import csv
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from memwalk.simcore.engines import native

_DECIMAL = "DECIMAL(15,2)"

TABLES = {
    "lineitem": dict.fromkeys(("l_quantity", "l_extendedprice", "l_discount", "l_tax"), _DECIMAL),
    "orders": {"o_totalprice": _DECIMAL},
    "part": {"p_retailprice": _DECIMAL},
}
"""The tables that the queries need, and those of their columns whose type DuckDB would guess wrong."""

QUERIES = {
    "q1": """
        SELECT l_returnflag || l_linestatus AS "group",
               sum(l_quantity) AS sum_qty,
               sum(l_extendedprice) AS sum_base_price,
               sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
               sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
               sum(l_quantity) AS avg_qty_sum,
               sum(l_extendedprice) AS avg_price_sum,
               sum(l_discount) AS avg_disc_sum,
               count(*) AS count_order
        FROM lineitem
        WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL 116 DAY
        GROUP BY l_returnflag, l_linestatus""",
    "q6": """
        SELECT NULL AS "group", sum(l_extendedprice * l_discount) AS revenue
        FROM lineitem
        WHERE l_shipdate >= DATE '1997-01-01' AND l_shipdate < DATE '1997-01-01' + INTERVAL 1 YEAR
          AND l_discount BETWEEN 0.05 - 0.01 AND 0.05 + 0.01
          AND l_quantity < 24""",
    "q12": """
        SELECT l_shipmode AS "group",
               count(*) FILTER (o_orderpriority IN ('1-URGENT', '2-HIGH')) AS high_line_count,
               count(*) FILTER (o_orderpriority NOT IN ('1-URGENT', '2-HIGH')) AS low_line_count
        FROM orders JOIN lineitem ON o_orderkey = l_orderkey
        WHERE l_shipmode IN ('SHIP', 'RAIL')
          AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
          AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1994-01-01' + INTERVAL 1 YEAR
        GROUP BY l_shipmode""",
    "q14": """
        SELECT NULL AS "group",
               sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) AS promo_revenue,
               sum(l_extendedprice * (1 - l_discount)) AS revenue
        FROM lineitem JOIN part ON l_partkey = p_partkey
        WHERE l_shipdate >= DATE '1997-09-01' AND l_shipdate < DATE '1997-09-01' + INTERVAL 1 MONTH""",
}


def load(scale_factor: float, folder: Path) -> duckdb.DuckDBPyConnection:
    """A database of the generated tables."""
    database = duckdb.connect()
    for table, types in TABLES.items():
        path = folder / f"{table}.csv"
        native.export_tpch(table, scale_factor, path)
        database.read_csv(str(path), dtype=types).create(table)
    return database


def answers(database: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[str, int]]:
    """Results by the names that the kernel gives them."""
    result = database.execute(QUERIES[query])
    names = [column[0] for column in result.description or ()]
    for group, *values in result.fetchall():
        for name, value in zip(names[1:], values, strict=True):
            yield ".".join(filter(None, (group, name))), _whole(value)


def _whole(value: Any) -> int:
    return int(value.scaleb(-value.as_tuple().exponent)) if isinstance(value, Decimal) else int(value)


def main() -> None:
    output = csv.writer(sys.stdout, lineterminator="\n")
    output.writerow(("duckdb", "scale_factor", "query", "name", "value"))
    for scale_factor in map(float, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            database = load(scale_factor, Path(folder))
            for query in QUERIES:
                for name, value in sorted(answers(database, query)):
                    output.writerow((duckdb.__version__, scale_factor, query, name, value))


if __name__ == "__main__":
    main()
