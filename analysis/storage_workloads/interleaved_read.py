"""Kernel `interleaved-read`: read some pages, skip as many a few times over, and so on (MBSM, Figure 3)."""

from itertools import chain
from typing import Any, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.client import elapsed
from memwalk.analysis.storage_workloads.commands import check_room, reads, whole_blocks
from memwalk.analysis.storage_workloads.limits import CommandBytes, Times, TimesOrNone
from memwalk.analysis.storage_workloads.system import System
from memwalk.simcore.units import Count
from memwalk.simcore.validation import StrictModel
from memwalk.workloads.tables import Extent


class InterleavedRead(StrictModel):
    """Reads ``pages`` pages in blocks of ``run_pages``, and skips ``skipped_runs`` such blocks behind each."""

    kernel: Literal["interleaved-read"]
    pages: Times = Field(10_000, description="Pages read in all")
    page_bytes: CommandBytes = 8192
    run_pages: Times = Field(1, description="Pages read in a row")
    skipped_runs: TimesOrNone = Field(3, description="Such rows that are skipped behind each; 0 reads in sequence")
    command_bytes: CommandBytes = Field(65536, description="The most that one command reads")
    first_block: Count = Field(0, description="Where the first page begins")

    @model_validator(mode="after")
    def _whole(self) -> "InterleavedRead":
        whole_blocks(self.page_bytes, "page_bytes")
        whole_blocks(self.command_bytes, "command_bytes")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump()

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        in_run = -(-self.run_pages * self.page_bytes // self.command_bytes)
        return -(-self.pages // self.run_pages) * in_run

    def check(self, system: System) -> None:
        """Raise UserError if the volume has no room, as `Checked` says."""
        check_room(self._last().end, system.layout().blocks, self.kernel, "pages")

    def run(self, system: System) -> dict[str, float | int]:
        """Read; returns ``io_seconds``, ``pages_read``, ``runs_read`` and where the time went.

        Raises UserError if the volume has no room for it.
        """
        self.check(system)
        page_blocks, last = whole_blocks(self.page_bytes, "page_bytes"), self._last()
        runs, period = -(-self.pages // self.run_pages), self._period
        whole = (Extent(self._block(run * period), self.run_pages * page_blocks) for run in range(runs - 1))
        commands = reads(chain(whole, [last]), whole_blocks(self.command_bytes, "command_bytes"))
        return {"pages_read": self.pages, "runs_read": runs} | elapsed(system, commands, in_flight=1)

    @property
    def _period(self) -> int:
        """Pages from the beginning of a row to that of the next."""
        return self.run_pages * (1 + self.skipped_runs)

    def _last(self) -> Extent:
        """Return the last row, which may be shorter."""
        before = -(-self.pages // self.run_pages) - 1
        left = self.pages - before * self.run_pages
        return Extent(self._block(before * self._period), left * whole_blocks(self.page_bytes, "page_bytes"))

    def _block(self, page: int) -> int:
        return self.first_block + page * whole_blocks(self.page_bytes, "page_bytes")
