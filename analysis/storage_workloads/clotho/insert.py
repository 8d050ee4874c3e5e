"""Kernel `clotho-insert`: R is filled by bulk insertion (Clotho, section 7.2.4)."""

from typing import Any, Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Attributes, Pool, Records, RunsAhead
from memwalk.analysis.storage_workloads.placed import placed
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.validation import StrictModel
from memwalk.traces.storage import Client
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, Layout
from memwalk.workloads.clotho.relation import scanned_pages
from memwalk.workloads.programs import clotho


class ClothoInsert(StrictModel):
    """Pages fill one after another and are written in runs; the time is storage's alone."""

    kernel: Literal["clotho-insert"]
    layout: Layout
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    attributes: Attributes = Field(15, description="Attributes of R")
    records: Records = 8_000_000
    runs_ahead: RunsAhead = Field(2, description="Runs of each file that are on their way at once")
    pool: Pool = Field(128 << 20, description="Memory for these runs, which are as many tracks of each disk as fit; A-pages come in bands")

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump()

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return scanned_pages(self.attributes, self.records) // 8

    def check(self, system: System) -> None:
        """Raise UserError if the volume has no room for the relation, as `Checked` says."""
        placed(self.layout, self.attributes, self.records, system.layout(), self.reconstruction)

    def run(self, system: System) -> dict[str, float | int]:
        """Write everything; returns the time it takes.

        Raises UserError if the relation does not fit onto the volume, or the layout not to it.
        """
        (period,) = run(system, self.program(system.layout())).values()
        elapsed = seconds(period.elapsed_ps)
        return {"seconds": elapsed, "io_seconds": elapsed} | io_columns(period.served)

    def program(self, volume: Volume) -> list[Client]:
        """Make the clients, on a volume. Raises UserError as `run` does."""
        stored = placed(self.layout, self.attributes, self.records, volume, self.reconstruction)
        row = volume.row_blocks
        run_blocks = max(1, self.pool // (self.runs_ahead * len(stored) * row * BLOCK_BYTES)) * row
        return clotho.insertion(stored, run_blocks, self.runs_ahead)
