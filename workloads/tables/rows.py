"""Layouts that keep all values of a record in one page: one file, all of which a scan reads."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from memwalk.workloads.tables.extent import Extent
from memwalk.workloads.tables.page import PAGE_8K, Format, PageFormat
from memwalk.workloads.tables.schema import Table


@dataclass(frozen=True)
class RecordPages(ABC):
    """Pages with whole records, one after another; what differs is how many fit into a page."""

    table: Table
    first_block: int = 0
    page: PageFormat = PAGE_8K

    @property
    @abstractmethod
    def _format(self) -> Format:
        """The format of the pages."""

    @cached_property
    def records_per_page(self) -> int:
        """Records of average length that a page holds."""
        return self.page.records(self._format, self.table)

    @property
    def pages(self) -> int:
        """Pages that the table takes."""
        return self.page.pages(self.table.records, self.records_per_page)

    @property
    def blocks(self) -> int:
        """Storage blocks that the table takes."""
        return self.pages * self.page.blocks

    def scan(self, columns: Collection[str]) -> list[list[Extent]]:
        """Give the whole file, whichever columns are asked for."""
        self.table.pick(columns)
        return [[Extent(self.first_block, self.blocks)]]

    def record(self, record: int, columns: Collection[str]) -> list[Extent]:
        """Give the page of a record."""
        self.table.pick(columns)
        return [Extent(self.first_block + record // self.records_per_page * self.page.blocks, self.page.blocks)]
