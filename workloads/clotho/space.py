"""Space of A-pages against that of slotted pages, as the paper counts it (section 7.6, Figure 11).

It counts what internal fragmentation costs, so what every layout keeps per record is left out on both sides: a slotted page holds as
many records as its bytes do. A minipage takes a block at least; larger ones end where their values end.
"""

from bisect import bisect_right

from memwalk.workloads.tables import Table


def slotted_records(table: Table, page_bytes: int) -> int:
    """Return the records of the greatest length that a page of ``page_bytes`` holds one after another."""
    return page_bytes // table.bytes


def a_page_records(table: Table, page_bytes: int, block_bytes: int) -> int:
    """Return the records of the greatest length whose minipages fit into a page; 0 if there is no block for every column."""

    def taken(records: int) -> int:
        return sum(max(block_bytes, records * column.bytes) for column in table.columns)

    return max(0, bisect_right(range(page_bytes + 1), page_bytes, key=taken) - 1)


def space_efficiency(table: Table, page_bytes: int, block_bytes: int) -> float:
    """Return the records of an A-page over those of a slotted page of the same size.

    Raises ValueError if not even one record fits into a slotted page.
    """
    slotted = slotted_records(table, page_bytes)
    if not slotted:
        raise ValueError(f"a record of {table.name} has {table.bytes} bytes and does not fit into a page of {page_bytes}; make it larger")
    return a_page_records(table, page_bytes, block_bytes) / slotted
