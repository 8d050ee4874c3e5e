"""CSM, Clotho's storage model: where the A-pages of a table lie on a volume (section 5.3, Figure 5).

The blocks of an A-page lie where the volume reads blocks of different tracks well together; the same block of the A-pages that follow
lies beside it, so that a column is read along tracks.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from memwalk.workloads.clotho.a_page import APageFormat
from memwalk.workloads.clotho.c_page import a_pages_per_c_page
from memwalk.workloads.tables import Extent, Table, joined


class TwoDimensional(Protocol):
    """What a volume tells about its blocks (section 3.2)."""

    row_blocks: int
    """Blocks of a row: from a multiple of this number on, so many are read well in order."""

    def semi_sequential(self, block: int, count: int) -> Sequence[int]:
        """Return ``count`` blocks in one row each, ``block`` first, that are read well together; blocks of a row have different ones."""


@dataclass(frozen=True, eq=False)
class Csm:
    """The A-pages of a table on a volume from ``first_block`` on, or from where the next band begins.

    A-pages come in bands of as many as a row has blocks: row r of a band has block r of each of its A-pages. Bits of a schema stand
    for columns in the order of the format.
    """

    table: Table
    format: APageFormat
    volume: TwoDimensional
    first_block: int = 0

    def __post_init__(self) -> None:
        missing = {column.name for column in self.format.columns} - set(self.table.names)
        if missing:
            raise ValueError(f"table {self.table.name} has no column `{min(missing)}`; it has {', '.join(self.table.names)}")

    @property
    def pages(self) -> int:
        """A-pages that the table takes."""
        return self.format.pages(self.table.records)

    @property
    def blocks(self) -> int:
        """Blocks of the volume from ``first_block`` to the end of the last band."""
        bands = -(-self.pages // self.band_pages)
        return (self._first_band + bands) * self._band_blocks - self.first_block

    @property
    def full_schema(self) -> int:
        """All columns."""
        return (1 << len(self.format.columns)) - 1

    @property
    def band_pages(self) -> int:
        """A-pages of a band."""
        return self.volume.row_blocks

    def schema(self, columns: Collection[str]) -> int:
        """Return the schema of columns by name. Raises ValueError for a name that the A-pages do not have."""
        picked = self.table.pick(columns)
        outside = [column.name for column in picked if column not in self.format.columns]
        if outside:
            raise ValueError(f"column `{outside[0]}` of {self.table.name} is not in its A-pages but stored apart")
        return sum(1 << self.format.columns.index(column) for column in picked)

    def wanted_blocks(self, schema: int) -> int:
        """Return the blocks of an A-page that have the columns of ``schema``."""
        return sum(self.format.minipage_blocks[column] for column in self._numbers(schema))

    def together(self, schema: int) -> int:
        """Return how many A-pages' columns of ``schema`` share a frame."""
        return a_pages_per_c_page(self.format.minipage_blocks, self._numbers(schema), self.format.blocks)

    def spans(self, pages: range, schema: int) -> list[Extent]:
        """Return where the columns of ``schema`` of consecutive A-pages lie, band by band, in the order of their rows."""
        rows = [row for column in self._numbers(schema) for row in self._rows(column)]
        found: list[Extent] = []
        for band in range(pages.start // self.band_pages, -(-pages.stop // self.band_pages)):
            first = max(pages.start - band * self.band_pages, 0)
            last = min(pages.stop - band * self.band_pages, self.band_pages)
            begin = (self._first_band + band) * self._band_blocks
            if last - first == self.band_pages:
                found += (Extent(begin + row * self.band_pages, self.band_pages) for row in rows)
            else:
                columns = [self.volume.semi_sequential(begin + page, self.format.blocks) for page in range(first, last)]
                found += (extent for row in rows for extent in joined(Extent(block, 1) for block in sorted(c[row] for c in columns)))
        return joined(found)

    def scan(self, columns: Collection[str]) -> list[list[Extent]]:
        """Give what a scan of ``columns`` reads, as one stream."""
        return [self.spans(range(self.pages), self.schema(columns))]

    def record(self, record: int, columns: Collection[str]) -> list[Extent]:
        """Give the minipages of ``columns`` in the A-page of a record."""
        page = record // self.format.records
        return self.spans(range(page, page + 1), self.schema(columns))

    @property
    def _band_blocks(self) -> int:
        return self.band_pages * self.format.blocks

    @property
    def _first_band(self) -> int:
        """Bands of this size from the beginning of the volume."""
        return -(-self.first_block // self._band_blocks)

    def _rows(self, column: int) -> range:
        first = self.format.first_blocks[column]
        return range(first, first + self.format.minipage_blocks[column])

    def _numbers(self, schema: int) -> list[int]:
        return [number for number in range(len(self.format.columns)) if schema >> number & 1]
