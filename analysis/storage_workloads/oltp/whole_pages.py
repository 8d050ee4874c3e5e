"""A database in pages that are read and written in one piece: NSM, PAX, DSM, and the indexes of all layouts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal, TypeAlias

from memwalk.analysis.storage_workloads.clotho.relation import PAGE_BLOCKS
from memwalk.analysis.storage_workloads.oltp.database import Touch
from memwalk.analysis.storage_workloads.reconstruction import DECOMPOSED, DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.simcore.storage.pool import BufferPool
from memwalk.traces.storage import WHOLE
from memwalk.workloads.tables import Dsm, Nsm, Pax, Table, WholePages
from memwalk.workloads.tpcc import Access, Action, Index, Visit

PageLayout: TypeAlias = Literal["nsm", "pax", "dsm"]

_WHOLE: Mapping[str, type[Nsm | Pax]] = {"nsm": Nsm, "pax": Pax}


class PageQueries:
    """What is asked of whole pages: all pages have the same column, so that one query which reads and one which writes go on for ever."""

    def __init__(self, pool: BufferPool, file: WholePages) -> None:
        """Begin the queries on ``file``."""
        self._reads = pool.begin(file, WHOLE)
        self._writes = pool.begin(file, WHOLE, changes=WHOLE)

    def touch(self, first: int, last: int, *, changes: bool) -> Touch:
        """Fix the pages from ``first`` to ``last``."""
        return self._writes if changes else self._reads, range(first, last + 1)


class IndexFiles:
    """The leaves of indexes, one index after another from a page on, with room for those that grow."""

    def __init__(self, indexes: Mapping[str, Index], first_page: int, room: float, queries: PageQueries) -> None:
        """Place ``indexes``; each takes ``room`` times the pages that it begins with."""
        self.pages = sum(index.pages for index in indexes.values())
        starts = [*accumulate((round(index.pages * room) + 1 for index in indexes.values()), initial=first_page)]
        self.end_page = starts[-1]
        self._first = dict(zip(indexes, starts, strict=False))
        self._queries = queries

    def touch(self, tree: str, leaf: int, *, changes: bool) -> Touch:
        """Fix a leaf."""
        page = self._first[tree] + leaf
        return self._queries.touch(page, page, changes=changes)


class PageDatabase:
    """Tables one after another in the outermost blocks of a volume, indexes behind them."""

    def __init__(
        self,
        pool: BufferPool,
        layout: PageLayout,
        tables: Sequence[Table],
        indexes: Mapping[str, Index],
        room: float,
        *,
        reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION,
    ) -> None:
        """Place a database; tables and indexes have space for ``room`` times the records that they begin with."""
        self._queries = PageQueries(pool, WholePages(PAGE_BLOCKS))
        self._whole_records = layout != "dsm"
        self._tables: dict[str, Nsm | Pax | Dsm] = {}
        place: type[Nsm | Pax | Dsm] = DECOMPOSED[reconstruction] if layout == "dsm" else _WHOLE[layout]
        begin, pages = 0, 0
        for table in tables:
            pages += place(table).pages
            grown = Table(table.name, table.columns, round(table.records * room))
            self._tables[table.name] = place(grown, begin)
            begin += self._tables[table.name].blocks
        self._indexes = IndexFiles(indexes, begin // PAGE_BLOCKS, room, self._queries)
        self.pages = pages + self._indexes.pages
        self.blocks = self._indexes.end_page * PAGE_BLOCKS

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
            yield self._queries.touch(first.block // PAGE_BLOCKS, last.block // PAGE_BLOCKS, changes=changed)
