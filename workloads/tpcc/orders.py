"""The orders of all districts: which records they are, whose, and which await delivery.

What the tables hold at the beginning is the same in every district, so that nothing has to be kept for each of millions of records.
"""

from itertools import accumulate
from random import Random
from typing import NamedTuple

from memwalk.workloads.tpcc.schema import CUSTOMERS, DISTRICTS, ITEMS, ORDER_LINES, ORDERS, UNDELIVERED

LINES = range(5, 16)
"""Lines of an order (section 2.4.1.3)."""
_MIX = 2654435761
"""A multiplier that scatters consecutive numbers (Knuth, The Art of Computer Programming 3, section 6.4)."""


class Order(NamedTuple):
    """An order of a district; customers are numbered within it."""

    number: int
    record: int
    """Its record in ``orders``."""
    waiting: int
    """Its record in ``new_orders``, if it awaits delivery."""
    customer: int
    first_line: int
    """Its first record in ``order_line``; the others follow."""
    position: int
    """The place of its first line among all lines of the district."""
    items: tuple[int, ...]
    """What the lines are for."""


def waiting_position(number: int) -> int:
    """Return the place of an order's key among those of its district in ``new_orders``."""
    return number - (ORDERS - UNDELIVERED)


class OrderBook:
    """Orders by district, districts being numbered through all warehouses. Orders are numbered from 0 within a district."""

    def __init__(self, warehouses: int, random: Random) -> None:
        """Place the orders of the beginning: one of each customer, in random order, with 10 lines on average."""
        districts = warehouses * DISTRICTS
        whole, rest = divmod(ORDERS, len(LINES))
        self._lines = [*LINES] * whole + [ORDER_LINES // ORDERS] * rest
        random.shuffle(self._lines)
        self._offsets = [*accumulate(self._lines, initial=0)]
        self._customers = [*range(CUSTOMERS)]
        random.shuffle(self._customers)
        self._first_order = {customer: number for number, customer in enumerate(self._customers)}
        self._orders: list[list[Order]] = [[] for _ in range(districts)]
        self._latest: dict[tuple[int, int], Order] = {}
        self._oldest_undelivered = [ORDERS - UNDELIVERED] * districts
        self._lines_of_district = [ORDER_LINES] * districts
        self.placed = 0
        """Orders entered since the beginning."""
        self._next_record = districts * ORDERS
        self._next_waiting = districts * UNDELIVERED
        self._next_line = districts * ORDER_LINES

    def place(self, district: int, customer: int, items: tuple[int, ...]) -> Order:
        """Enter an order: its records come behind all others."""
        number = self.next_number(district)
        position = self._lines_of_district[district]
        order = Order(number, self._next_record, self._next_waiting, customer, self._next_line, position, items)
        self.placed += 1
        self._next_record += 1
        self._next_waiting += 1
        self._next_line += len(items)
        self._lines_of_district[district] += len(items)
        self._orders[district].append(order)
        self._latest[district, customer] = order
        return order

    def next_number(self, district: int) -> int:
        """Return the number that the next order of a district gets."""
        return ORDERS + len(self._orders[district])

    def order(self, district: int, number: int) -> Order:
        """Look an order up."""
        if number >= ORDERS:
            return self._orders[district][number - ORDERS]
        position = self._offsets[number]
        first = district * ORDER_LINES + position
        items = tuple(line * _MIX % 2**32 % ITEMS for line in range(first, first + self._lines[number]))
        waiting = district * UNDELIVERED + waiting_position(number)
        return Order(number, district * ORDERS + number, waiting, self._customers[number], first, position, items)

    def latest(self, district: int, customer: int) -> Order:
        """Return a customer's last order."""
        return self._latest.get((district, customer)) or self.order(district, self._first_order[customer])

    def recent(self, district: int, orders: int) -> list[Order]:
        """List the last orders of a district, oldest first."""
        end = self.next_number(district)
        return [self.order(district, number) for number in range(end - orders, end)]

    def deliver(self, district: int) -> Order | None:
        """Take the oldest order that awaits delivery; None if there is none."""
        number = self._oldest_undelivered[district]
        if number == self.next_number(district):
            return None
        self._oldest_undelivered[district] += 1
        return self.order(district, number)
