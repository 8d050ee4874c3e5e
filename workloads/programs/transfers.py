"""Clients that move extents without a buffer pool, and where the extents come from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from memwalk.traces.storage import Client, Period, Transfer, TransferTogether
from memwalk.workloads.tables import Extent


def clients(transfers: Iterable[Transfer | TransferTogether], in_flight: int = 1) -> list[Client]:
    """Make so many clients that share the transfers: whoever is done takes the next."""
    waiting = iter(transfers)
    return [_mover(waiting) for _ in range(in_flight)]


def _mover(waiting: Iterator[Transfer | TransferTogether]) -> Client:
    yield from waiting


def reads(extents: Iterable[Extent], command_blocks: int) -> Iterator[Transfer]:
    """Cut extents into reads of at most ``command_blocks`` blocks."""
    for extent in extents:
        for block in range(extent.block, extent.end, command_blocks):
            yield Transfer([(block, min(command_blocks, extent.end - block))])


@dataclass(frozen=True)
class RunsWithGaps:
    """``pages`` pages in runs, of which ``skipped_runs`` are left out behind each; the last run may be shorter."""

    pages: int
    page_blocks: int
    run_pages: int
    skipped_runs: int
    first_block: int = 0

    def __len__(self) -> int:
        """Count the runs."""
        return (self.pages + self.run_pages - 1) // self.run_pages

    def __iter__(self) -> Iterator[Extent]:
        """Give the runs in order."""
        return map(self.run, range(len(self)))

    def run(self, number: int) -> Extent:
        """Return the run of that number, from 0 on."""
        before = number * self.run_pages
        skipped = number * self.skipped_runs * self.run_pages
        return Extent(self.first_block + (before + skipped) * self.page_blocks, min(self.run_pages, self.pages - before) * self.page_blocks)


def anywhere(
    count: int, blocks: int, places: int, *, first_block: int = 0, random: bool = True, write_share: float = 0.0, seed: int = 1
) -> Iterator[Transfer]:
    """Draw requests of ``blocks`` blocks at so many places beside each other, or take these in turn; a share of the requests writes."""
    draw = Random(seed)
    for number in range(count):
        place = draw.randrange(places) if random else number % places
        yield Transfer([(first_block + place * blocks, blocks)], write=draw.random() < write_share)


def records(pages: Iterable[Sequence[Extent]], number: int, *, update: bool = False) -> list[Client]:
    """Make ``number`` clients that share records, each with its pages: these are read at once, and written at once if it is changed."""
    waiting = iter(pages)

    def client() -> Client:
        for extents in waiting:
            yield Transfer(extents)
            if update:
                yield Transfer(extents, write=True)

    return [client() for _ in range(number)]


OPERATION = "operation"
"""The period of `one_operation` that counts."""


def one_operation(first: Extent, pages: Sequence[Extent], *, read: bool, write: bool) -> Client:
    """Make a client that goes to ``first``, and then, in a period of its own, reads the pages, writes them, or both, all at once each."""
    yield Transfer([first])
    yield Period(OPERATION)
    if read:
        yield Transfer(pages)
    if write:
        yield Transfer(pages, write=True)
