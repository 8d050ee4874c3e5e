"""Kernel `clotho-insert`: R is filled by bulk insertion (Clotho, section 7.2.4)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Attributes, Pool, Records, RunsAhead
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.placed import placed
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, Layout
from memwalk.workloads.clotho.relation import end_of, scanned_pages
from memwalk.workloads.programs import clotho


class ClothoInsert(OneProgram):
    """Pages fill one after another and are written in runs; the time is storage's alone."""

    traffic: ClassVar[TrafficOf] = always(reads=False)

    kernel: Literal["clotho-insert"]
    layout: Layout = Field(description="How records lie in pages and on storage")
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    attributes: Attributes = Field(15, description="Attributes of R")
    records: Records = 8_000_000
    runs_ahead: RunsAhead = Field(2, description="Runs of each file that are on their way at once")
    pool: Pool = Field(128 << 20, description="Memory for these runs, which are as many tracks of each disk as fit; A-pages come in bands")

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return scanned_pages(self.attributes, self.records) // 8

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Place the relation, as `OneProgram` says."""
        stored = placed(self.layout, self.attributes, self.records, volume, self.reconstruction, first_block=first_block)
        row = volume.row_blocks
        run_blocks = max(1, self.pool // (self.runs_ahead * len(stored) * row * BLOCK_BYTES)) * row
        return Placed(end_of(stored), lambda _: lambda: Begun(clotho.insertion(stored, run_blocks, self.runs_ahead), self._columns))

    @staticmethod
    def _columns(periods: Mapping[str, Period]) -> Columns:
        """Return the time that it takes."""
        (period,) = periods.values()
        elapsed = seconds(period.elapsed_ps)
        return {"seconds": elapsed, "io_seconds": elapsed} | io_columns(period.served)
