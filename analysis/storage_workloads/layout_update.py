"""Kernel `layout-update`: single records are inserted, deleted, changed or looked up (MBSM, sections 4.1, 6.1 and 6.2)."""

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any, ClassVar, Literal

from pydantic import Field, StrictBool, model_validator

from memwalk.analysis.storage_workloads.layouts import LaidOut
from memwalk.analysis.storage_workloads.limits import Seed, Times
from memwalk.analysis.storage_workloads.room import check_room
from memwalk.analysis.storage_workloads.traffic import Traffic, TrafficOf
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.system import System
from memwalk.simcore.units import PositiveCount
from memwalk.traces.storage import Client
from memwalk.workloads.mbsm import Mbsm
from memwalk.workloads.programs import transfers
from memwalk.workloads.programs.transfers import OPERATION
from memwalk.workloads.tables import Extent, Layout

_MS_PER_PS = 1e-9
_STEPS_OF_A_RECORD = 25
"""Work of a record, in requests: a system is switched on for each."""


def _traffic(workload: Mapping[str, Any]) -> Traffic:
    writes_nothing = workload["operation"] == "lookup"
    return Traffic(reads=writes_nothing or workload["read_first"], writes=not writes_nothing, asks_for_rows=False)


class LayoutUpdate(LaidOut):
    """Records anywhere in a table, whose file begins somewhere else each time; the heads are at its beginning before.

    Writes to a disk without a cache hinge on where the platter stands, and so on the distance between pages in sectors. Many
    beginnings of the file make a mean of that.
    """

    traffic: ClassVar[TrafficOf] = _traffic

    kernel: Literal["layout-update"]
    table: str = Field(description="Table of the data")
    operation: Literal["insert", "modify", "lookup"] = Field("insert", description="An insertion writes what a deletion does")
    columns: PositiveCount = Field(1, description="Columns changed or looked up, drawn for each record")
    written: Literal["bound", "touched"] = Field(
        "bound", description="MBSM insertions: min(u, p) pages of u columns and p pages (section 4.1), or those with values of the record"
    )
    read_first: StrictBool = Field(False, description="Whether pages are read, all at once, before they are written, all at once")
    starts: PositiveCount = Field(50, ge=2, le=1_000_000, description="Beginnings of the file, drawn from the first blocks of the volume")
    start_blocks: PositiveCount = Field(1_000_000, description="How many blocks those are")
    records: Times = Field(10, description="Records for each beginning, drawn from the table")
    seed: Seed = 1

    @model_validator(mode="after")
    def _known(self) -> "LayoutUpdate":
        table = self.table_of(self.table)
        if self.columns > len(table.columns):
            raise ValueError(f"table {self.table} has {len(table.columns)} columns, not {self.columns}; write fewer")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults, without what is for other layouts and operations."""
        unused = {"columns"} if self.operation == "insert" else {"written"}
        return {name: value for name, value in super().native().items() if name not in unused}

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return self.placing() + self.starts * self.records * _STEPS_OF_A_RECORD

    def check(self, system: System) -> None:
        """Raise UserError for tables that no page or no volume holds, as `Checked` says."""
        self.check_fits(system, self.table, blocks_before=self.start_blocks, parameter="start_blocks")

    def run(self, system: System) -> dict[str, float | int]:
        """Do it; returns the mean time ``io_ms``, and how it and its pages are made up.

        ``pages`` are read or written by one operation, ``most_pages`` by the one with most; ``random_pages`` of them lie farther
        than a mega-block from the page before. Over the file's beginnings, ``spread_percent`` is the standard deviation of the
        mean time, ``least_ms`` and ``greatest_ms`` its range. Raises UserError if the volume has no room for the table.
        """
        draw, means = random.Random(self.seed), []
        found: list[Sequence[Extent]] = []
        for _ in range(self.starts):
            laid = self.lay_out(self.table_of(self.table), draw.randrange(self.start_blocks))
            check_room(self.start_blocks + laid.blocks, system.layout().blocks, self.kernel)
            pages = [self._pages(laid, draw) for _ in range(self.records)]
            means.append(fmean(self._time_ms(system, laid, one) for one in pages))
            found += pages
        return {
            "io_ms": fmean(means),
            "spread_percent": 100 * stdev(means) / fmean(means),
            "least_ms": min(means),
            "greatest_ms": max(means),
            "operations": len(found),
            "pages": fmean(len(pages) for pages in found),
            "most_pages": max(len(pages) for pages in found),
            "random_pages": fmean(self._far_apart(pages) for pages in found),
        }

    def _pages(self, laid: Layout, draw: random.Random) -> Sequence[Extent]:
        """Draw a record and give its pages."""
        record = draw.randrange(laid.table.records)
        if self.operation != "insert":
            return laid.record(record, draw.sample(laid.table.names, self.columns))
        if isinstance(laid, Mbsm) and self.written == "bound":
            return laid.super_block_pages(record)[: len(laid.table.columns)]
        return laid.record(record, laid.table.names)

    def _time_ms(self, system: System, laid: Layout, pages: Sequence[Extent]) -> float:
        return run(system, [self.program(laid, pages)])[OPERATION].elapsed_ps * _MS_PER_PS

    def program(self, laid: Layout, pages: Sequence[Extent]) -> Client:
        """Make the client of one operation on ``pages``."""
        reads, writes = self.read_first or self.operation == "lookup", self.operation != "lookup"
        return transfers.one_operation(laid.record(0, laid.table.names)[0], pages, read=reads, write=writes)

    def _far_apart(self, pages: Sequence[Extent]) -> int:
        near = self.mbsm.mega_block_bytes // BLOCK_BYTES
        return 1 + sum(later.block - earlier.block > near for earlier, later in pairwise(pages))
