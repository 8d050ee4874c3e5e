"""Relations and tables on a system's volume: what does not fit is refused."""

from collections.abc import Iterable

from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.volumes import AtroposVolume, MemstoreVolume, Volume
from memwalk.traces.storage import Stream
from memwalk.workloads.clotho.layouts import Layout, Reconstruction
from memwalk.workloads.clotho.relation import File, end_of, files, index_of, relation
from memwalk.workloads.tables.page import PAGE_8K


def two_dimensional(volume: Volume) -> AtroposVolume | MemstoreVolume:
    """Return a volume as one with rows and columns. Raises UserError if it has none."""
    if isinstance(volume, AtroposVolume | MemstoreVolume):
        return volume
    raise UserError("the volume has no rows and columns, which A-pages need; write volume: atropos or volume: memstore")


def rows_for(layout: Layout, volume: Volume) -> AtroposVolume | MemstoreVolume | None:
    """Return the rows and columns of a volume if ``layout`` needs them. Raises UserError if it has none."""
    return two_dimensional(volume) if layout == "csm" else None


def placed(
    layout: Layout, attributes: int, records: int, volume: Volume, reconstruction: Reconstruction, *, first_block: int = 0
) -> list[File]:
    """Place Clotho's relation on a volume from ``first_block`` on.

    Raises UserError for A-pages on a volume without rows and columns, for a relation that the volume has no room for, and for more
    attributes than a page holds.
    """
    rows = rows_for(layout, volume)
    try:
        found = files(layout, relation(attributes, records), rows, reconstruction, first_block=first_block)
    except ValueError as error:
        raise UserError(f"{attributes} attributes in {layout}: {error}, or have fewer attributes") from None
    if end_of(found) > volume.blocks:
        room = f"the {volume.blocks} blocks of the volume" + (f" from block {first_block} on" if first_block else "")
        raise MisfitError("records", f"{records} records in {layout} take more than {room}; have fewer records")
    return found


def placed_index(stored: list[File], records: int, volume: Volume) -> File:
    """Place an index behind the relation. Raises UserError if the volume has no room for it."""
    index = index_of(stored, records)
    if (end := index.first_block + index.blocks) > volume.blocks:
        raise MisfitError(
            "records", f"the relation and its index take {end} blocks, and the volume has {volume.blocks}; have fewer records"
        )
    return index


def frames_in(pool: int) -> int:
    """Return the frames of a pool of so many bytes."""
    return pool // PAGE_8K.bytes


def check_read_ahead(streams: Iterable[Stream], records: int, runs_ahead: int, pool: int) -> None:
    """Raise UserError if a scan of ``records`` records reads more ahead than a pool of ``pool`` bytes holds: pages would leave unused."""
    needed = sum(_frames_ahead(stream, records, runs_ahead) for stream in streams)
    if needed > frames_in(pool):
        raise UserError(
            f"what is read ahead takes {needed} frames, and the pool has {frames_in(pool)}; make the pool larger or runs_ahead less"
        )


def _frames_ahead(stream: Stream, records: int, runs_ahead: int) -> int:
    """Return the frames of the run that is worked on and those ahead of it, or of all pages if these are fewer."""
    pages = min(-(-records // stream.records_per_page), (runs_ahead + 1) * stream.run_pages)
    together = stream.file.together(stream.file.full_schema if stream.changes else stream.schema)
    runs, rest = divmod(pages, stream.run_pages)
    return runs * -(-stream.run_pages // together) + -(-rest // together)
