"""Pages: their size on storage, and what page formats keep beside the values.

The formats are those of the kernels' pages (`workloads/src/page`), so that a table has as many pages here as there.
"""

from dataclasses import dataclass

BITS_PER_BYTE = 8


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

    def capacity(self, record_bytes: float, once_bytes: int = 0) -> int:
        """Give the records of ``record_bytes`` that fit behind the header and ``once_bytes`` more.

        Raises ValueError if there is no room for one.
        """
        records = int((self.bytes - self.header_bytes - once_bytes) / record_bytes)
        if records < 1:
            raise ValueError(f"a record of {record_bytes:g} bytes does not fit into a page of {self.bytes}; make pages larger")
        return records

    def pages(self, records: int, capacity: int) -> int:
        """Give the pages that ``records`` records take, ``capacity`` in each."""
        return -(-records // capacity)


PAGE_8K = PageFormat()
"""Pages of 8 KiB in blocks of 512 bytes."""
