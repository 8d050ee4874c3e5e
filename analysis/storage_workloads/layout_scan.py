"""Kernel `layout-scan`: queries that scan the columns they name, over tables in one layout (MBSM, Figures 5 to 7)."""

from collections.abc import Iterator
from itertools import product
from typing import Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import elapsed
from memwalk.analysis.storage_workloads.layouts import LaidOut
from memwalk.analysis.storage_workloads.limits import AtOnce, CommandBytes
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed, alone
from memwalk.analysis.storage_workloads.room import check_room, whole_blocks
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.validation import nearest
from memwalk.workloads.mbsm import Query
from memwalk.workloads.programs import transfers
from memwalk.workloads.tables import Extent, Layout

ALL = "all"
"""The mean of all queries."""


class LayoutScan(LaidOut, OneProgram):
    """Each table that the query names columns of is scanned once, one table and one file after the other.

    Every query begins on a system just switched on. Values are not put together: DSM's joins cost nothing here.
    """

    kernel: Literal["layout-scan"]
    query: str = Field(ALL, description="A query of the data, such as Q1 of tpch or 3 of uniform; all: their mean")
    command_bytes: CommandBytes = Field(65536, description="The most that one command reads")
    in_flight: AtOnce = Field(1, description="Commands waiting or served at any time")

    @model_validator(mode="after")
    def _known(self) -> "LayoutScan":
        whole_blocks(self.command_bytes, "command_bytes")
        known = [ALL, *self.data.queries()]
        if self.query not in known:
            raise ValueError(f"{self.data.kind} has no query `{self.query}`; {nearest(self.query, known)}")
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        tables = self.data.tables().values()
        queries = self.data.queries()
        asked = queries.values() if self.query == ALL else [queries[self.query]]
        read = 0.0
        for query, table in product(asked, tables):
            wanted = [column.average_bytes for column in table.columns if column.name in query.columns]
            read += table.records * (table.average_bytes if self.layout in ("nsm", "pax") else sum(wanted)) if wanted else 0.0
        return self.placing() + int(read // self.command_bytes)

    def check(self, system: System) -> None:
        """Raise UserError for tables that no page or no volume holds, as `Checked` says."""
        self.check_fits(system)

    def run(self, system: System) -> Columns:
        """Scan; returns ``io_seconds``, what was read and where the time went, of a query or the mean of all.

        ``pages_stored`` is what all tables take. Raises UserError if the volume has no room for them.
        """
        if self.query != ALL:
            return super().run(system)
        laid = self._laid_out(system.layout(), 0)
        each = [alone(system, self._begun(laid, query)) for query in self.data.queries().values()]
        return {column: sum(one[column] for one in each) / len(each) for column in each[0]}

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Lay the tables out for the one query, as `OneProgram` says."""
        laid = self._laid_out(volume, first_block)
        query = self.data.queries()[self.query]
        return Placed(_end_of(laid, first_block), lambda _: lambda: self._begun(laid, query))

    def _laid_out(self, volume: Volume, first_block: int) -> dict[str, Layout]:
        laid = self.lay_out_all(first_block)
        check_room(_end_of(laid, first_block), volume.blocks, self.kernel)
        return laid

    def _begun(self, laid: dict[str, Layout], query: Query) -> Begun:
        extents = list(_scanned(laid, query))
        blocks = sum(extent.blocks for extent in extents)
        commands = transfers.reads(extents, whole_blocks(self.command_bytes, "command_bytes"))
        columns = {
            "columns_read": len(query.columns),
            "pages_read": blocks // self.page.blocks,
            "megabytes_read": blocks * BLOCK_BYTES / 1e6,
            "pages_stored": sum(layout.pages for layout in laid.values()),
        }
        return Begun(transfers.clients(commands, self.in_flight), lambda periods: columns | elapsed(periods))


def _end_of(laid: dict[str, Layout], first_block: int) -> int:
    return first_block + sum(layout.blocks for layout in laid.values())


def _scanned(laid: dict[str, Layout], query: Query) -> Iterator[Extent]:
    """Give what a query reads, in order."""
    for layout in laid.values():
        columns = query.columns.intersection(layout.table.names)
        if columns:
            for stream in layout.scan(columns):
                yield from stream
