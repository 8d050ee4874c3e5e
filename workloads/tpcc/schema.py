"""The nine tables of TPC-C and how many records they begin with.

Columns and types are those of the benchmark's usual SQL schema (tpcc-mysql, create_table.sql), cardinalities those of its
specification (revision 5.11, sections 1.2 and 4.3.3.1). Text stands at its declared length, as in the records of a storage manager
without variable lengths, but for ``c_data``: the one column that Clotho stores as one of variable length (sections 6.2 and 7.1).
"""

from memwalk.workloads.tables import Column, Table

DISTRICTS = 10
"""Districts of a warehouse."""
CUSTOMERS = 3000
"""Customers of a district; each of them has placed one order when the run begins."""
ORDERS = CUSTOMERS
"""Orders of a district at the beginning."""
UNDELIVERED = 900
"""Of them, the latest, which are in ``new_orders``."""
ORDER_LINES = 10 * ORDERS
"""Lines of these orders: 5 to 15 each, 10 on average."""
ITEMS = 100_000
"""Items that can be ordered; every warehouse has a stock of each."""

_PER_WAREHOUSE = {
    "warehouse": 1,
    "district": DISTRICTS,
    "customer": DISTRICTS * CUSTOMERS,
    "history": DISTRICTS * CUSTOMERS,
    "new_orders": DISTRICTS * UNDELIVERED,
    "orders": DISTRICTS * ORDERS,
    "order_line": DISTRICTS * ORDER_LINES,
    "stock": ITEMS,
}

_BYTES = {"tinyint": 1, "smallint": 2, "integer": 4, "bigint": 8, "decimal": 8, "datetime": 8}

_ADDRESS = "street_1 char 20, {0}street_2 char 20, {0}city char 20, {0}state char 2, {0}zip char 9"
_DISTRICT_TEXTS = ", ".join(f"s_dist_{district:02} char 24" for district in range(1, DISTRICTS + 1))

_COLUMNS = {
    "warehouse": f"w_id smallint, w_name char 10, w_{_ADDRESS.format('w_')}, w_tax decimal, w_ytd decimal",
    "district": f"""d_id tinyint, d_w_id smallint, d_name char 10, d_{_ADDRESS.format("d_")}, d_tax decimal, d_ytd decimal,
        d_next_o_id integer""",
    "customer": f"""c_id integer, c_d_id tinyint, c_w_id smallint, c_first char 16, c_middle char 2, c_last char 16,
        c_{_ADDRESS.format("c_")}, c_phone char 16, c_since datetime, c_credit char 2, c_credit_lim bigint, c_discount decimal,
        c_balance decimal, c_ytd_payment decimal, c_payment_cnt smallint, c_delivery_cnt smallint, c_data varchar 500""",
    "history": """h_c_id integer, h_c_d_id tinyint, h_c_w_id smallint, h_d_id tinyint, h_w_id smallint, h_date datetime,
        h_amount decimal, h_data char 24""",
    "new_orders": "no_o_id integer, no_d_id tinyint, no_w_id smallint",
    "orders": """o_id integer, o_d_id tinyint, o_w_id smallint, o_c_id integer, o_entry_d datetime, o_carrier_id tinyint,
        o_ol_cnt tinyint, o_all_local tinyint""",
    "order_line": """ol_o_id integer, ol_d_id tinyint, ol_w_id smallint, ol_number tinyint, ol_i_id integer,
        ol_supply_w_id smallint, ol_delivery_d datetime, ol_quantity tinyint, ol_amount decimal, ol_dist_info char 24""",
    "item": "i_id integer, i_im_id integer, i_name char 24, i_price decimal, i_data char 50",
    "stock": f"""s_i_id integer, s_w_id smallint, s_quantity smallint, {_DISTRICT_TEXTS}, s_ytd decimal, s_order_cnt smallint,
        s_remote_cnt smallint, s_data char 50""",
}
"""Name, type and length. ``c_data`` has 300 to 500 characters (section 4.3.3.1); Clotho counts 500 (section 7.6)."""


def tables(warehouses: int) -> dict[str, Table]:
    """Give the tables by name, with what they hold at the beginning.

    Raises ValueError for less than one warehouse.
    """
    if warehouses < 1:
        raise ValueError(f"TPC-C with {warehouses} warehouses has no terminal; take one or more")
    records = {name: number * warehouses for name, number in _PER_WAREHOUSE.items()} | {"item": ITEMS}
    return {name: Table(name, _columns(text), records[name]) for name, text in _COLUMNS.items()}


def _columns(text: str) -> tuple[Column, ...]:
    found = []
    for column in text.split(","):
        name, type_, *length = column.split()
        found.append(Column.fixed(name, type_, int(length[0]) if length else _BYTES[type_]))
    return tuple(found)
