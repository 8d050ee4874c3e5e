"""The relation of the microbenchmark, and its files in each layout."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memwalk.analysis.storage_workloads.reconstruction import DECOMPOSED, DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.volumes import AtroposVolume, MemstoreVolume, Volume
from memwalk.traces.storage import WHOLE, PagedFile, Schema
from memwalk.workloads.clotho import APageFormat, Csm
from memwalk.workloads.tables import Column, Nsm, Pax, Table, WholePages
from memwalk.workloads.tables.page import PAGE_8K

Layout: TypeAlias = Literal["nsm", "dsm", "pax", "csm"]

VALUE_BYTES = 8
"""A FLOAT: 15 of them in 8 million records are about 1 GB (section 7.2)."""
PAGE_BYTES, PAGE_BLOCKS = PAGE_8K.bytes, PAGE_8K.blocks
"""Pages and frames."""
PREDICATE = 1
"""The second attribute selects."""


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


def files(layout: Layout, table: Table, volume: Volume, reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION) -> list[File]:
    """Place the relation at the beginning of a volume.

    Raises UserError for A-pages on a volume without rows and columns, for a relation that the volume has no room for, and for more
    attributes than a page holds.
    """
    try:
        found = _files(layout, table, volume, reconstruction)
    except ValueError as error:
        raise UserError(f"{len(table.columns)} attributes in {layout}: {error}, or have fewer attributes") from None
    if sum(file.blocks for file in found) > volume.blocks:
        raise UserError(f"{table.records} records in {layout} take more than the {volume.blocks} blocks of the volume; have fewer records")
    return found


def two_dimensional(volume: Volume) -> AtroposVolume | MemstoreVolume:
    """Return a volume as one with rows and columns. Raises UserError if it has none."""
    if isinstance(volume, AtroposVolume | MemstoreVolume):
        return volume
    raise UserError("the volume has no rows and columns, which A-pages need; write volume: atropos or volume: memstore")


def _files(layout: Layout, table: Table, volume: Volume, reconstruction: Reconstruction) -> list[File]:
    everything = tuple(range(len(table.columns)))
    match layout:
        case "csm":
            csm = Csm(table, APageFormat(table.columns), two_dimensional(volume))
            return [File(csm, everything, csm.format.records, csm.first_block, csm.blocks)]
        case "dsm":
            dsm = DECOMPOSED[reconstruction](table)
            extents = [extent for file in dsm.scan(table.names) for extent in file]
            pages = [WholePages(dsm.page.blocks, extent.block) for extent in extents]
            per_page = dsm.records_per_page(table.columns[0])
            return [File(file, (number,), per_page, *extents[number]) for number, file in enumerate(pages)]
        case "nsm" | "pax":
            # As few bytes per record as possible, so that all layouts take about the same space (section 7.2.4).
            whole = Nsm(table, tags=False) if layout == "nsm" else Pax(table)
            return [File(WholePages(whole.page.blocks), everything, whole.records_per_page, whole.first_block, whole.blocks)]
