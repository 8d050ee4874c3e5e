"""Kernel `layout-scan`: queries that scan the columns they name, over tables in one layout (MBSM, Figures 5 to 7)."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from analysis.storage_workloads.client import elapsed
from analysis.storage_workloads.commands import check_room, reads, whole_blocks
from analysis.storage_workloads.layouts import LaidOut
from analysis.storage_workloads.system import System
from simcore.storage.device import BLOCK_BYTES
from simcore.units import Bytes, PositiveCount
from simcore.validation import nearest
from workloads.mbsm import Query
from workloads.tables import Extent, Layout


class LayoutScan(LaidOut):
    """Each table that the query names columns of is scanned once, one table and one file after the other.

    Values are not put together: DSM's joins cost nothing here.
    """

    kernel: Literal["layout-scan"]
    query: str = Field(description="A query of the data, such as Q1 of tpch or 3 of uniform")
    command_bytes: Bytes = Field(65536, description="The most that one command reads")
    in_flight: PositiveCount = Field(1, description="Commands waiting or served at any time")

    @model_validator(mode="after")
    def _known(self) -> "LayoutScan":
        whole_blocks(self.command_bytes, "command_bytes")
        if self.query not in self.data.queries():
            raise ValueError(f"{self.data.kind} has no query `{self.query}`; {nearest(self.query, self.data.queries())}")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump(exclude=None if self.layout == "mbsm" else {"mbsm"})

    def run(self, system: System) -> dict[str, float | int]:
        """Scan; returns ``io_seconds``, pages and megabytes read, ``pages_stored`` of all tables, and where the time went.

        Raises UserError if the volume has no room for the tables.
        """
        laid = self.lay_out()
        check_room(sum(layout.blocks for layout in laid.values()), system.layout().blocks, self.kernel)
        extents = list(_scanned(laid, self.data.queries()[self.query]))
        blocks = sum(extent.blocks for extent in extents)
        volume = {
            "pages_read": blocks // self.page.blocks,
            "megabytes_read": blocks * BLOCK_BYTES / 1e6,
            "pages_stored": sum(layout.pages for layout in laid.values()),
        }
        return volume | elapsed(system, reads(extents, whole_blocks(self.command_bytes, "command_bytes")), self.in_flight)


def _scanned(laid: dict[str, Layout], query: Query) -> Iterator[Extent]:
    for layout in laid.values():
        columns = query.columns.intersection(layout.table.names)
        if columns:
            for stream in layout.scan(columns):
                yield from stream
