"""What transactions need to know of a database: which pages a visit fixes."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from memwalk.traces.storage import PagedFile, Schema
from memwalk.workloads.tables import WholePages
from memwalk.workloads.tpcc.access import Visit


class Touch(NamedTuple):
    """Consecutive pages that are fixed one after another."""

    file: PagedFile
    schema: Schema
    """Columns that are needed."""
    changes: Schema
    """Columns that are written."""
    pages: range


class Database(Protocol):
    """Tables and indexes on a volume, in one layout."""

    @property
    def whole(self) -> WholePages:
        """All pages in one piece: of them, every query asks for the same."""

    @property
    def pages(self) -> int:
        """Pages that tables and indexes take at the beginning."""

    @property
    def end_block(self) -> int:
        """The first block behind them and their space to grow."""

    def touches(self, visit: Visit) -> Iterator[Touch]:
        """Say what a visit fixes, in order; whoever asks for the next is done with the one before."""
