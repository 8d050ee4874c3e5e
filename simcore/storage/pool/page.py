"""What the buffer pool holds, and what it must know of the files its pages come from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import simpy

from memwalk.traces.storage import PagedFile, Schema, Span


class Storage(Protocol):
    """A volume that takes requests, such as :class:`memwalk.simcore.storage.volume_server.VolumeServer`."""

    def submit_batch(self, runs: Iterable[Span], *, write: bool = False) -> simpy.Event:
        """Ask for spans of blocks that belong together; the event happens when all have moved."""


@dataclass(frozen=True, eq=False, slots=True)
class Query:
    """A query on one file as the pool knows it: the columns it needs, those it changes, how it goes through the pages."""

    file: PagedFile
    schema: Schema
    changes: Schema
    """Columns it writes; 0 if it only reads."""
    scans: bool
    """Whether it goes through many pages in a row, so that frames are filled with as many of them as fit."""
    number: int | None
    """Its number among the queries of the file that share page schemas; None if it keeps to its own."""


@dataclass(eq=False, slots=True)
class CPage:
    """A page in a frame: chosen columns of one or more consecutive pages of a file (Clotho, section 4.1)."""

    file: PagedFile
    pages: range
    schema: Schema
    frame: int
    ready: simpy.Event
    """Happens when its columns have arrived."""
    dirty: Schema = 0
    """Columns that were changed and that nobody has begun to write back."""
    leaving: Schema = 0
    """Columns on their way to storage."""
    awaited_by: Query | None = None
    """The query for which it was read ahead, as long as nobody has fixed it."""
    valid: bool = True
    """False from when a writer works on another copy: whoever waits for this one has to look again."""

    @property
    def unsaved(self) -> Schema:
        """Columns that storage does not have yet: as long as there are any, no other copy of them may be read from it."""
        return self.dirty | self.leaving
