"""A table in mega-blocks (sections 4 and 5): each has ``p`` runs of ``r`` pages, run i the i-th pages of ``r`` super-blocks."""

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memwalk.workloads.mbsm.super_block import SuperBlock
from memwalk.workloads.tables.extent import Extent, joined
from memwalk.workloads.tables.page import BITS_PER_BYTE, PAGE_8K, PageFormat
from memwalk.workloads.tables.schema import Table


@dataclass(frozen=True)
class Mbsm:
    """A table whose records lie in super-blocks, these in mega-blocks from ``first_block`` on.

    Values take their largest size, so that a record's place follows from its number (section 3.3). A page ends in a bit for
    each of its slots. Space is taken a mega-block at a time.
    The format is MBSM's own: no kernel has such pages.
    """

    table: Table
    super_block: SuperBlock
    run_pages: int
    first_block: int = 0
    page: PageFormat = PAGE_8K

    @cached_property
    def records_per_super_block(self) -> int:
        """Records of a super-block: as many as its fullest page has room for. Raises ValueError if that is none."""
        for records in range(self.page.capacity(self.super_block.load), 0, -1):
            if self._fits(records):
                return records
        raise ValueError(
            f"no record of {self.table.bytes} bytes fits into a super-block of {len(self.super_block.pages)} pages; make pages larger"
        )

    @property
    def super_blocks(self) -> int:
        """Super-blocks that hold records."""
        return self.page.pages(self.table.records, self.records_per_super_block)

    @property
    def mega_blocks(self) -> int:
        """Mega-blocks; the last one may have room left."""
        return -(-self.super_blocks // self.run_pages)

    @property
    def pages(self) -> int:
        """Pages of the super-blocks that hold records."""
        return self.super_blocks * len(self.super_block.pages)

    @property
    def blocks(self) -> int:
        """Storage blocks of all mega-blocks."""
        return self.mega_blocks * len(self.super_block.pages) * self.run_pages * self.page.blocks

    def scan(self, columns: Collection[str]) -> list[list[Extent]]:
        """Give the runs that hold these columns, mega-block by mega-block; neighbouring runs are read as one."""
        pages = self.super_block.pages_of([column.name for column in self.table.pick(columns)])
        runs = []
        for first in range(0, self.super_blocks, self.run_pages):
            used = min(self.run_pages, self.super_blocks - first)
            runs += [Extent(self._block(first, page), used * self.page.blocks) for page in pages]
        return [joined(runs)]

    def record(self, record: int, columns: Collection[str]) -> list[Extent]:
        """Give the pages that hold these columns of a record, each once."""
        super_block, offset = divmod(record, self.records_per_super_block)
        pages = {self._page_of(column.name, offset) for column in self.table.pick(columns)}
        return [Extent(self._block(super_block, page), self.page.blocks) for page in sorted(pages)]

    def super_block_pages(self, record: int) -> list[Extent]:
        """Give the pages of a record's super-block, whether or not they hold values of it."""
        super_block = record // self.records_per_super_block
        return [Extent(self._block(super_block, page), self.page.blocks) for page in range(len(self.super_block.pages))]

    def _block(self, super_block: int, page: int) -> int:
        """Address a page: first page of the super-block + page * r (section 5)."""
        mega_block, slot = divmod(super_block, self.run_pages)
        run = mega_block * len(self.super_block.pages) + page
        return self.first_block + (run * self.run_pages + slot) * self.page.blocks

    def _page_of(self, column: str, offset: int) -> int:
        """Compare a record's offset with the boundaries between the pages of a column (section 5)."""
        boundaries = self._boundaries(column, self.records_per_super_block)
        return self.super_block.shares(column)[bisect_right(boundaries, offset) - 1][0]

    def _boundaries(self, column: str, records: int) -> list[int]:
        """Give the first record of each page of a column, and behind these the number of records."""
        shares = self.super_block.shares(column)
        size, before, boundaries = sum(share for _, share in shares), 0, []
        for _, share in shares:
            boundaries.append(records * before // size)
            before += share
        return [*boundaries, records]

    def _fits(self, records: int) -> bool:
        """Whether so many records fit into a super-block, page by page."""
        used = [0] * len(self.super_block.pages)
        slots = [0] * len(self.super_block.pages)
        for column in self.table.columns:
            between = pairwise(self._boundaries(column.name, records))
            for (page, _), (first, end) in zip(self.super_block.shares(column.name), between, strict=True):
                used[page] += (end - first) * column.bytes
                slots[page] = max(slots[page], end - first)
        room = self.page.bytes - self.page.header_bytes
        return all(taken + -(-bits // BITS_PER_BYTE) <= room for taken, bits in zip(used, slots, strict=True))
