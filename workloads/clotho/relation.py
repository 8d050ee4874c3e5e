"""The relation of Clotho's microbenchmark (section 7.2), and its files in each layout."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memwalk.traces.storage import WHOLE, PagedFile, Schema
from memwalk.workloads.clotho.a_page import APageFormat
from memwalk.workloads.clotho.layout import Csm, TwoDimensional
from memwalk.workloads.clotho.layouts import DECOMPOSED, DEFAULT_RECONSTRUCTION, Layout, Reconstruction
from memwalk.workloads.tables import Column, Nsm, Pax, Table, WholePages
from memwalk.workloads.tables.page import PAGE_8K

VALUE_BYTES = 8
"""A FLOAT: 15 of them in 8 million records are about 1 GB (section 7.2)."""
PAGE_BYTES, PAGE_BLOCKS = PAGE_8K.bytes, PAGE_8K.blocks
"""Pages and frames."""
PREDICATE = 1
"""The second attribute selects."""
ENTRY_BYTES = 16
"""An index entry: a value and where its record is. The index is bulk-loaded, its leaves are full (modelling choice)."""


def relation(attributes: int, records: int) -> Table:
    """Return the schema of R."""
    return Table("R", tuple(Column.fixed(f"a{number}", "float", VALUE_BYTES) for number in range(1, attributes + 1)), records)


def scanned_pages(attributes: int, records: int) -> int:
    """Return how many pages so many attributes of R take, about."""
    return attributes * VALUE_BYTES * records // PAGE_BYTES


@dataclass(frozen=True)
class File:
    """A file of the relation: attributes (numbers from 0) that its pages hold, with so many records in each."""

    pages: PagedFile
    attributes: tuple[int, ...]
    records_per_page: int
    first_block: int
    blocks: int
    """Blocks that it takes on the volume from ``first_block`` on."""

    def schema(self, attributes: Collection[int]) -> Schema:
        """Return the columns of its pages that are needed for ``attributes``; 0 for none."""
        own = [place for place, attribute in enumerate(self.attributes) if attribute in attributes]
        if isinstance(self.pages, WholePages):
            return WHOLE if own else 0
        return sum(1 << place for place in own)


def files(
    layout: Layout,
    table: Table,
    volume: TwoDimensional | None,
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION,
    *,
    first_block: int = 0,
) -> list[File]:
    """Place the relation on a volume from ``first_block`` on; only csm has to know the volume.

    Raises ValueError for A-pages without a volume, and for more attributes than a page holds.
    """
    everything = tuple(range(len(table.columns)))
    match layout:
        case "csm":
            if volume is None:
                raise ValueError("A-pages lie on a volume with rows and columns; give it")
            csm = Csm(table, APageFormat(table.columns), volume, first_block)
            return [File(csm, everything, csm.format.records, csm.first_block, csm.blocks)]
        case "dsm":
            dsm = DECOMPOSED[reconstruction](table, first_block)
            extents = [extent for file in dsm.scan(table.names) for extent in file]
            pages = [WholePages(dsm.page.blocks, extent.block) for extent in extents]
            per_page = dsm.records_per_page(table.columns[0])
            return [File(file, (number,), per_page, *extents[number]) for number, file in enumerate(pages)]
        case "nsm" | "pax":
            whole = (Nsm if layout == "nsm" else Pax)(table, first_block)
            return [
                File(WholePages(whole.page.blocks, whole.first_block), everything, whole.records_per_page, whole.first_block, whole.blocks)
            ]


def end_of(stored: Sequence[File]) -> int:
    """Return the first block behind the files."""
    return max(file.first_block + file.blocks for file in stored)


def index_of(stored: Sequence[File], records: int) -> File:
    """Place the leaves of an index of so many records behind the relation."""
    format_ = PAGE_8K
    entries = format_.capacity(ENTRY_BYTES)
    first_block = -(-end_of(stored) // format_.blocks) * format_.blocks
    blocks = format_.pages(records, entries) * format_.blocks
    return File(WholePages(format_.blocks, first_block), (), entries, first_block, blocks)
