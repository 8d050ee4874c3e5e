"""The B-trees by which TPC-C's records are found, as numbers of leaves.

Every leaf holds keys of one group (a warehouse or a district), so that a new order goes behind its district's others and not behind
everybody's. A leaf that is added at the end of a group becomes the file's last page; other leaves do not split.
"""

from dataclasses import dataclass, field

from memwalk.workloads.tables.page import PAGE_8K
from memwalk.workloads.tpcc.schema import CUSTOMERS, DISTRICTS, ITEMS, ORDER_LINES, ORDERS, UNDELIVERED

FILL = 0.69
"""How full leaves are: ln 2, what random insertions leave (Yao 1978)."""
RECORD_ID_BYTES = 8
"""A record's page and slot beside its key; estimated: Shore's identifiers without the volume."""

_KEY_BYTES = {
    "warehouse": 2,
    "district": 3,
    "customer": 7,
    "customer_name": 35,
    "item": 4,
    "stock": 6,
    "orders": 7,
    "orders_customer": 11,
    "new_orders": 7,
    "order_line": 8,
}
"""Columns of the keys as the schema has them: those of the primary keys, a customer's names within a district, a customer's orders."""


@dataclass
class Index:
    """Leaves of an index: ``groups`` groups of keys with ``entries`` keys each at the beginning."""

    name: str
    groups: int
    entries: int
    page_bytes: int = PAGE_8K.bytes
    _added: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.per_leaf = int(self.page_bytes * FILL) // (_KEY_BYTES[self.name] + RECORD_ID_BYTES)
        self.leaves_per_group = -(-self.entries // self.per_leaf)

    @property
    def pages(self) -> int:
        """Leaves at the beginning."""
        return self.groups * self.leaves_per_group

    def leaf(self, group: int, position: int) -> int:
        """Return the leaf with the key at ``position`` of a group; a position behind all others adds a leaf when it must."""
        number = position // self.per_leaf
        if number < self.leaves_per_group:
            return group * self.leaves_per_group + number
        return self._added.setdefault((group, number), self.pages + len(self._added))


def indexes(warehouses: int) -> dict[str, Index]:
    """Give the indexes by name, as they are at the beginning."""
    districts = warehouses * DISTRICTS
    sizes = {
        "warehouse": (1, warehouses),
        "district": (1, districts),
        "customer": (districts, CUSTOMERS),
        "customer_name": (districts, CUSTOMERS),
        "item": (1, ITEMS),
        "stock": (warehouses, ITEMS),
        "orders": (districts, ORDERS),
        "orders_customer": (districts, CUSTOMERS),
        "new_orders": (districts, UNDELIVERED),
        "order_line": (districts, ORDER_LINES),
    }
    return {name: Index(name, groups, entries) for name, (groups, entries) in sizes.items()}
