"""TPC-C by hand: sizes of its tables, what each transaction visits, the mix, and that equal seeds give equal transactions."""

import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwalk.workloads.tables import Dsm, Nsm, Pax
from memwalk.workloads.tpcc import MIX, Access, Action, Index, IndexVisit, Terminals, Transaction, indexes, statements, tables
from memwalk.workloads.tpcc.orders import OrderBook


def transactions(count: int, *, warehouses: int = 2, terminals: int = 4, seed: int = 1) -> list[Transaction]:
    entered = Terminals(warehouses, terminals, seed)
    return [entered.next(number % terminals) for number in range(count)]


def test_records_and_bytes_of_ten_warehouses() -> None:
    # Sums of the declared lengths by hand: a stock record is 4 + 2 + 2 + 10 x 24 + 8 + 2 + 2 + 50 = 310 bytes.
    assert {name: (table.records, table.bytes) for name, table in tables(10).items()} == {
        "warehouse": (10, 99),
        "district": (100, 104),
        "customer": (300_000, 674),
        "history": (300_000, 50),
        "new_orders": (90_000, 7),
        "orders": (300_000, 22),
        "order_line": (3_000_000, 55),
        "item": (100_000, 90),
        "stock": (1_000_000, 310),
    }


def test_pages_of_the_stock() -> None:
    stock = tables(10)["stock"]
    assert Nsm(stock).records_per_page == 25  # (8192 - 32) / (310 + 12 + 4)
    assert Nsm(stock).pages == 40_000
    assert Pax(stock).records_per_page == 25  # (8192 - 32 - 17 x 4) / (310 + 17 / 8)
    assert Dsm(stock).record(999_999, ["s_data"])[0].end == Dsm(stock).blocks


def test_a_database_needs_a_warehouse() -> None:
    with pytest.raises(ValueError, match="take one or more"):
        tables(0)


def test_leaves_of_an_index() -> None:
    # 8192 x 0.69 = 5652 bytes for keys of 6 bytes and record identifiers of 8: 403 per leaf, 249 leaves for 100,000.
    stock = indexes(10)["stock"]
    assert (stock.per_leaf, stock.leaves_per_group, stock.pages) == (403, 249, 2490)
    assert [stock.leaf(0, 402), stock.leaf(0, 403), stock.leaf(3, 0)] == [0, 1, 747]


def test_a_group_that_grows_takes_its_leaves_from_the_end() -> None:
    orders = Index("orders", groups=2, entries=376)
    assert (orders.per_leaf, orders.pages) == (376, 2)
    assert [orders.leaf(1, 376), orders.leaf(0, 376), orders.leaf(1, 751), orders.leaf(1, 752)] == [2, 3, 2, 4]


def test_the_mix() -> None:
    kinds = Counter(one.kind for one in transactions(10_000))
    for kind, share in MIX.items():
        assert kinds[kind] / 100 == pytest.approx(share, abs=1)


def test_visits_of_a_new_order() -> None:
    order = next(one for one in transactions(20) if one.kind == "new-order")
    tables_visited = Counter(visit.statement.table for visit in order.visits if isinstance(visit, Access))
    lines = tables_visited["order_line"]
    assert 5 <= lines <= 15
    assert tables_visited == {
        "warehouse": 1,
        "district": 1,
        "customer": 1,
        "orders": 1,
        "new_orders": 1,
        "item": lines,
        "stock": lines,
        "order_line": lines,
    }
    leaves = [visit for visit in order.visits if isinstance(visit, IndexVisit)]
    assert len(leaves) == 6 + 3 * lines  # one for each access, and the customer's entry for the order
    assert Counter(leaf.tree for leaf in leaves if leaf.changes) == {
        "orders": 1,
        "orders_customer": 1,
        "new_orders": 1,
        "order_line": lines,
    }


def test_visits_of_a_payment() -> None:
    payment = next(one for one in transactions(20) if one.kind == "payment")
    assert [type(visit) for visit in payment.visits] == [IndexVisit, Access, IndexVisit, Access, IndexVisit, Access, Access]
    assert [visit.statement.changes for visit in payment.visits if isinstance(visit, Access)] == [True] * 4


def test_a_delivery_takes_the_oldest_order_of_every_district() -> None:
    deliveries = [one for one in transactions(200, warehouses=1) if one.kind == "delivery"]
    first = [visit for visit in deliveries[0].visits if isinstance(visit, Access) and visit.statement is statements.DELIVERED]
    assert [visit.record for visit in first] == [900 * district for district in range(10)]
    second = [visit for visit in deliveries[1].visits if isinstance(visit, Access) and visit.statement is statements.DELIVERED]
    assert [visit.record for visit in second] == [900 * district + 1 for district in range(10)]


def test_an_order_is_delivered_once_and_found_by_its_customer() -> None:
    from random import Random

    book = OrderBook(1, Random(0))
    assert len(book.recent(9, 20)) == 20
    for _ in range(900):
        assert book.deliver(9) is not None
    assert book.deliver(9) is None
    placed = book.place(9, 17, (5, 6, 7, 8, 9))
    assert (placed.number, placed.record, placed.waiting, placed.first_line, placed.position) == (3000, 30_000, 9000, 300_000, 30_000)
    assert book.latest(9, 17) == placed == book.recent(9, 1)[0]
    assert book.latest(8, 17).number < 3000
    assert book.deliver(9) == placed
    assert book.deliver(9) is None


@settings(max_examples=15)
@given(warehouses=st.integers(1, 3), seed=st.integers(0, 1000))
def test_visits_stay_within_what_there_is(warehouses: int, seed: int) -> None:
    entered = Terminals(warehouses, 5, seed)
    there = {name: table.records for name, table in tables(warehouses).items()}
    known = {name: set(table.names) for name, table in tables(warehouses).items()}
    inserted: Counter[str] = Counter()
    for number in range(200):
        for visit in entered.next(number % 5).visits:
            if isinstance(visit, IndexVisit):
                assert 0 <= visit.leaf < entered.indexes[visit.tree].pages + number + 1
                continue
            table = visit.statement.table
            assert visit.statement.columns <= known[table]
            if visit.statement.action is Action.INSERT:
                assert visit.record == there[table] + inserted[table]
                inserted[table] += 1
            else:
                assert visit.record >= 0
                assert visit.record + visit.records <= there[table] + inserted[table]


def test_equal_seeds_give_equal_transactions_under_any_hash_seed() -> None:
    code = "from test_tpcc import transactions; print([(one.kind, [tuple(v)[1:] for v in one.visits]) for one in transactions(50)])"
    folder = os.path.dirname(__file__)
    said = set()
    for hash_seed in ("0", "4711"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join([folder, os.path.dirname(folder)])}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        said.add(run.stdout)
    assert len(said) == 1
    assert transactions(50, seed=1)[7:9] != transactions(50, seed=2)[7:9]
