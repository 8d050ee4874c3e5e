"""Kernel `layout-update`: one record is inserted or deleted, over tables in one layout (MBSM, Figures 5(c) and 7(b))."""

import random
from collections.abc import Iterable
from statistics import fmean, stdev
from typing import Any, Literal

import simpy
from pydantic import Field, StrictBool, model_validator

from analysis.storage_workloads.client import serve
from analysis.storage_workloads.commands import check_room
from analysis.storage_workloads.layouts import LaidOut
from analysis.storage_workloads.system import System
from simcore.storage.closed_loop import Access
from simcore.units import Count, PositiveCount
from simcore.validation import nearest
from workloads.mbsm import Mbsm
from workloads.tables import Extent, Layout

_MS_PER_PS = 1e-9


class LayoutUpdate(LaidOut):
    """Records anywhere in a table, whose file begins somewhere else each time; the heads are at its beginning before.

    Writes to a disk without a cache hinge on where the platter stands, and so on the distance between pages in sectors. Many
    beginnings of the file make a mean of that.
    """

    kernel: Literal["layout-update"]
    table: str = Field(description="Table of the data whose record is inserted or deleted")
    pages: Literal["bound", "touched"] = Field(
        "bound", description="MBSM: min(u, p) pages of u columns and p pages (section 4.1), or those that hold values of the record"
    )
    read_first: StrictBool = Field(True, description="Whether the pages are read, all at once, before they are written, all at once")
    starts: PositiveCount = Field(50, description="Beginnings of the file, drawn from the first blocks of the volume")
    start_blocks: PositiveCount = Field(1_000_000, description="How many blocks those are")
    records: PositiveCount = Field(10, description="Records for each beginning, drawn from the table")
    seed: Count = 1

    @model_validator(mode="after")
    def _known(self) -> "LayoutUpdate":
        if self.table not in self.data.tables():
            raise ValueError(f"{self.data.kind} has no table `{self.table}`; {nearest(self.table, self.data.tables())}")
        if self.starts < 2:
            raise ValueError("one beginning of the file has no spread; write 2 or more")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump(exclude=None if self.layout == "mbsm" else {"mbsm", "pages"})

    def run(self, system: System) -> dict[str, float | int]:
        """Update; returns mean ``io_ms`` of an update, ``writes`` of one, and over the file's beginnings the spread of the mean.

        ``spread_percent`` is their standard deviation, ``least_ms`` and ``greatest_ms`` are the ends of their range. Raises UserError
        if the volume has no room for the table.
        """
        draw, means, writes = random.Random(self.seed), [], []
        for _ in range(self.starts):
            laid = self._laid(draw.randrange(self.start_blocks), system)
            records = [draw.randrange(laid.table.records) for _ in range(self.records)]
            changed = [self._changed(laid, record) for record in records]
            writes += [len(pages) for pages in changed]
            means.append(fmean(self._update_ms(system, laid, pages) for pages in changed))
        mean = fmean(means)
        return {
            "io_ms": mean,
            "spread_percent": 100 * stdev(means) / mean,
            "least_ms": min(means),
            "greatest_ms": max(means),
            "writes": fmean(writes),
            "updates": len(writes),
        }

    def _laid(self, first_block: int, system: System) -> Layout:
        """Lay out the table alone, as if it began here."""
        laid = self._lay_out(self.data.tables()[self.table], first_block)
        check_room(self.start_blocks + laid.blocks, system.layout().blocks, self.kernel)
        return laid

    def _changed(self, laid: Layout, record: int) -> list[Extent]:
        if isinstance(laid, Mbsm) and self.pages == "bound":
            return laid.super_block_pages(record)[: len(laid.table.columns)]
        return laid.record(record, laid.table.names)

    def _update_ms(self, system: System, laid: Layout, pages: Iterable[Extent]) -> float:
        env = simpy.Environment()
        server = system.server(env)
        first = laid.record(0, laid.table.names)[0]
        serve(server, [Access(*first)])
        start = int(env.now)
        if self.read_first:
            serve(server, [Access(*page) for page in pages])
        serve(server, [Access(*page, write=True) for page in pages])
        return (int(env.now) - start) * _MS_PER_PS
