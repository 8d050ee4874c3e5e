"""What a scan of a table reads in each layout."""

from collections.abc import Collection
from typing import NamedTuple

from memwalk.traces.storage import WHOLE, Stream
from memwalk.workloads.clotho.a_page import APageFormat, split_by_length
from memwalk.workloads.clotho.layout import Csm, TwoDimensional
from memwalk.workloads.clotho.layouts import DECOMPOSED, DEFAULT_RECONSTRUCTION, Layout, Reconstruction
from memwalk.workloads.tables import Dsm, Nsm, Pax, Table, WholePages


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
    rows: TwoDimensional | None,
    run_blocks: int,
    *,
    first_block: int = 0,
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION,
) -> Scanned:
    """Place a table from ``first_block`` on and say what a scan of ``columns`` reads, in runs of ``run_blocks``.

    Raises ValueError for A-pages without the rows of a volume.
    """
    if layout == "csm":
        if rows is None:
            raise ValueError("A-pages lie on a volume with rows and columns; give it")
        fixed, variable = split_by_length(table.columns)
        csm = Csm(table, APageFormat(fixed), rows, first_block)
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
