"""A database in pages that are read and written in one piece: NSM, PAX, DSM, and the indexes of all layouts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal, TypeAlias

from memwalk.traces.storage import WHOLE
from memwalk.workloads.clotho.layouts import DECOMPOSED, DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.workloads.clotho.relation import PAGE_BLOCKS
from memwalk.workloads.tables import Dsm, Nsm, Pax, Table, WholePages
from memwalk.workloads.tpcc.access import Access, Action, Visit
from memwalk.workloads.tpcc.database import Touch
from memwalk.workloads.tpcc.index import Index

PageLayout: TypeAlias = Literal["nsm", "pax", "dsm"]

_WHOLE: Mapping[str, type[Nsm | Pax]] = {"nsm": Nsm, "pax": Pax}


def whole_touch(file: WholePages, first: int, last: int, *, changes: bool) -> Touch:
    """Fix the pages from ``first`` to ``last``."""
    return Touch(file, WHOLE, WHOLE if changes else 0, range(first, last + 1))


def first_page(block: int) -> int:
    """Return the page that begins at ``block`` or, if none does, is the next to begin."""
    return -(-block // PAGE_BLOCKS)


class IndexFiles:
    """The leaves of indexes, one index after another from a page on, with room for those that grow."""

    def __init__(self, indexes: Mapping[str, Index], first_page: int, room: float, file: WholePages) -> None:
        """Place ``indexes``; each takes ``room`` times the pages that it begins with."""
        self.pages = sum(index.pages for index in indexes.values())
        starts = [*accumulate((round(index.pages * room) + 1 for index in indexes.values()), initial=first_page)]
        self.end_page = starts[-1]
        self._first = dict(zip(indexes, starts, strict=False))
        self._file = file

    def touch(self, tree: str, leaf: int, *, changes: bool) -> Touch:
        """Fix a leaf."""
        page = self._first[tree] + leaf
        return whole_touch(self._file, page, page, changes=changes)


class PageDatabase:
    """Tables one after another on a volume, indexes behind them; pages are numbered from the volume's first block."""

    def __init__(
        self,
        layout: PageLayout,
        tables: Sequence[Table],
        indexes: Mapping[str, Index],
        room: float,
        *,
        reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION,
        first_block: int = 0,
    ) -> None:
        """Place a database from ``first_block`` on; tables and indexes have space for ``room`` times the records that they begin with."""
        self.whole = WholePages(PAGE_BLOCKS)
        self._whole_records = layout != "dsm"
        self._tables: dict[str, Nsm | Pax | Dsm] = {}
        place: type[Nsm | Pax | Dsm] = DECOMPOSED[reconstruction] if layout == "dsm" else _WHOLE[layout]
        begin, pages = first_page(first_block) * PAGE_BLOCKS, 0
        for table in tables:
            pages += place(table).pages
            grown = Table(table.name, table.columns, round(table.records * room))
            self._tables[table.name] = place(grown, begin)
            begin += self._tables[table.name].blocks
        self._indexes = IndexFiles(indexes, first_page(begin), room, self.whole)
        self.pages = pages + self._indexes.pages
        self.end_block = self._indexes.end_page * PAGE_BLOCKS

    def touches(self, visit: Visit) -> Iterator[Touch]:
        """Fix an index's leaf, the page of a record, or, in DSM, a page of every column's file: it rebuilds whole records."""
        if not isinstance(visit, Access):
            yield self._indexes.touch(visit.tree, visit.leaf, changes=visit.changes)
            return
        statement, record, records = visit
        layout = self._tables[statement.table]
        columns = () if self._whole_records else layout.table.names
        firsts, lasts = layout.record(record, columns), layout.record(record + records - 1, columns)
        everything = statement.action in (Action.INSERT, Action.DELETE)
        changes = [statement.changes] if self._whole_records else [everything or name in statement.writes for name in columns]
        for first, last, changed in zip(firsts, lasts, changes, strict=True):
            yield whole_touch(self.whole, first.block // PAGE_BLOCKS, last.block // PAGE_BLOCKS, changes=changed)
