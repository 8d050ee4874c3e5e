"""Pages: their size on storage, and how many records they hold.

What the kernels' pages (`workloads/src/page`) keep beside the values has one definition there, and is asked for here.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from memwalk.simcore.engines import native
from memwalk.workloads.tables.schema import Table

BITS_PER_BYTE = 8

Format: TypeAlias = Literal["nsm", "pax"]
"""Formats of the kernels' pages."""

_shares = cache(native.page_shares)


@dataclass(frozen=True)
class PageFormat:
    """What all layouts of a table agree on."""

    bytes: int = 8192
    blocks: int = 16
    """Storage blocks of a page: 8 KiB in blocks of 512 bytes."""
    header_bytes: int = 32
    """Header of every page: the kernel ``table``'s default."""

    def __post_init__(self) -> None:
        if not (0 <= self.header_bytes < self.bytes and self.blocks > 0):
            raise ValueError(f"a page of {self.bytes} bytes with a header of {self.header_bytes} in {self.blocks} blocks holds nothing")

    def records(self, format_: Format, table: Table) -> int:
        """Give the records of average length that a page of one of the kernels' formats holds.

        Raises ValueError if there is no room for one.
        """
        variable = sum(column.variable for column in table.columns)
        fixed = len(table.columns) - variable
        shares = _shares(table.average_bytes, fixed, variable, self.bytes, self.header_bytes)[format_]
        return self._some(int(shares["records"]), shares["record_bytes"])

    def capacity(self, record_bytes: float) -> int:
        """Give the records of ``record_bytes``, with all that is kept for them, that fit behind the header.

        Raises ValueError if there is no room for one.
        """
        return self._some(int((self.bytes - self.header_bytes) / record_bytes), record_bytes)

    def _some(self, records: int, record_bytes: float) -> int:
        if records < 1:
            raise ValueError(f"a record of {record_bytes:g} bytes does not fit into a page of {self.bytes}; make pages larger")
        return records

    def pages(self, records: int, capacity: int) -> int:
        """Give the pages that ``records`` records take, ``capacity`` in each."""
        return -(-records // capacity)


PAGE_8K = PageFormat()
"""Pages of 8 KiB in blocks of 512 bytes."""
