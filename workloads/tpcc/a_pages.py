"""A database in Clotho's A-pages, of which the buffer pool keeps the columns that queries need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memwalk.traces.storage import Schema
from memwalk.workloads.clotho import APageFormat, Csm, TwoDimensional, split_by_length
from memwalk.workloads.clotho.relation import PAGE_BLOCKS
from memwalk.workloads.tables import Column, Dsm, Table, WholePages
from memwalk.workloads.tpcc.access import Access, Action, Statement, Visit
from memwalk.workloads.tpcc.database import Touch
from memwalk.workloads.tpcc.index import Index
from memwalk.workloads.tpcc.whole_pages import IndexFiles, first_page, whole_touch


@dataclass(frozen=True)
class _Wanted:
    """What a statement wants of columns that share A-pages."""

    file: Csm
    schema: Schema
    changes: Schema


@dataclass(frozen=True)
class _WantedApart:
    """A column of variable length, in pages of its own that are like those of DSM (section 6.2)."""

    file: Dsm
    changes: bool


class APageDatabase:
    """Tables one after another on a volume, indexes behind them.

    A table with more columns than an A-page has blocks is stored in several A-pages, as many columns in each as there are blocks, in
    the order of the schema.
    """

    def __init__(
        self, volume: TwoDimensional, tables: Sequence[Table], indexes: Mapping[str, Index], room: float, *, first_block: int = 0
    ) -> None:
        """Place a database from ``first_block`` on; tables and indexes have space for ``room`` times the records that they begin with."""
        self.whole = WholePages(PAGE_BLOCKS)
        self._together: dict[str, list[Csm]] = {}
        self._apart: dict[str, list[Dsm]] = {}
        self._wanted: dict[Statement, tuple[list[_Wanted], list[_WantedApart]]] = {}
        self.pages = 0
        begin = first_page(first_block) * PAGE_BLOCKS
        for table in tables:
            fixed, variable = split_by_length(table.columns)
            self._together[table.name], self._apart[table.name] = [], []
            for columns in _groups(fixed, PAGE_BLOCKS):
                shared = Csm(_grown(table, columns, room), APageFormat(columns, PAGE_BLOCKS), volume, begin)
                self._together[table.name].append(shared)
                self.pages += shared.format.pages(table.records)
                begin += shared.blocks
            for column in variable:
                apart = Dsm(_grown(table, (column,), room), begin)
                self._apart[table.name].append(apart)
                self.pages += Dsm(_grown(table, (column,), 1)).pages
                begin += apart.blocks
        self._indexes = IndexFiles(indexes, first_page(begin), room, self.whole)
        self.pages += self._indexes.pages
        self.end_block = self._indexes.end_page * PAGE_BLOCKS

    def touches(self, visit: Visit) -> Iterator[Touch]:
        """Fix an index's leaf, or an A-page of a record for its columns in it, and the pages of columns that are stored apart."""
        if not isinstance(visit, Access):
            yield self._indexes.touch(visit.tree, visit.leaf, changes=visit.changes)
            return
        statement, record, records = visit
        together, apart = self._wanted.get(statement) or self._want(statement)
        for wanted in together:
            per_page = wanted.file.format.records
            pages = range(record // per_page, (record + records - 1) // per_page + 1)
            yield Touch(wanted.file, wanted.schema, wanted.changes, pages)
        for column in apart:
            (first,), (last,) = (column.file.record(number, column.file.table.names) for number in (record, record + records - 1))
            yield whole_touch(self.whole, first.block // PAGE_BLOCKS, last.block // PAGE_BLOCKS, changes=column.changes)

    def _want(self, statement: Statement) -> tuple[list[_Wanted], list[_WantedApart]]:
        """Sort a statement's columns by where they are stored; a record that comes or goes has all of them written."""
        whole = statement.action in (Action.INSERT, Action.DELETE)
        together = []
        for file in self._together[statement.table]:
            names = {column.name for column in file.format.columns}
            needed = names if whole else names & statement.columns
            if needed:
                together.append(_Wanted(file, file.schema(needed), file.schema(needed if whole else names.intersection(statement.writes))))
        apart = []
        for alone in self._apart[statement.table]:
            (name,) = alone.table.names
            if whole or name in statement.columns:
                apart.append(_WantedApart(alone, whole or name in statement.writes))
        return self._wanted.setdefault(statement, (together, apart))


def _groups(columns: Sequence[Column], most: int) -> list[tuple[Column, ...]]:
    return [tuple(columns[first : first + most]) for first in range(0, len(columns), most)]


def _grown(table: Table, columns: tuple[Column, ...], room: float) -> Table:
    return Table(table.name, columns, round(table.records * room))
