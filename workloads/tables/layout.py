"""What every layout of a table on storage can do."""

from collections.abc import Collection
from typing import Protocol

from memwalk.workloads.tables.extent import Extent
from memwalk.workloads.tables.schema import Table


class Layout(Protocol):
    """A table laid out on storage from ``first_block`` on. Layouts are mappings: nothing here takes time."""

    @property
    def table(self) -> Table:
        """The table."""

    @property
    def pages(self) -> int:
        """Pages that the table takes."""

    @property
    def blocks(self) -> int:
        """Storage blocks that the table takes."""

    def scan(self, columns: Collection[str]) -> list[list[Extent]]:
        """Give what a scan of ``columns`` reads: a list of extents for each file, in the order of the records.

        Raises ValueError for a column that the table does not have.
        """

    def record(self, record: int, columns: Collection[str]) -> list[Extent]:
        """Give the pages that hold ``columns`` of a record, each once, in the order of their addresses.

        Raises ValueError for a column that the table does not have.
        """
