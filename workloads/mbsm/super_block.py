"""A super-block: which columns lie on which of its pages."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from memwalk.workloads.mbsm.query import Query


class Share(NamedTuple):
    """What a page holds of a column: ``bytes`` per record, all of a value's size unless the column is split over pages."""

    column: str
    bytes: int


Page: TypeAlias = tuple[Share, ...]


@dataclass(frozen=True)
class SuperBlock:
    """The pages of a super-block in the order of their runs. A split column fills its pages in this order (section 3.3)."""

    pages: tuple[Page, ...]

    @cached_property
    def loads(self) -> tuple[int, ...]:
        """Bytes per record on each page."""
        return tuple(sum(share.bytes for share in page) for page in self.pages)

    @property
    def load(self) -> int:
        """The largest load, M: it decides how many records fit."""
        return max(self.loads)

    @property
    def record_bytes(self) -> int:
        """Bytes of a record, S."""
        return sum(self.loads)

    @property
    def fragmentation(self) -> float:
        """The share of the pages that stays empty when the fullest is full: 1 - S / (p M)."""
        return 1 - self.record_bytes / (len(self.pages) * self.load)

    def pages_of(self, columns: Collection[str]) -> tuple[int, ...]:
        """Give the pages, from 0, that hold values of any of these columns."""
        return tuple(number for number, page in enumerate(self.pages) if any(share.column in columns for share in page))

    def shares(self, column: str) -> tuple[tuple[int, int], ...]:
        """Give page and bytes per record of each part of a column, in the order in which its values fill them."""
        return tuple((number, share.bytes) for number, page in enumerate(self.pages) for share in page if share.column == column)

    def pages_read(self, queries: Iterable[Query]) -> float:
        """Sum over the queries of the pages that each reads of a super-block, as often as it weighs."""
        return sum(query.weight * len(self.pages_of(query.columns)) for query in queries)

    def score(self, queries: Sequence[Query]) -> float:
        """Mean bytes per record that a query reads, empty space included: M * sum(q_i p_i) (section 3.4)."""
        return self.load * self.pages_read(queries) / sum(query.weight for query in queries)
