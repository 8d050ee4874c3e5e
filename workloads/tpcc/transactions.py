"""TPC-C's five transactions as visits to records and index leaves (specification revision 5.11, section 2).

A transaction's keys are drawn when it begins. Left out: the hundredth of the new orders that is rolled back (2.4.1.4), locks and
the log. Customers with one last name are taken to be three, numbers 1000 apart, of which the middle one is meant (4.3.2.3).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from memwalk.workloads.tpcc import statements as sql
from memwalk.workloads.tpcc.access import Access, Action, IndexVisit, Statement, Visit
from memwalk.workloads.tpcc.index import indexes
from memwalk.workloads.tpcc.orders import LINES, OrderBook, waiting_position
from memwalk.workloads.tpcc.schema import CUSTOMERS, DISTRICTS, ITEMS, UNDELIVERED

MIX = {"new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4}
"""Transactions of each kind in a hundred (section 5.2.3)."""

BY_NAME = 0.6
"""Share of the customers that are looked up by last name (2.5.1.2, 2.6.1.2)."""
REMOTE_CUSTOMER = 0.15
"""Share of the payments by a customer of another warehouse (2.5.1.2)."""
REMOTE_STOCK = 0.01
"""Share of the order lines that another warehouse supplies (2.4.1.5)."""
BAD_CREDIT = 10
"""Every tenth customer has it (4.3.3.1)."""
NAMES = 1000
"""Last names (4.3.2.3)."""
RECENT_ORDERS = 20
"""Orders of a district that Stock-Level looks at (2.8.2.2)."""


@dataclass(frozen=True)
class Transaction:
    """A transaction of the mix and its visits, in order."""

    kind: str
    visits: Sequence[Visit]


class Terminals:
    """Everybody who enters transactions. Terminals belong to the warehouses in turn; each has random numbers of its own."""

    def __init__(self, warehouses: int, terminals: int, seed: int) -> None:
        """Start with the database as it is loaded; equal seeds give equal transactions for equal calls."""
        shared = Random(f"{seed} database")
        self.warehouses = warehouses
        self.count = terminals
        self.orders = OrderBook(warehouses, shared)
        self.indexes = indexes(warehouses)
        self._randoms = [Random(f"{seed} terminal {number}") for number in range(terminals)]
        self._constants = {most: shared.randint(0, most) for most in (255, 1023, 8191)}
        self._history = warehouses * DISTRICTS * CUSTOMERS
        self._makers: dict[str, Callable[[int, Random], Iterator[Visit]]] = {
            "new-order": self._new_order,
            "payment": self._payment,
            "order-status": self._order_status,
            "delivery": self._delivery,
            "stock-level": self._stock_level,
        }

    @property
    def growth(self) -> float:
        """How much the table that grows fastest has grown, as a share of what it began with."""
        return self.orders.placed / (self.warehouses * DISTRICTS * UNDELIVERED)

    def next(self, terminal: int) -> Transaction:
        """Draw a terminal's next transaction; what it enters is there for all that are drawn after it."""
        random = self._randoms[terminal]
        (kind,) = random.choices([*MIX], [*MIX.values()])
        return Transaction(kind, [*self._makers[kind](terminal % self.warehouses, random)])

    def _new_order(self, warehouse: int, random: Random) -> Iterator[Visit]:
        local = random.randrange(DISTRICTS)
        district = warehouse * DISTRICTS + local
        customer = self._customer(random)
        supplies = [(self._skewed(random, 8191, ITEMS), self._supplier(warehouse, random)) for _ in range(random.choice(LINES))]
        order = self.orders.place(district, customer, tuple(item for item, _ in supplies))

        yield from self._one(sql.WAREHOUSE_TAX, "warehouse", 0, warehouse, warehouse)
        yield from self._one(sql.ORDER_NUMBER, "district", 0, district, district)
        yield from self._one(sql.CUSTOMER_DISCOUNT, "customer", district, customer, district * CUSTOMERS + customer)
        yield from self._one(sql.NEW_ORDER, "orders", district, order.number, order.record)
        yield self._leaf("orders_customer", district, customer, changes=True)
        yield from self._one(sql.NEW_UNDELIVERED, "new_orders", district, waiting_position(order.number), order.waiting)
        for line, (item, supplier) in enumerate(supplies):
            stock = sql.STOCK[local, supplier != warehouse]
            yield from self._one(sql.ITEM, "item", 0, item, item)
            yield from self._one(stock, "stock", supplier, item, supplier * ITEMS + item)
            yield from self._one(sql.NEW_LINE, "order_line", district, order.position + line, order.first_line + line)

    def _payment(self, warehouse: int, random: Random) -> Iterator[Visit]:
        district = warehouse * DISTRICTS + random.randrange(DISTRICTS)
        home = self._other(warehouse, random) * DISTRICTS + random.randrange(DISTRICTS) if random.random() < REMOTE_CUSTOMER else district
        yield from self._one(sql.WAREHOUSE_PAID, "warehouse", 0, warehouse, warehouse)
        yield from self._one(sql.DISTRICT_PAID, "district", 0, district, district)
        by_name = random.random() < BY_NAME
        customer = self._named(random) if by_name else self._customer(random)
        statement = sql.BAD_CREDIT_PAID if customer % BAD_CREDIT == 0 else sql.CUSTOMER_PAID
        yield self._customer_leaf(home, customer, by_name=by_name)
        yield Access(statement, home * CUSTOMERS + customer)
        yield Access(sql.NEW_HISTORY, self._history)
        self._history += 1

    def _order_status(self, warehouse: int, random: Random) -> Iterator[Visit]:
        district = warehouse * DISTRICTS + random.randrange(DISTRICTS)
        by_name = random.random() < BY_NAME
        customer = self._named(random) if by_name else self._customer(random)
        order = self.orders.latest(district, customer)
        yield self._customer_leaf(district, customer, by_name=by_name)
        yield Access(sql.CUSTOMER_BALANCE, district * CUSTOMERS + customer)
        yield from self._one(sql.ORDER_STATUS, "orders_customer", district, customer, order.record)
        yield self._leaf("order_line", district, order.position)
        yield Access(sql.LINE_STATUS, order.first_line, len(order.items))

    def _delivery(self, warehouse: int, random: Random) -> Iterator[Visit]:  # noqa: ARG002 (all makers are called alike)
        for district in range(warehouse * DISTRICTS, (warehouse + 1) * DISTRICTS):
            order = self.orders.deliver(district)
            if order is None:
                continue
            yield from self._one(sql.DELIVERED, "new_orders", district, waiting_position(order.number), order.waiting)
            yield from self._one(sql.ORDER_DELIVERED, "orders", district, order.number, order.record)
            yield self._leaf("order_line", district, order.position)
            yield Access(sql.LINE_DELIVERED, order.first_line, len(order.items))
            yield from self._one(sql.CUSTOMER_DELIVERED, "customer", district, order.customer, district * CUSTOMERS + order.customer)

    def _stock_level(self, warehouse: int, random: Random) -> Iterator[Visit]:
        district = warehouse * DISTRICTS + random.randrange(DISTRICTS)
        yield from self._one(sql.DISTRICT_NEXT_ORDER, "district", 0, district, district)
        seen: dict[int, None] = {}
        for order in self.orders.recent(district, RECENT_ORDERS):
            yield self._leaf("order_line", district, order.position)
            yield Access(sql.LINE_ITEM, order.first_line, len(order.items))
            seen |= dict.fromkeys(order.items)
        for item in seen:
            yield from self._one(sql.STOCK_QUANTITY, "stock", warehouse, item, warehouse * ITEMS + item)

    def _one(self, statement: Statement, index: str, group: int, position: int, record: int) -> Iterator[Visit]:
        """Find a record by an index and work on it; the index changes if the record comes or goes."""
        yield self._leaf(index, group, position, changes=statement.action in (Action.INSERT, Action.DELETE))
        yield Access(statement, record)

    def _leaf(self, index: str, group: int, position: int, *, changes: bool = False) -> IndexVisit:
        return IndexVisit(index, self.indexes[index].leaf(group, position), changes)

    def _customer_leaf(self, district: int, customer: int, *, by_name: bool) -> IndexVisit:
        if not by_name:
            return self._leaf("customer", district, customer)
        same_name = CUSTOMERS // NAMES
        return self._leaf("customer_name", district, customer % NAMES * same_name + customer // NAMES)

    def _supplier(self, warehouse: int, random: Random) -> int:
        return self._other(warehouse, random) if random.random() < REMOTE_STOCK else warehouse

    def _other(self, warehouse: int, random: Random) -> int:
        """Draw another warehouse, if there is one."""
        return (warehouse + random.randint(1, max(1, self.warehouses - 1))) % self.warehouses

    def _customer(self, random: Random) -> int:
        return self._skewed(random, 1023, CUSTOMERS)

    def _named(self, random: Random) -> int:
        """Draw a last name; of its customers, the middle one is meant."""
        return NAMES + self._skewed(random, 255, NAMES)

    def _skewed(self, random: Random, most: int, count: int) -> int:
        """Draw one of ``count`` numbers from 0 on, some of them much more often than others: NURand of section 2.1.6."""
        return ((random.randint(0, most) | random.randrange(count)) + self._constants[most]) % count
