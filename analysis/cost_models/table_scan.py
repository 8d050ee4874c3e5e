"""Sequential scans of row stores and column stores: equations 1 to 15.

They are section 4 of Halverson et al. 2006, "A comparison of C-Store and row-store in a common framework". A scan costs disk
I/O, iteration in the storage manager and reconstruction of tuples, in cost units, which mean something relative to each
other only; `unit_ns` ties them to seconds. Page counts and random I/Os are not rounded, as in the paper, and neither are
the columns, so that crossings can be solved for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import Literal, TypeAlias

Store: TypeAlias = Literal["standard-row", "super-row", "super-column"]
"""Slotted pages of tuples; pages packed with tuples; pages packed with the values of one column."""


@dataclass(frozen=True)
class Table:
    """A table and the columns that a scan reads.

    Column abstraction stores the repeating values of sorted columns once per group: ``levels`` are the groups per group
    of the level before (`200000_10_4`, the way data sets are named in section 3.1), the last one tuples, and
    ``level_columns`` the columns stored at each level (`1_1_2`). Their products are ``rows`` and ``columns``.
    """

    rows: float
    columns: float
    scanned: float | None = None
    """Columns retrieved (S); all if absent."""
    levels: str = ""
    level_columns: str = ""

    def __post_init__(self) -> None:
        if self.rows <= 0 or self.columns <= 0 or not 0 < self.retrieved <= self.columns:
            raise ValueError(f"{self.retrieved} of {self.columns} columns of {self.rows} rows: expected some rows and 1 to all columns")
        if len(self.abstracted) != len(self.columns_by_level):
            raise ValueError(f"levels {self.levels!r} and level_columns {self.level_columns!r}: expected as many of one as of the other")
        if self.levels and (math.prod(numbers(self.levels)) != self.rows or sum(self.columns_by_level) != self.columns):
            raise ValueError(
                f"levels {self.levels!r} of {self.level_columns!r} columns: expected the product {self.rows} and the sum {self.columns}"
            )

    @property
    def retrieved(self) -> float:
        """S: columns retrieved."""
        return self.columns if self.scanned is None else self.scanned

    @property
    def abstracted(self) -> list[float]:
        """Tuples at each abstraction level, leaves last: the products of ||L(j)||."""
        return list(accumulate(numbers(self.levels), mul)) if self.levels else [self.rows]

    @property
    def columns_by_level(self) -> list[float]:
        """C(i): columns stored at each abstraction level."""
        return [float(n) for n in numbers(self.level_columns)] if self.level_columns else [self.columns]


@dataclass(frozen=True)
class Constants:
    """Table 4's constants, with the values that Table 5 gives for the prototype; costs in cost units."""

    sequential_io: float = 15_000
    """SEQIO, of a page that follows the one read before."""
    random_io: float = 450_000
    """RDMIO, of any other page."""
    function_call: float = 6
    """FC, of one field."""
    iteration: float = 80
    """IC, of one step of the storage manager's iterator."""
    pool_pages: float = 16_384
    """|BP|: pages of the buffer pool, half of which are for prefetching columns."""
    page_bytes: float = 32_000
    """PGSZ: usable bytes of a page."""
    column_bytes: float = 4
    """CSZ."""
    overhead_bytes: float = 16
    """OH: bytes that a standard row store adds to a tuple."""
    cold: float = 1
    """F: share of the pages that must be read from disk."""


PROTOTYPE_UNIT_NS = 13e9 / 808e6
"""A cost unit of the prototype: 13 s were measured for 8 million rows of four columns (section 3.3.2), 808 million units."""


@dataclass(frozen=True)
class ScanCost:
    """What a scan costs, in cost units."""

    io: float
    iteration: float
    reconstruction: float

    @property
    def total(self) -> float:
        """All of it: I/O and processing do not overlap."""
        return self.io + self.iteration + self.reconstruction


def abstraction_savings(table: Table, constants: Constants) -> float:
    """ABSAV (equation 13): bytes that column abstraction saves."""
    levels = zip(table.columns_by_level[:-1], table.abstracted[:-1], strict=True)
    return sum(columns * constants.column_bytes * (table.rows - tuples) for columns, tuples in levels)


def pages_stored(store: Store, table: Table, constants: Constants) -> float:
    """|R| of a standard row store (equation 14), |P| of super tuples (equation 15)."""
    overhead = constants.overhead_bytes if known(store) == "standard-row" else 0
    stored = table.rows * (overhead + table.columns * constants.column_bytes) - abstraction_savings(table, constants)
    return stored / constants.page_bytes


def pages_scanned(store: Store, table: Table, constants: Constants) -> float:
    """Pages that a scan reads: all of them, or |PS| of a column store (equation 7)."""
    share = table.retrieved / table.columns if known(store) == "super-column" else 1
    return share * pages_stored(store, table, constants)


def prefetch_pages(table: Table, constants: Constants) -> float:
    """|PC|: pages of one column that are read at once (equation 8)."""
    return constants.pool_pages / 2 / table.retrieved


def random_ios(table: Table, constants: Constants) -> float:
    """|RP|: random I/Os of a column store's scan (equation 9)."""
    return pages_scanned("super-column", table, constants) / prefetch_pages(table, constants)


