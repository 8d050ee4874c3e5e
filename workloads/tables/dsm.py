"""DSM, the decomposition storage model: a file for each column, with the record's number beside each value."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from memwalk.workloads.tables.extent import Extent
from memwalk.workloads.tables.page import BITS_PER_BYTE, PAGE_8K, PageFormat
from memwalk.workloads.tables.schema import Column, Table

RECORD_NUMBER_BYTES = 4
"""Logical record number, the surrogate by which values are joined (MBSM section 6.1)."""
SLOT_BYTES = 4
"""Slot of a value of variable length; one of fixed length has a bit (MBSM section 2.1)."""


@dataclass(frozen=True)
class Dsm:
    """The files of all columns one after another, in the order of the schema.

    Pages are those of the MBSM paper's DSM, not those of the kernels, whose sub-relations are slotted pages with tags: values of fixed
    length have no slots.
    """

    table: Table
    first_block: int = 0
    page: PageFormat = PAGE_8K

    @property
    def pages(self) -> int:
        """Pages that the files take."""
        return sum(self._file_pages)

    @property
    def blocks(self) -> int:
        """Storage blocks that the files take."""
        return self.pages * self.page.blocks

    def scan(self, columns: Collection[str]) -> list[list[Extent]]:
        """Give the file of each column."""
        return [[self._files[column.name]] for column in self.table.pick(columns)]

    def record(self, record: int, columns: Collection[str]) -> list[Extent]:
        """Give a page of each column's file."""
        found = []
        for column in self.table.pick(columns):
            page = record // self.records_per_page(column)
            found.append(Extent(self._files[column.name].block + page * self.page.blocks, self.page.blocks))
        return found

    def records_per_page(self, column: Column) -> int:
        """Return the values of average length that a page of a column's file holds."""
        slot = SLOT_BYTES if column.variable else 1 / BITS_PER_BYTE
        return self.page.capacity(column.average_bytes + RECORD_NUMBER_BYTES + slot)

    @cached_property
    def _file_pages(self) -> list[int]:
        return [self.page.pages(self.table.records, self.records_per_page(column)) for column in self.table.columns]

    @cached_property
    def _files(self) -> dict[str, Extent]:
        sizes = [pages * self.page.blocks for pages in self._file_pages]
        starts = accumulate(sizes, initial=self.first_block)
        return {column.name: Extent(start, size) for column, start, size in zip(self.table.columns, starts, sizes, strict=False)}
