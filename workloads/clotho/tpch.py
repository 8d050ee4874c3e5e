"""TPC-H as Clotho's experiments store it (section 7.3): four queries, and the columns that they read."""

from memwalk.workloads.tables import Column, Table, tpch

QUERIES: dict[str, tuple[str, ...]] = {
    "q1": ("lineitem",),
    "q6": ("lineitem",),
    "q12": ("lineitem", "orders"),
    "q14": ("lineitem", "part"),
}
"""The tables that a query goes through, in order: a join builds its hash table of the first."""

_VARIABLE = {"l_shipinstruct": 12.0}
"""Columns of variable length beside those that TPC-H declares so, with the average length of their values.

It varies in Shore's tables of the PAX study (section 7.1): the mean of its four texts.
"""
_FIXED = ("p_type",)
"""Columns of fixed length although TPC-H lets them vary: the four queries ask for none that varies (Clotho, section 7.1)."""


def tables(scale_factor: float) -> dict[str, Table]:
    """Give TPC-H's tables by name."""
    return {
        name: Table(name, tuple(_stored(column) for column in table.columns), table.records)
        for name, table in tpch.tables(scale_factor).items()
    }


def columns(query: str, table: Table) -> tuple[str, ...]:
    """Give the columns of ``table`` that a query of :data:`QUERIES` reads."""
    return tpch.columns_in(table, tpch.QUERIES[query.upper()])


def _stored(column: Column) -> Column:
    if column.name in _VARIABLE:
        return Column(column.name, "varchar", column.bytes, _VARIABLE[column.name])
    if column.name in _FIXED:
        return Column.fixed(column.name, "char", column.bytes)
    return column