def scan_cost(store: Store, table: Table, constants: Constants) -> ScanCost:
    """Cost of a sequential scan: equations 1 to 3, 4 to 6, or 10 to 12."""
    pages, call = pages_scanned(store, table, constants), constants.function_call
    sequential = pages * constants.sequential_io * constants.cold
    if store == "standard-row":
        return ScanCost(sequential, sum(table.abstracted) * constants.iteration, table.rows * call)
    if store == "super-row":
        return ScanCost(sequential, pages * constants.iteration, table.rows * call)
    positioning = random_ios(table, constants) * (constants.random_io - constants.sequential_io) * constants.cold
    values = sum(columns * tuples for columns, tuples in zip(table.columns_by_level, table.abstracted, strict=True))
    return ScanCost(sequential + positioning, pages * constants.iteration, table.retrieved / table.columns * values * call)


def scan_total(store: Store, table: Table, constants: Constants) -> float:
    """Total cost of a scan."""
    return scan_cost(store, table, constants).total


def scan_io(store: Store, table: Table, constants: Constants) -> float:
    """Cost of disk I/O in a scan (equations 1, 4 and 10)."""
    return scan_cost(store, table, constants).io


def scan_iteration(store: Store, table: Table, constants: Constants) -> float:
    """Cost of iterating in a scan (equations 2, 5 and 11)."""
    return scan_cost(store, table, constants).iteration


def scan_reconstruction(store: Store, table: Table, constants: Constants) -> float:
    """Cost of reconstructing tuples in a scan (equations 3, 6 and 12)."""
    return scan_cost(store, table, constants).reconstruction


def scan_iteration_share(store: Store, table: Table, constants: Constants) -> float:
    """Cost of iterating in a scan, in % of the total."""
    cost = scan_cost(store, table, constants)
    return 100 * cost.iteration / cost.total


def scan_ratio(store: Store, over: Store, table: Table, constants: Constants) -> float:
    """Total cost of scanning ``store`` over that of scanning ``over``."""
    return scan_total(store, table, constants) / scan_total(over, table, constants)


def iteration_over_io(tuples: float, constants: Constants) -> float:
    """Cost of iterating over ``tuples`` over that of reading a page (section 4.3.1)."""
    return tuples * constants.iteration / constants.sequential_io


def scan_seconds(store: Store, table: Table, constants: Constants, unit_ns: float = PROTOTYPE_UNIT_NS) -> float:
    """Seconds of a scan, if a cost unit takes ``unit_ns`` nanoseconds."""
    return scan_total(store, table, constants) * unit_ns * 1e-9


def unit_ns(seconds: float, store: Store, table: Table, constants: Constants) -> float:
    """Nanoseconds of a cost unit, if the scan was measured to take ``seconds``."""
    return seconds * 1e9 / scan_total(store, table, constants)


Along: TypeAlias = Literal["scanned", "columns", "columns-at-constant-fields", "iteration"]
"""What moves towards a crossing: columns scanned; columns, with the same share of them scanned, at constant rows or at
constant rows x columns; the cost of an iteration."""

_MOVED: dict[Along, Callable[[Table, Constants, float], tuple[Table, Constants]]] = {
    "scanned": lambda table, constants, x: (replace(table, scanned=x), constants),
    "columns": lambda table, constants, x: (replace(table, columns=x, scanned=table.retrieved / table.columns * x), constants),
    "columns-at-constant-fields": lambda table, constants, x: (
        replace(table, rows=table.rows * table.columns / x, columns=x, scanned=table.retrieved / table.columns * x),
        constants,
    ),
    "iteration": lambda table, constants, x: (table, replace(constants, iteration=x)),
}


def scan_crossing(store: Store, over: Store, *, along: Along, least: float, most: float, table: Table, constants: Constants) -> float:
    """Where between ``least`` and ``most`` the two stores cost the same, by bisection.

    Raises ValueError for an unknown ``along``, or if the same store is cheaper at both ends.
    """
    if along not in _MOVED:
        raise ValueError(f"along {along!r}: expected one of {', '.join(_MOVED)}")

    def ahead(x: float) -> bool:
        moved, costs = _MOVED[along](table, constants, x)
        return scan_total(store, moved, costs) > scan_total(over, moved, costs)

    at_least = ahead(least)
    if at_least == ahead(most):
        raise ValueError(f"{store} and {over} do not cross between {least} and {most} ({along})")
    while (middle := (least + most) / 2) not in (least, most):
        least, most = (middle, most) if ahead(middle) == at_least else (least, middle)
    return middle


def known(store: Store) -> Store:
    """Return ``store`` if there is such a one. Raises ValueError if not."""
    if store not in ("standard-row", "super-row", "super-column"):
        raise ValueError(f"store {store!r}: expected 'standard-row', 'super-row' or 'super-column'")
    return store


def numbers(text: str) -> list[int]:
    """Read `200000_10_4`."""
    parts = text.split("_")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(f"{text!r}: expected positive whole numbers with `_` between them, such as '200000_10_4'")
    return [int(part) for part in parts]
