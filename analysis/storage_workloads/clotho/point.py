"""Kernel `clotho-point`: single records of R by a non-clustered index, asked for or updated (Clotho, sections 7.2.2 and 7.2.3)."""

from typing import Any, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Attributes, Pool, Records, Times, TimesOrNone
from memwalk.analysis.storage_workloads.placed import frames_in, placed, placed_index
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.units import Count
from memwalk.simcore.validation import StrictModel
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, Layout
from memwalk.workloads.programs import clotho


class ClothoPoint(StrictModel):
    """Random records one after another: a leaf of the index, then the record; the inner nodes of the index are in memory."""

    kernel: Literal["clotho-point"]
    layout: Layout
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    operation: Literal["query", "update"] = "query"
    attributes: Attributes = Field(15, description="Attributes of R")
    records: Records = 8_000_000
    payload: Attributes = Field(1, description="Attributes read or updated: the first so many")
    index: bool = Field(True, description="Whether leaves of the index are read; without, records are found at no cost")
    warm_up: TimesOrNone = Field(20_000, description="Queries before those that are measured; they fill the buffer pool")
    queries: Times = 10_000
    pool: Pool = Field(128 << 20, description="Buffer pool")
    seed: Count = 1

    @model_validator(mode="after")
    def _applicable(self) -> "ClothoPoint":
        if self.payload > self.attributes:
            raise ValueError(f"payload {self.payload} is more than the {self.attributes} attributes; ask for fewer")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump()

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        files = self.payload if self.layout == "dsm" else 1
        return 2 * (self.warm_up + self.queries) * (files + self.index)

    def check(self, system: System) -> None:
        """Raise UserError if the volume has no room for relation and index, as `Checked` says."""
        self._program(system.layout())

    def run(self, system: System) -> dict[str, float | int]:
        """Run the queries; returns the mean time of one, in which the processor's part is too small to count.

        Raises UserError if relation and index do not fit onto the volume, or the layout not to it.
        """
        points = self._program(system.layout())
        period = run(system, [points.client(frames_in(self.pool), self.warm_up, self.queries, self.seed)])[clotho.MEASURED]
        elapsed, counts = seconds(period.elapsed_ps), period.pools[clotho.POOL]
        return {
            "seconds": elapsed,
            "io_seconds": elapsed,
            "query_ms": 1000 * elapsed / self.queries,
            "misses_per_query": counts.misses / self.queries,
            "dirty_evictions_per_query": counts.dirty_evictions / self.queries,
        } | io_columns(period.served)

    def _program(self, volume: Volume) -> clotho.Points:
        """Place relation and index. Raises UserError as `run` does."""
        stored = placed(self.layout, self.attributes, self.records, volume, self.reconstruction)
        index = placed_index(stored, self.records, volume)
        return clotho.Points(stored, index, self.records, self.payload, self.operation == "update", self.index)
