"""Kernel `clotho-tpch`: queries 1, 6, 12 and 14 of TPC-H in four layouts (Clotho, section 7.3)."""

from typing import Any, Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Pool, RunsAhead, SampleScaleFactor, ScaleFactor
from memwalk.analysis.storage_workloads.placed import frames_in
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.analysis.storage_workloads.tpch.query import placed_query, query_work
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import StrictModel
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, Layout
from memwalk.workloads.programs import query as program


class ClothoTpch(StrictModel):
    """One user's query on a cold buffer pool. Reading ahead and work overlap, as the volume manager has a processor of its own."""

    kernel: Literal["clotho-tpch"]
    layout: Layout
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    query: Literal["q1", "q6", "q12", "q14"]
    scale_factor: ScaleFactor = Field(1.0, description="1 is 1 GB")
    sample_scale_factor: SampleScaleFactor = Field(
        0.02, description="Database on which the processor's time is simulated, to be scaled up by the records"
    )
    pool: Pool = Field(128 << 20, description="Buffer pool")
    runs_ahead: RunsAhead = Field(2, description="Runs of each file, a track of each disk, that are read ahead")

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump()

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return query_work(self.scale_factor, self.sample_scale_factor)

    def run(self, system: System) -> dict[str, float | int]:
        """Run the query; returns its time, the processor's part of it, and what pool and devices did.

        Raises UserError if the tables do not fit onto the volume, what is read ahead not into the pool, or the layout not to these.
        """
        query = placed_query(
            self.query,
            self.layout,
            system.layout(),
            system.machine,
            scale_factor=self.scale_factor,
            sample_scale_factor=self.sample_scale_factor,
            reconstruction=self.reconstruction,
        )
        query.check_pool(self.pool, self.runs_ahead)
        (period,) = run(system, [program.query(query.scans, frames_in(self.pool), self.runs_ahead)]).values()
        elapsed, cpu = seconds(period.elapsed_ps), dict(query.columns)
        return (
            {
                "seconds": elapsed,
                "io_seconds": elapsed - cpu.get("cpu_seconds", 0.0),
                "blocks_read": period.pools[program.POOL].blocks_read,
            }
            | cpu
            | io_columns(period.served)
        )
