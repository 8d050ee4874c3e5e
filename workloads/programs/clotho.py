"""Programs of Clotho's experiments (section 7)."""

from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from random import Random
from typing import Any, Literal, Protocol, TypeAlias

from memwalk.traces.storage import (
    WHOLE,
    Begin,
    Client,
    Command,
    End,
    Fix,
    Flush,
    OpenPool,
    Period,
    Pool,
    Reach,
    ReadAhead,
    Span,
    Stream,
    TransferTogether,
    Unfix,
    Work,
)
from memwalk.workloads.clotho import Csm, TwoDimensional
from memwalk.workloads.clotho.relation import PREDICATE, File
from memwalk.workloads.programs import transfers
from memwalk.workloads.programs.scan import scan

POOL = "pool"
"""The buffer pool of these programs."""
MEASURED = "measured"
"""The period behind the warm-up of `points`."""

Pattern: TypeAlias = Literal["semi-sequential", "random", "sequential"]


class Tracks(TwoDimensional, Protocol):
    """A volume with rows and columns whose tracks are known."""

    blocks: int

    def track(self, lbn: int) -> Span:
        """Return the blocks that share a track with ``lbn``."""


def groups(volume: Tracks, together: int, pattern: Pattern, *, blocks: int, count: int, seed: int) -> Iterator[TransferTogether]:
    """Draw groups of blocks, ``together`` rows of which lie on tracks next to each other (sections 5.2 and 5.4).

    Their first rows are those with which quadrangles, or cylinders of a MEMStore, begin.
    """
    draw = Random(seed)
    row = volume.row_blocks
    for _ in range(count):
        begin = draw.randrange(volume.blocks // (row * together)) * row * together
        match pattern:
            case "sequential":
                yield TransferTogether([(begin + draw.randrange(row - blocks + 1), blocks)])
            case "semi-sequential":
                yield TransferTogether([(block, 1) for block in volume.semi_sequential(begin + draw.randrange(row), blocks)])
            case "random":
                first, track_blocks = volume.track(begin + draw.randrange(row))
                yield TransferTogether([(first + number * row + draw.randrange(track_blocks), 1) for number in range(blocks)])


def insertion(stored: Sequence[File], run_blocks: int, runs_ahead: int) -> list[Client]:
    """Make clients that fill the relation by bulk insertion (section 7.2.4), so many runs of each file at once."""
    in_step = zip_longest(*(_runs(file, run_blocks) for file in stored))
    writes = (TransferTogether(run, write=True) for runs in in_step for run in runs if run is not None)
    return transfers.clients(writes, runs_ahead * len(stored))


def _runs(file: File, run_blocks: int) -> list[Sequence[Span]]:
    """Cut a file at multiples of ``run_blocks``; a page that lies across is written in two parts. A-pages are cut into bands."""
    if isinstance(file.pages, Csm):
        bands = range(0, file.pages.pages, file.pages.band_pages)
        return [
            file.pages.spans(range(first, min(first + file.pages.band_pages, file.pages.pages)), file.pages.full_schema) for first in bands
        ]
    begin, end = file.first_block, file.first_block + file.blocks
    cuts = [begin, *range((begin // run_blocks + 1) * run_blocks, end, run_blocks), end]
    return [[(first, last - first)] for first, last in pairwise(cuts)]


@dataclass(frozen=True)
class Points:
    """Queries for single records (sections 7.2.2 and 7.2.3)."""

    stored: Sequence[File]
    index: File
    records: int
    payload: int
    update: bool
    use_index: bool

    def client(self, frames: int, warm_up: int, measured: int, seed: int) -> Client:
        """Make a client that asks for random records one after another, first those that warm the pool up."""
        pool = yield OpenPool(POOL, frames)
        draw = Random(seed)
        yield from self._queries(pool, draw, warm_up)
        yield Period(MEASURED)
        yield from self._queries(pool, draw, measured)

    def _queries(self, pool: Pool, draw: Random, count: int) -> Generator[Command, Any, None]:
        lookups = yield Begin(pool, self.index.pages, WHOLE)
        asked = []
        for file in self.stored:
            if schema := file.schema(range(self.payload)):
                asked.append((file, (yield Begin(pool, file.pages, schema, changes=schema if self.update else 0))))
        for _ in range(count):
            value, record = draw.randrange(self.records), draw.randrange(self.records)
            if self.use_index:
                leaf = yield Fix(pool, lookups, value // self.index.records_per_page)
                yield Unfix(pool, leaf)
            for file, query in asked:
                page = yield Fix(pool, query, record // file.records_per_page)
                yield Unfix(pool, page)
        for query in (lookups, *(query for _, query in asked)):
            yield End(pool, query)


@dataclass(frozen=True)
class Scanning:
    """A scan of the relation by one user (section 7.2.1)."""

    stored: Sequence[File]
    records: int
    payload: int
    run_pages: int
    """Pages of a file that are read, and written back, together."""
    runs_ahead: int
    changed: Collection[int] | None = None
    """Records that are updated; none if None."""

    @property
    def selecting(self) -> list[Stream]:
        """What an s-scan reads: all attributes of the query."""
        return self._streams({*range(self.payload), PREDICATE})

    @property
    def filtering(self) -> list[Stream]:
        """What an si-scan reads first: the attribute that selects."""
        return self._streams({PREDICATE})

    def s_scan(self, frames: int, work_ps: int) -> Client:
        """Make the client of a scan whose work takes ``work_ps``."""
        pool = yield OpenPool(POOL, frames, write_run=self.run_pages)
        yield from scan(pool, self.selecting, self.records, work_ps, self.runs_ahead)
        yield Flush(pool)

    def si_scan(self, frames: int, filter_ps: int, record_ps: int, qualifying: Sequence[int], in_flight: int) -> Client:
        """Make the client of a scan of one attribute, which then has the records that qualify; each takes ``record_ps``."""
        (file,) = self.stored
        pages = Counter(record // file.records_per_page for record in qualifying)
        pool = yield OpenPool(POOL, frames, write_run=self.run_pages)
        yield from scan(pool, self.filtering, self.records, filter_ps, self.runs_ahead)
        query = yield Begin(pool, file.pages, file.schema(range(self.payload)))
        wanted = sorted(pages)
        ahead = yield ReadAhead(pool, [(query, range(page, page + 1)) for page in wanted], ahead=in_flight, workers=in_flight)
        for number, page in enumerate(wanted):
            yield Reach(ahead, number)
            frame = yield Fix(pool, query, page)
            yield Work(record_ps * pages[page])
            yield Unfix(pool, frame)
        yield End(pool, query)

    def _streams(self, needed: set[int]) -> list[Stream]:
        reads = [(file, schema) for file in self.stored if (schema := file.schema(needed))]
        if self.changed is None:
            return [Stream(file.pages, schema, file.records_per_page, self.run_pages) for file, schema in reads]
        pages = {each: frozenset(record // each for record in self.changed) for each in {file.records_per_page for file, _ in reads}}
        return [
            Stream(
                file.pages, schema, file.records_per_page, self.run_pages, file.schema(range(self.payload)), pages[file.records_per_page]
            )
            for file, schema in reads
        ]
