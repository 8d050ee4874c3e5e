"""What a scan of a table reads in each layout."""

from collections.abc import Collection
from typing import Literal, NamedTuple, TypeAlias

from memwalk.analysis.storage_workloads.clotho.relation import two_dimensional
from memwalk.analysis.storage_workloads.reconstruction import DECOMPOSED, DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.simcore.storage.volumes import Volume
from memwalk.traces.storage import WHOLE, Stream
from memwalk.workloads.clotho import APageFormat, Csm, split_by_length
from memwalk.workloads.tables import Dsm, Nsm, Pax, Table, WholePages

Layout: TypeAlias = Literal["nsm", "dsm", "pax", "csm"]


class Scanned(NamedTuple):
    """A table on a volume, and the streams of a scan through it."""

    streams: list[Stream]
    end_block: int
    """The first block behind the table."""
    pages_per_frame: int
    """Pages of the table that share a frame while they are scanned: in csm, more than one if few columns are read."""


def scanned(
    layout: Layout,
    table: Table,
    columns: Collection[str],
    volume: Volume,
    first_block: int,
    *,
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION,
) -> Scanned:
    """Place a table from ``first_block`` on and say what a scan of ``columns`` reads; runs are a track of each disk long.

    Raises UserError for A-pages on a volume without rows and columns.
    """
    run_blocks = volume.row_blocks
    if layout == "csm":
        fixed, variable = split_by_length(table.columns)
        csm = Csm(table, APageFormat(fixed), two_dimensional(volume), first_block)
        schema = csm.schema(columns)
        apart = Dsm(Table(table.name, variable, table.records))
        stream = Stream(csm, schema, csm.format.records, run_blocks)
        return Scanned([stream], first_block + csm.blocks + apart.blocks, csm.together(schema))
    if layout == "dsm":
        dsm = DECOMPOSED[reconstruction](table, first_block)
        run_pages = max(1, run_blocks // dsm.page.blocks)
        files = zip(table.pick(columns), dsm.scan(columns), strict=True)
        streams = [
            Stream(WholePages(dsm.page.blocks, file.block), WHOLE, dsm.records_per_page(column), run_pages) for column, (file,) in files
        ]
        return Scanned(streams, first_block + dsm.blocks, 1)
    whole = (Nsm if layout == "nsm" else Pax)(table, first_block)
    pages = WholePages(whole.page.blocks, first_block)
    stream = Stream(pages, WHOLE, whole.records_per_page, max(1, run_blocks // whole.page.blocks))
    return Scanned([stream], first_block + whole.blocks, 1)
