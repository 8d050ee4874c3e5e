"""Kernel `layout-point`: single records anywhere in a table are read, or read and changed, in any layout."""

import random
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.layouts import LaidOut
from memwalk.analysis.storage_workloads.limits import AtOnce, Seed, Times
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.room import check_room
from memwalk.analysis.storage_workloads.traffic import TrafficOf, updating
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.units import PositiveCount
from memwalk.traces.storage import Client
from memwalk.workloads.programs import transfers
from memwalk.workloads.tables import Layout


class LayoutPoint(LaidOut, OneProgram):
    """Clients that ask for one record after another. The pages of a record are asked for at once, and the next record when all are there.

    Where a record is, is known: there is no index and no buffer pool. An update writes the pages back that it read.
    """

    traffic: ClassVar[TrafficOf] = updating("operation", "update", asks_for_rows=False)

    kernel: Literal["layout-point"]
    table: str = Field(description="Table of the data")
    operation: Literal["query", "update"] = Field("query", description="What is done to the records: they are read, or changed")
    columns: PositiveCount | None = Field(None, description="The first so many of a record are read, or changed; all if absent")
    records: Times = Field(1000, description="Records asked for")
    clients: AtOnce = Field(1, description="Clients, each with one record at a time")
    seed: Seed = 1

    @model_validator(mode="after")
    def _known(self) -> "LayoutPoint":
        columns = len(self.table_of(self.table).columns)
        if self.columns is not None and self.columns > columns:
            raise ValueError(f"columns {self.columns} is more than the {columns} of {self.table}; ask for fewer")
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        each = len(self.table_of(self.table).names[: self.columns]) if self.layout in ("dsm", "mbsm") else 1
        return self.placing() + self.records * each * (2 if self.operation == "update" else 1)

    def check(self, system: System) -> None:
        """Raise UserError for tables that no page or no volume holds, as `Checked` says."""
        self.check_fits(system, self.table)

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Lay the table out, as `OneProgram` says."""
        laid = self.lay_out(self.table_of(self.table), first_block)
        end_block = first_block + laid.blocks
        check_room(end_block, volume.blocks, self.kernel)
        return Placed(end_block, lambda _: lambda: Begun(self._clients(laid), self._columns))

    def _columns(self, periods: Mapping[str, Period]) -> Columns:
        """Return the time of all, ``ms_per_record`` from asking to having it, and ``pages_per_record``."""
        (period,) = periods.values()
        elapsed = seconds(period.elapsed_ps)
        ways = 2 if self.operation == "update" else 1
        return {
            "seconds": elapsed,
            "records_per_second": self.records / elapsed,
            "ms_per_record": 1000 * elapsed * min(self.clients, self.records) / self.records,
            "pages_per_record": period.asked.blocks / ways / self.page.blocks / self.records,
        } | io_columns(period.asked)

    def _clients(self, laid: Layout) -> list[Client]:
        draw, columns = random.Random(self.seed), laid.table.names[: self.columns]
        pages = (laid.record(draw.randrange(laid.table.records), columns) for _ in range(self.records))
        return transfers.records(pages, self.clients, update=self.operation == "update")
