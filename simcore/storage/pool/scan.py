"""Scans through the buffer pool: streams of pages in step by their records, read ahead, with work on the records in between."""

from collections.abc import Sequence

import simpy

from memwalk.simcore.storage.pool.page import CPage, Query
from memwalk.simcore.storage.pool.pool import BufferPool, Steps
from memwalk.simcore.storage.pool.read_ahead import ReadAhead
from memwalk.traces.storage import Stream


class Scan:
    """Goes through ``records`` records of streams that belong together, such as the columns of a decomposed table.

    All streams are read ahead by the same workers, run by run in the order in which the records come to them. Pages stay fixed while
    their records are worked on; work and reading ahead overlap.
    """

    def __init__(self, env: simpy.Environment, pool: BufferPool, streams: Sequence[Stream], records: int, work_ps: int) -> None:
        """Prepare a scan; working on all records takes ``work_ps``."""
        self.waited_ps = 0
        """Time that the scan waited for pages."""
        self._env = env
        self._pool = pool
        self._streams = streams
        self._records = records
        self._work_ps = work_ps

    def go(self, runs_ahead: int) -> Steps:
        """Scan, reading ahead so many runs of each stream."""
        queries = [self._pool.begin(s.file, s.schema, changes=s.changes, scans=True) for s in self._streams]
        starts, runs = self._runs(queries)
        width = len(self._streams)
        ahead = ReadAhead(self._env, self._pool, runs, ahead=(runs_ahead + 1) * width, workers=(runs_ahead + 1) * width)
        fixed: list[CPage | None] = [None] * width
        ends = [0] * width
        done = begun = 0
        while done < self._records:
            while begun < len(runs) and starts[begun] <= done:
                begun += 1
            ahead.reach(max(0, begun - width))
            before = self._env.now
            for number, stream in enumerate(self._streams):
                if ends[number] <= done:
                    if (left := fixed[number]) is not None:
                        self._pool.unfix(left)
                    copy = fixed[number] = yield from self._pool.fix(queries[number], done // stream.records_per_page)
                    ends[number] = copy.pages.stop * stream.records_per_page
            self.waited_ps += int(self._env.now - before)
            upto = min(self._records, *ends)
            yield self._env.timeout(self._at(upto) - self._at(done))
            done = upto
        for last in fixed:
            if last is not None:
                self._pool.unfix(last)
        for query in queries:
            self._pool.end(query)

    def _runs(self, queries: Sequence[Query]) -> tuple[list[int], list[tuple[Query, range]]]:
        """Cut the streams into runs in the order of the records with which they begin; returns those records and the runs."""
        found = []
        for number, (stream, query) in enumerate(zip(self._streams, queries, strict=True)):
            pages = -(-self._records // stream.records_per_page)
            for first in range(0, pages, stream.run_pages):
                run = range(first, min(first + stream.run_pages, pages))
                found.append((first * stream.records_per_page, number, query, run))
        found.sort(key=lambda entry: entry[:2])
        return [record for record, *_ in found], [(query, run) for _, _, query, run in found]

    def _at(self, records: int) -> int:
        """Return the work that the first ``records`` records take."""
        return self._work_ps * records // self._records
