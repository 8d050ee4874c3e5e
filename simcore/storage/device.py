"""What a storage device does, and the simplest one: a page costs more if it does not follow the one before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

READ, WRITE = "read", "write"
"""Requests that a device serves; a prefetch has no time of its own here, as I/O and processing are added."""

Request: TypeAlias = Sequence[str | int]
"""A run of pages as the simulator records it: what is asked for, the first page, and how many."""


class StorageDevice(Protocol):
    """Serves requests in the order in which they come, and remembers between them where it stands."""

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:
        """Serve ``blocks`` blocks from number ``block`` on, asked for at ``start_ps``; returns when that is done, in ps."""


@dataclass
class SequentialRandomDevice:
    """A device in two numbers: a block that follows the one served last, and any other block.

    This is the disk of the scan cost model (SEQIO and RDMIO in equations 1, 4 and 10); reads and writes cost the same.
    """

    sequential_ps: int
    random_ps: int
    _next_block: int | None = field(default=None, init=False, repr=False)

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:  # noqa: ARG002 (writes cost what reads do)
        """Serve a run of blocks: the first one at random unless it follows, the others sequentially."""
        first = self.sequential_ps if block == self._next_block else self.random_ps
        self._next_block = block + blocks
        return start_ps + first + (blocks - 1) * self.sequential_ps


def serve_requests(device: StorageDevice, requests: Iterable[Request]) -> int:
    """Serve the reads as they come and then the writes, as a buffer pool that writes behind; returns the picoseconds taken."""
    asked = list(requests)
    now = 0
    for wanted in (READ, WRITE):
        for kind, page, pages in asked:
            if kind == wanted:
                now = device.serve(now, int(page), int(pages), write=kind == WRITE)
    return now
