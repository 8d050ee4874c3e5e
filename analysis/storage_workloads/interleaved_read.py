"""Kernel `interleaved-read`: read some pages, skip as many a few times over, and so on (MBSM, Figure 3)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import elapsed
from memwalk.analysis.storage_workloads.limits import CommandBytes, Times, TimesOrNone
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.room import check_room, whole_blocks
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.units import Count
from memwalk.traces.storage import Client
from memwalk.workloads.programs import transfers
from memwalk.workloads.tables.page import PAGE_8K


class InterleavedRead(OneProgram):
    """Reads ``pages`` pages in blocks of ``run_pages``, and skips ``skipped_runs`` such blocks behind each."""

    has_data: ClassVar[bool] = False
    traffic: ClassVar[TrafficOf] = always(writes=False, asks_for_rows=False)

    kernel: Literal["interleaved-read"]
    pages: Times = Field(10_000, description="Pages read in all")
    page_bytes: CommandBytes = Field(PAGE_8K.bytes, description="Size of a page")
    run_pages: Times = Field(1, description="Pages read in a row")
    skipped_runs: TimesOrNone = Field(3, description="Such rows that are skipped behind each; 0 reads in sequence")
    command_bytes: CommandBytes = Field(65536, description="The most that one command reads")
    first_block: Count = Field(0, description="Where the first page begins")

    @model_validator(mode="after")
    def _whole(self) -> "InterleavedRead":
        whole_blocks(self.page_bytes, "page_bytes")
        whole_blocks(self.command_bytes, "command_bytes")
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        in_run = -(-self.run_pages * self.page_bytes // self.command_bytes)
        return len(self._runs()) * in_run

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Find the pages' places, which they say themselves, as `OneProgram` says."""
        runs = self._runs()
        check_room(runs.run(len(runs) - 1).end, volume.blocks, self.kernel, "pages")
        return Placed(first_block, lambda _: lambda: Begun(self._clients(), self._columns))

    def _clients(self) -> list[Client]:
        return transfers.clients(transfers.reads(self._runs(), whole_blocks(self.command_bytes, "command_bytes")))

    def _columns(self, periods: Mapping[str, Period]) -> Columns:
        """Return ``io_seconds``, ``pages_read``, ``runs_read`` and where the time went."""
        return {"pages_read": self.pages, "runs_read": len(self._runs())} | elapsed(periods)

    def _runs(self) -> transfers.RunsWithGaps:
        page_blocks = whole_blocks(self.page_bytes, "page_bytes")
        return transfers.RunsWithGaps(self.pages, page_blocks, self.run_pages, self.skipped_runs, self.first_block)
