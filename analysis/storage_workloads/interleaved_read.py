"""Kernel `interleaved-read`: read some pages, skip as many a few times over, and so on (MBSM, Figure 3)."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from analysis.storage_workloads.client import elapsed
from analysis.storage_workloads.commands import check_room, reads, whole_blocks
from analysis.storage_workloads.system import System
from simcore.units import Bytes, Count, PositiveCount
from simcore.validation import StrictModel
from workloads.tables import Extent


class InterleavedRead(StrictModel):
    """Reads ``pages`` pages in blocks of ``run_pages``, and skips ``skipped_runs`` such blocks behind each."""

    kernel: Literal["interleaved-read"]
    pages: PositiveCount = Field(10_000, description="Pages read in all")
    page_bytes: Bytes = 8192
    run_pages: PositiveCount = Field(1, description="Pages read in a row")
    skipped_runs: Count = Field(3, description="Such rows that are skipped behind each; 0 reads in sequence")
    command_bytes: Bytes = Field(65536, description="The most that one command reads")
    first_block: Count = Field(0, description="Where the first page begins")

    @model_validator(mode="after")
    def _whole(self) -> "InterleavedRead":
        whole_blocks(self.page_bytes, "page_bytes")
        whole_blocks(self.command_bytes, "command_bytes")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump()

    def run(self, system: System) -> dict[str, float | int]:
        """Read; returns ``io_seconds``, ``pages_read``, ``runs_read`` and where the time went.

        Raises UserError if the volume has no room for it.
        """
        extents = list(self._extents())
        check_room(extents[-1].end, system.layout().blocks, self.kernel)
        command_blocks = whole_blocks(self.command_bytes, "command_bytes")
        return {"pages_read": self.pages, "runs_read": len(extents)} | elapsed(system, reads(extents, command_blocks), in_flight=1)

    def _extents(self) -> Iterator[Extent]:
        page_blocks = whole_blocks(self.page_bytes, "page_bytes")
        step = self.run_pages * (1 + self.skipped_runs) * page_blocks
        for number, first in enumerate(range(0, self.pages, self.run_pages)):
            yield Extent(self.first_block + number * step, min(self.run_pages, self.pages - first) * page_blocks)
