"""A buffer pool of C-pages over a volume: what is asked for is read, CLOCK chooses what leaves, dirty columns are written back.

Pages in one piece (NSM, PAX, DSM) are C-pages whose file has a single column, so that all layouts share the pool.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeAlias

import simpy

from memwalk.simcore.storage.pool.clock import Clock
from memwalk.simcore.storage.pool.page import CPage, Query, Storage
from memwalk.simcore.storage.pool.page_schema import PageSchemas
from memwalk.simcore.storage.pool.page_table import PageTable
from memwalk.simcore.storage.pool.statistics import PoolStatistics
from memwalk.simcore.storage.steps import step_made
from memwalk.traces.storage import PagedFile, Schema, Span

Steps: TypeAlias = Generator[simpy.Event, Any, Any]
"""A part of a SimPy process: ``yield from`` it."""


class BufferPool:
    """Frames of one page each. Pages are fixed for a query, used, and unfixed; see :meth:`begin` and :meth:`fix`.

    Rules that hold at any time: of a page with changed columns there is one copy; a page that was fixed has all columns
    that its query needs; no more than ``frames`` frames are in use.
    """

    def __init__(self, env: simpy.Environment, storage: Storage, frames: int, *, share_schemas: bool = True, write_run: int = 1) -> None:
        """Begin empty.

        With ``share_schemas``, as published, a query gets pages with the columns of all running queries that overlap with its own
        (section 4.2), and with all columns if it writes (section 4.3); without, pages with the columns that it needs, by which copies
        that are dirty already are completed. A page that is written back takes those along that follow it in its file, up to
        ``write_run`` in all, if the same columns of them are to be written.
        """
        self.statistics = PoolStatistics()
        self._env = env
        self._storage = storage
        self._share_schemas = share_schemas
        self._write_run = write_run
        self._clock = Clock(frames)
        self._held: list[CPage | None] = [None] * frames
        self._free = list(range(frames))[::-1]
        self._table = PageTable()
        self._schemas: dict[PagedFile, PageSchemas] = {}
        self._read_ahead: set[Query] = set()
        """Queries for which pages were read ahead."""
        self._unpinned: simpy.Event | None = None

    @property
    def frames_in_use(self) -> int:
        """Frames that hold a page."""
        return len(self._held) - len(self._free)

    def begin(self, file: PagedFile, schema: Schema, *, changes: Schema = 0, scans: bool = False) -> Query:
        """Begin a query on ``file`` that needs the columns of ``schema`` and writes those of ``changes``."""
        if not self._share_schemas:
            return Query(file, schema | changes, changes, scans, number=None)
        wanted = file.full_schema if changes else schema
        schemas = self._schemas.setdefault(file, PageSchemas(file.full_schema))
        return Query(file, wanted, changes, scans, schemas.begin(wanted))

    def end(self, query: Query) -> None:
        """End a query: pages brought from now on need not suit it, and those read ahead for it are not waited for."""
        if query in self._read_ahead:
            self._read_ahead.remove(query)
            for copy in self._held:
                if copy is not None and copy.awaited_by is query:
                    self._clock.expect_no_more(copy.frame)
        if query.number is None:
            return
        schemas = self._schemas[query.file]
        schemas.end(query.number)
        if not schemas.pages:
            del self._schemas[query.file]

    def fix(self, query: Query, page: int, *, changed: bool = True) -> Steps:
        """Return the C-page that has ``page`` as ``query`` needs it, pinned until :meth:`unfix`; its changes are made if ``changed``."""
        self.statistics.fixes += 1
        step_made()
        missed = False
        while True:
            copy = self._find(query, page)
            if copy is None:
                self.statistics.misses += not missed
                missed = True
                yield from self._bring(query, range(page, page + 1))
                continue
            self._clock.pin(copy.frame)
            if not copy.ready.triggered:
                yield copy.ready
                if not copy.valid:
                    self.unfix(copy)
                    continue
            self._clock.use(copy.frame)
            copy.awaited_by = None
            if query.changes and changed:
                copy.dirty |= query.changes
                self._invalidate(other for other in self._table.copies(query.file, page) if other is not copy)
            return copy

    def unfix(self, copy: CPage) -> None:
        """Give back a page that was fixed."""
        self._clock.unpin(copy.frame)
        if self._clock.pinned(copy.frame):
            return
        if not copy.valid:
            self._release(copy.frame)
        if self._unpinned is not None:
            self._unpinned.succeed()
            self._unpinned = None

    def prefetch(self, query: Query, pages: range) -> Steps:
        """Have the pages brought that are not there, and wait until they all are; they are not pinned.

        CLOCK spares them until they are fixed or the query ends, as long as it finds other frames.
        One request per span of the file, so that a run of pages costs what its spans on the volume do.
        """
        coming = yield from self._bring(query, pages, ahead=True)
        for ready in coming:
            if not ready.triggered:
                yield ready

    def flush(self) -> Steps:
        """Write all dirty columns back, in the order of the frames."""
        for copy in list(self._held):
            if copy is not None and copy.dirty:
                yield from self._write_back(copy)

    def _find(self, query: Query, page: int) -> CPage | None:
        return self._table.find(query.file, page, query.schema, alone=bool(query.changes))

    def _unsaved(self, query: Query, page: int) -> CPage | None:
        return next((copy for copy in self._table.copies(query.file, page) if copy.unsaved), None)

    def _absent(self, query: Query, page: int) -> bool:
        """Say whether a page has to be read from storage; if not, a copy is there that will do, once it is completed."""
        return self._find(query, page) is None and self._unsaved(query, page) is None

    def _bring(self, query: Query, pages: range, *, ahead: bool = False) -> Generator[simpy.Event, Any, list[simpy.Event]]:
        """Ask storage for what is missing of ``pages``; returns the events of its arrival."""
        arrivals: list[simpy.Event] = []
        batch: list[CPage] = []

        def submit() -> None:
            if batch:
                arrivals.append(batch[0].ready)
                self._read(list(batch))
                batch.clear()

        page = pages.start
        while page < pages.stop:
            if self._find(query, page) is not None:
                page += 1
                continue
            if (unsaved := self._unsaved(query, page)) is not None:
                submit()
                yield from self._widen(unsaved, query.schema)
                continue
            frame = yield from self._frame(submit)
            if not self._absent(query, page):  # brought by another query while this one waited for a frame
                self._free.append(frame)
                continue
            schema = query.schema if query.number is None else self._schemas[query.file].page_for(query.schema)
            if batch and batch[0].schema != schema:
                submit()
            ready = batch[0].ready if batch else self._env.event()
            copy = CPage(query.file, self._group(query, schema, page, pages.stop), schema, frame, ready)
            self._held[frame] = copy
            self._table.add(copy)
            self._clock.pin(frame)  # until it has arrived
            if ahead:
                self._clock.expect(frame)
                self._read_ahead.add(query)
                copy.awaited_by = query
            batch.append(copy)
            page = copy.pages.stop
        submit()
        return arrivals

    def _group(self, query: Query, schema: Schema, page: int, stop: int) -> range:
        """Return the pages that share a frame with ``page``: as many as fit, up to the next one that is in the pool."""
        most = query.file.together(schema) if query.scans and not query.changes else 1
        end = page + 1
        while end < min(page + most, stop) and self._absent(query, end):
            end += 1
        return range(page, end)

    def _read(self, batch: list[CPage]) -> None:
        first = batch[0]
        runs: list[range] = []
        for copy in batch:
            if runs and runs[-1].stop == copy.pages.start:
                runs[-1] = range(runs[-1].start, copy.pages.stop)
            else:
                runs.append(copy.pages)

        def arrived(_: simpy.Event) -> None:
            first.ready.succeed()
            for copy in batch:
                self.unfix(copy)

        moved = self._move([span for run in runs for span in first.file.spans(run, first.schema)], write=False)
        moved.callbacks.append(arrived)

    def _widen(self, copy: CPage, schema: Schema) -> Steps:
        """Complete a copy with changes by the columns of ``schema`` that it lacks."""
        self._clock.pin(copy.frame)
        if copy.ready.triggered:
            missing = schema & ~copy.schema
            copy.schema |= missing
            ready = copy.ready = self._env.event()
            yield self._move(copy.file.spans(copy.pages, missing), write=False)
            ready.succeed()
        else:
            yield copy.ready
        self.unfix(copy)

    def _frame(self, before_waiting: Callable[[], None]) -> Generator[simpy.Event, Any, int]:
        """Find a frame and empty it."""
        while not self._free:
            frame = self._clock.victim()
            if frame is None:
                before_waiting()
                self._unpinned = self._unpinned or self._env.event()
                yield self._unpinned
                continue
            copy = self._held[frame]
            assert copy is not None  # no frame is free
            if copy.dirty:
                # What has frames by now is asked for with the rest of its run: each part would be a command of its own.
                self.statistics.dirty_evictions += 1
                yield from self._write_back(copy)
                if copy.dirty or self._clock.pinned(frame) or self._held[frame] is not copy:  # somebody wanted it meanwhile
                    continue
            self.statistics.evictions += 1
            self._table.remove(copy)
            self._release(frame)
        return self._free.pop()

    def _write_back(self, copy: CPage) -> Steps:
        columns = copy.dirty
        together = [copy]
        while len(together) < self._write_run and (following := self._like(together[-1])) is not None:
            together.append(following)
        for leaving in together:
            self._clock.pin(leaving.frame)
            leaving.leaving, leaving.dirty = columns, 0
        yield self._move(copy.file.spans(range(copy.pages.start, together[-1].pages.stop), columns), write=True)
        for left in together:
            left.leaving = 0
            self.unfix(left)

    def _like(self, copy: CPage) -> CPage | None:
        """Find the page behind a dirty one if nobody uses it and the same columns of it are dirty."""
        for following in self._table.copies(copy.file, copy.pages.stop):
            if following.dirty == copy.dirty and not self._clock.pinned(following.frame):
                return following
        return None

    def _invalidate(self, copies: Iterable[CPage]) -> None:
        for copy in list(copies):
            self.statistics.invalidations += 1
            copy.valid = False
            self._table.remove(copy)
            if not self._clock.pinned(copy.frame):
                self._release(copy.frame)

    def _release(self, frame: int) -> None:
        self._held[frame] = None
        self._free.append(frame)

    def _move(self, spans: Sequence[Span], *, write: bool) -> simpy.Event:
        blocks = sum(blocks for _, blocks in spans)
        if write:
            self.statistics.blocks_written += blocks
        else:
            self.statistics.blocks_read += blocks
        return self._storage.submit_batch(spans, write=write)
