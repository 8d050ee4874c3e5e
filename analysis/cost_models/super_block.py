"""Super-blocks in closed form (Zhou and Ross, "A Multi-resolution Block Storage Model for Database Design")."""

from fractions import Fraction

from memwalk.workloads.mbsm.placement import loads_in_order, loads_largest_first
from memwalk.workloads.tables import dsm


def largest_first_ratio(pages: int) -> Fraction:
    """Most loaded page over the best possible, largest pieces first, in the case that Graham gives as the worst.

    Two pieces of each size from 2p-1 down to p+1, and three of size p, fit into p pages exactly, 3p in each.
    """
    sizes = [size for size in range(2 * pages - 1, pages, -1) for _ in range(2)] + [pages] * 3
    return Fraction(max(loads_largest_first(sizes, pages)), 3 * pages)


def in_order_ratio(pages: int) -> Fraction:
    """Most loaded page over the best possible, pieces as they come, in the worst case: p(p-1) of size 1 and then one of size p."""
    return Fraction(max(loads_in_order([1] * (pages * (pages - 1)) + [pages], pages)), pages)


def record_number_bytes() -> int:
    """Bytes of the record number that DSM keeps beside each value (section 6.1)."""
    return dsm.RECORD_NUMBER_BYTES
