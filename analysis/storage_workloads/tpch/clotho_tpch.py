"""Kernel `clotho-tpch`: queries 1, 6, 12 and 14 of TPC-H in four layouts (Clotho, section 7.3)."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Pool, RunsAhead, SampleScaleFactor, ScaleFactor
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.placed import check_read_ahead, frames_in
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.analysis.storage_workloads.scattering import Scattering
from memwalk.analysis.storage_workloads.tpch.query import QueryWork, placed_tables, query_work, with_work
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.traces.storage import Client
from memwalk.workloads.clotho import sample
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, DEFAULT_SCATTERING, Layout, kernel_pages
from memwalk.workloads.programs import query as program


class ClothoTpch(OneProgram):
    """One user's query on a cold buffer pool. Reading ahead and work overlap, as the volume manager has a processor of its own."""

    processes: ClassVar[bool] = True
    traffic: ClassVar[TrafficOf] = always(writes=False)

    kernel: Literal["clotho-tpch"]
    layout: Layout = Field(description="How records lie in pages and on storage")
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    scattering: Scattering = DEFAULT_SCATTERING
    query: Literal["q1", "q6", "q12", "q14"] = Field(description="Query of TPC-H")
    scale_factor: ScaleFactor = Field(1.0, description="1 is 1 GB")
    sample_scale_factor: SampleScaleFactor = Field(
        0.02, description="Database on which the processor's time is simulated, to be scaled up by the records"
    )
    pool: Pool = Field(128 << 20, description="Buffer pool")
    runs_ahead: RunsAhead = Field(2, description="Runs of each file, a track of each disk, that are read ahead")

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return query_work(self.scale_factor, self.sample_scale_factor)

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Place the tables, as `OneProgram` says. Raises UserError, too, if what is read ahead does not fit into the pool."""
        placed = placed_tables(
            self.query,
            self.layout,
            volume,
            scale_factor=self.scale_factor,
            reconstruction=self.reconstruction,
            first_block=first_block,
        )
        for scanned, records in placed:
            check_read_ahead(scanned.streams, records, self.runs_ahead, self.pool)

        def prepare(system: System) -> Callable[[], Begun]:
            query, copied = self._sample(placed[0].scanned.pages_per_frame), self.scattering == "copied"
            work = with_work(placed, system.machine, query, copied=copied)
            return lambda: Begun([self._client(work)], lambda periods: self._columns(periods, work))

        return Placed(placed[-1].scanned.end_block, prepare)

    def _sample(self, pages_per_frame: int) -> sample.Sample:
        pages = kernel_pages(self.layout, self.reconstruction)
        return sample.of_query(self.query, pages, pages_per_frame, scale_factor=self.scale_factor, sample=self.sample_scale_factor)

    def _client(self, work: QueryWork) -> Client:
        return program.query(work.scans, frames_in(self.pool), self.runs_ahead)

    @staticmethod
    def _columns(periods: Mapping[str, Period], work: QueryWork) -> Columns:
        """Return the time, the processor's part of it, and what pool and devices did."""
        (period,) = periods.values()
        elapsed, cpu = seconds(period.elapsed_ps), dict(work.columns)
        return (
            {
                "seconds": elapsed,
                "io_seconds": elapsed - cpu.get("cpu_seconds", 0.0),
                "blocks_read": period.pools[program.POOL].blocks_read,
            }
            | cpu
            | io_columns(period.served)
        )
