"""PAX, partition attributes across: a minipage for each column in every page (Ailamaki et al. 2001)."""

from dataclasses import dataclass

from memwalk.workloads.tables.page import BITS_PER_BYTE
from memwalk.workloads.tables.rows import RecordPages

ENTRY_BYTES = 4
"""A minipage's entry in the page header: its offset and its size."""
END_BYTES = 4
"""Where a value of variable length ends in its minipage; a value of fixed length has one bit that says that it is there."""


@dataclass(frozen=True)
class Pax(RecordPages):
    """The records of a page, column by column."""

    def _capacity(self) -> int:
        kept = sum(END_BYTES if column.variable else 1 / BITS_PER_BYTE for column in self.table.columns)
        return self.page.capacity(self.table.average_bytes + kept, ENTRY_BYTES * len(self.table.columns))
