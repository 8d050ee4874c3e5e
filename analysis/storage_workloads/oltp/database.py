"""What transactions need to know of a database: which pages a visit fixes."""

from collections.abc import Iterator
from typing import Protocol, TypeAlias

from memwalk.simcore.storage.pool import Query
from memwalk.workloads.tpcc import Visit

Touch: TypeAlias = tuple[Query, range]
"""Consecutive pages are fixed one after another for a query."""


class Database(Protocol):
    """Tables and indexes on a volume, in one layout, and the buffer pool in front of them."""

    @property
    def pages(self) -> int:
        """Pages that tables and indexes take at the beginning."""

    @property
    def blocks(self) -> int:
        """Blocks that they take from the volume's first on, with space to grow."""

    def touches(self, visit: Visit) -> Iterator[Touch]:
        """Say what a visit fixes, in order; whoever asks for the next is done with the one before."""
