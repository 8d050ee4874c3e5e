"""Scans through a buffer pool: streams of pages in step by their records, read ahead, with work on the records in between."""

from collections.abc import Generator, Sequence
from typing import Any

from memwalk.traces.storage import Begin, Command, End, Fix, Frame, Pool, Query, Reach, ReadAhead, Stream, Unfix, Work


def scan(pool: Pool, streams: Sequence[Stream], records: int, work_ps: int, runs_ahead: int) -> Generator[Command, Any, None]:
    """Go through ``records`` records of streams that belong together, such as the columns of a decomposed table.

    All streams are read ahead by the same workers, ``runs_ahead`` runs of each, in the order in which the records come to them. Pages stay
    fixed while their records are worked on, which takes ``work_ps`` for all; work and reading ahead overlap.
    """
    queries = []
    for stream in streams:
        queries.append((yield Begin(pool, stream.file, stream.schema, stream.changes, scans=True)))
    starts, runs = _runs(streams, queries, records)
    width = len(streams)
    ahead = yield ReadAhead(pool, runs, ahead=(runs_ahead + 1) * width, workers=(runs_ahead + 1) * width)
    fixed: list[Frame | None] = [None] * width
    ends = [0] * width
    done = begun = 0
    while done < records:
        while begun < len(runs) and starts[begun] <= done:
            begun += 1
        yield Reach(ahead, max(0, begun - width))
        for number, stream in enumerate(streams):
            if ends[number] <= done:
                if (left := fixed[number]) is not None:
                    yield Unfix(pool, left)
                page = done // stream.records_per_page
                frame = fixed[number] = yield Fix(pool, queries[number], page, stream.changed is None or page in stream.changed)
                ends[number] = frame.pages.stop * stream.records_per_page
        upto = min(records, *ends)
        yield Work(work_ps * upto // records - work_ps * done // records)
        done = upto
    for last in fixed:
        if last is not None:
            yield Unfix(pool, last)
    for query in queries:
        yield End(pool, query)


def _runs(streams: Sequence[Stream], queries: Sequence[Query], records: int) -> tuple[list[int], list[tuple[Query, range]]]:
    """Cut the streams into runs in the order of the records with which they begin; returns those records and the runs."""
    found = []
    for number, (stream, query) in enumerate(zip(streams, queries, strict=True)):
        pages = -(-records // stream.records_per_page)
        for first in range(0, pages, stream.run_pages):
            run = range(first, min(first + stream.run_pages, pages))
            found.append((first * stream.records_per_page, number, query, run))
    found.sort(key=lambda entry: entry[:2])
    return [record for record, *_ in found], [(query, run) for _, _, query, run in found]
