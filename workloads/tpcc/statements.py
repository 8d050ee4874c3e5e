"""The statements of TPC-C's transactions: which columns of which table they read and write (specification, section 2)."""

from memwalk.workloads.tpcc.access import Action, Statement
from memwalk.workloads.tpcc.schema import DISTRICTS


def _read(table: str, columns: str) -> Statement:
    return Statement(table, Action.READ, reads=tuple(columns.split()))


def _update(table: str, reads: str, writes: str) -> Statement:
    return Statement(table, Action.UPDATE, reads=tuple(reads.split()), writes=tuple(writes.split()))


def _insert(table: str) -> Statement:
    return Statement(table, Action.INSERT)


# New-Order (2.4.2)
WAREHOUSE_TAX = _read("warehouse", "w_tax")
ORDER_NUMBER = _update("district", "d_tax d_next_o_id", "d_next_o_id")
CUSTOMER_DISCOUNT = _read("customer", "c_discount c_last c_credit c_data")
"""The specification does without ``c_data``; in Clotho's prototype one query of new orders asks for it (section 7.1)."""
ITEM = _read("item", "i_price i_name i_data")
_STOCK = "s_quantity s_ytd s_order_cnt"
STOCK = {
    (district, remote): _update("stock", f"{_STOCK} s_dist_{district + 1:02}" + " s_remote_cnt" * remote, _STOCK + " s_remote_cnt" * remote)
    for district in range(DISTRICTS)
    for remote in (False, True)
}
"""By the district whose text goes into the order line, and whether the stock is another warehouse's.

The specification has ``s_data`` read as well; Clotho's users rarely do (section 7.6).
"""
NEW_ORDER = _insert("orders")
NEW_UNDELIVERED = _insert("new_orders")
NEW_LINE = _insert("order_line")

# Payment (2.5.2)
WAREHOUSE_PAID = _update("warehouse", "w_name w_street_1 w_street_2 w_city w_state w_zip w_ytd", "w_ytd")
DISTRICT_PAID = _update("district", "d_name d_street_1 d_street_2 d_city d_state d_zip d_ytd", "d_ytd")
_CUSTOMER = """c_first c_middle c_last c_street_1 c_street_2 c_city c_state c_zip c_phone c_since c_credit c_credit_lim c_discount
    c_balance c_ytd_payment c_payment_cnt"""
CUSTOMER_PAID = _update("customer", _CUSTOMER, "c_balance c_ytd_payment c_payment_cnt")
BAD_CREDIT_PAID = _update("customer", _CUSTOMER + " c_data", "c_balance c_ytd_payment c_payment_cnt c_data")
"""A tenth of the customers: the payment is noted in ``c_data``."""
NEW_HISTORY = _insert("history")

# Order-Status (2.6.2)
CUSTOMER_BALANCE = _read("customer", "c_balance c_first c_middle c_last")
ORDER_STATUS = _read("orders", "o_id o_entry_d o_carrier_id")
LINE_STATUS = _read("order_line", "ol_i_id ol_supply_w_id ol_quantity ol_amount ol_delivery_d")

# Delivery (2.7.4)
DELIVERED = Statement("new_orders", Action.DELETE, reads=("no_o_id",))
ORDER_DELIVERED = _update("orders", "o_c_id", "o_carrier_id")
LINE_DELIVERED = _update("order_line", "ol_amount", "ol_delivery_d")
CUSTOMER_DELIVERED = _update("customer", "c_balance c_delivery_cnt", "c_balance c_delivery_cnt")

# Stock-Level (2.8.2)
DISTRICT_NEXT_ORDER = _read("district", "d_next_o_id")
LINE_ITEM = _read("order_line", "ol_i_id")
STOCK_QUANTITY = _read("stock", "s_quantity")
