"""NSM, the n-ary storage model: slotted pages with whole records."""

from dataclasses import dataclass

from memwalk.workloads.tables.rows import RecordPages

TAG_BYTES = 12
"""What the storage manager keeps in front of a record (Shore's tag, PAX section 4.1)."""
SLOT_BYTES = 4
"""A slot at the end of the page: offset of a record and its length."""
END_BYTES = 2
"""Where a value of variable length ends, kept in the record."""


@dataclass(frozen=True)
class Nsm(RecordPages):
    """Records one after another, each with a tag in front, a slot, and an end for each value of variable length."""

    record_overhead_bytes: int = TAG_BYTES + SLOT_BYTES

    def _capacity(self) -> int:
        ends = END_BYTES * sum(column.variable for column in self.table.columns)
        return self.page.capacity(self.table.average_bytes + self.record_overhead_bytes + ends)
