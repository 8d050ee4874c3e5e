"""A-pages: what Clotho stores of so many records, a minipage of whole blocks for each column (sections 3.1 and 5.3).

An A-page has no header: a minipage says by a bit per value whether that is there, and how many there are follows from the bits
(section 4.1 spreads both over the minipages; in Figure 5 an A-page begins with its first column). The header belongs to the C-page.
The format is Clotho's own: no kernel has such pages.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memwalk.workloads.tables import Column
from memwalk.workloads.tables.page import BITS_PER_BYTE


@dataclass(frozen=True)
class APageFormat:
    """A-pages of ``blocks`` blocks for these columns, with as many records as fit."""

    columns: tuple[Column, ...]
    blocks: int = 16
    block_bytes: int = 512

    def __post_init__(self) -> None:
        if self.blocks < len(self.columns):
            raise ValueError(
                f"an A-page of {self.blocks} blocks has none for some of its {len(self.columns)} columns; "
                f"take {len(self.columns)} blocks at least, or store columns apart"
            )

    @cached_property
    def records(self) -> int:
        """Records of average length in an A-page: the most whose minipages together take no more than its blocks."""
        too_many = self.blocks * self.block_bytes * BITS_PER_BYTE + 1  # not even their presence bits fit
        return bisect_right(range(too_many), self.blocks, key=lambda records: sum(self._blocks_for(records))) - 1

    @cached_property
    def minipage_blocks(self) -> tuple[int, ...]:
        """Blocks of each column's minipage; together they may be less than ``blocks``."""
        return self._blocks_for(self.records)

    @cached_property
    def first_blocks(self) -> tuple[int, ...]:
        """Number of the first block of each minipage within the A-page."""
        return tuple(sum(self.minipage_blocks[:column]) for column in range(len(self.columns)))

    def pages(self, records: int) -> int:
        """Return the A-pages that a table of ``records`` records takes."""
        return -(-records // self.records)

    def _blocks_for(self, records: int) -> tuple[int, ...]:
        return tuple(max(1, -(-_minipage_bytes(column, records) // self.block_bytes)) for column in self.columns)


def split_by_length(columns: Sequence[Column]) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Part columns of fixed length, which share A-pages, from those of variable length, each in A-pages of its own (section 6.2)."""
    return tuple(c for c in columns if not c.variable), tuple(c for c in columns if c.variable)


def _minipage_bytes(column: Column, records: int) -> int:
    """Bytes that the values of so many records take on average, rounded up, with their presence bits."""
    return -(-records * round(column.average_bytes * 100) // 100) + -(-records // BITS_PER_BYTE)
