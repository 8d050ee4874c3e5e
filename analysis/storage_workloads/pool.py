"""The buffer pool that a storage workload asks for: its size, and whether what is read ahead fits into it."""

from collections.abc import Iterable
from typing import Annotated, TypeAlias

from pydantic import Field

from memwalk.simcore.errors import UserError
from memwalk.simcore.units import Bytes
from memwalk.traces.storage import Stream
from memwalk.workloads.tables.page import PAGE_8K

_MOST_BYTES = 64 << 30
"""Frames are kept one by one, of which these are eight million."""

Pool: TypeAlias = Annotated[Bytes, Field(ge=PAGE_8K.bytes, le=_MOST_BYTES)]
"""Memory for pages of 8 KiB, one at least."""


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
