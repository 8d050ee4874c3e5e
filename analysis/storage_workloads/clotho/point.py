"""Kernel `clotho-point`: single records of R by a non-clustered index, asked for or updated (Clotho, sections 7.2.2 and 7.2.3)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Attributes, Pool, Records, Seed, Times, TimesOrNone
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.placed import frames_in, placed, placed_index
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.analysis.storage_workloads.traffic import TrafficOf, updating
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.volumes import Volume
from memwalk.traces.storage import Client
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, Layout
from memwalk.workloads.clotho.relation import end_of
from memwalk.workloads.programs import clotho


class ClothoPoint(OneProgram):
    """Random records one after another: a leaf of the index, then the record; the inner nodes of the index are in memory."""

    traffic: ClassVar[TrafficOf] = updating("operation", "update")

    kernel: Literal["clotho-point"]
    layout: Layout = Field(description="How records lie in pages and on storage")
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    operation: Literal["query", "update"] = Field("query", description="What is done to the records: they are read, or changed")
    attributes: Attributes = Field(15, description="Attributes of R")
    records: Records = 8_000_000
    payload: Attributes = Field(1, description="Attributes read or updated: the first so many")
    index: bool = Field(True, description="Whether leaves of the index are read; without, records are found at no cost")
    warm_up: TimesOrNone = Field(20_000, description="Queries before those that are measured; they fill the buffer pool")
    queries: Times = Field(10_000, description="Queries, or updates, that are measured")
    pool: Pool = Field(128 << 20, description="Buffer pool")
    seed: Seed = 1

    @model_validator(mode="after")
    def _applicable(self) -> "ClothoPoint":
        if self.payload > self.attributes:
            raise ValueError(f"payload {self.payload} is more than the {self.attributes} attributes; ask for fewer")
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        files = self.payload if self.layout == "dsm" else 1
        return 2 * (self.warm_up + self.queries) * (files + self.index)

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Place relation and index, as `OneProgram` says."""
        stored = placed(self.layout, self.attributes, self.records, volume, self.reconstruction, first_block=first_block)
        index = placed_index(stored, self.records, volume)
        points = clotho.Points(stored, index, self.records, self.payload, self.operation == "update", self.index)
        return Placed(end_of([*stored, index]), lambda _: lambda: Begun([self._client(points)], self._columns))

    def _client(self, points: clotho.Points) -> Client:
        return points.client(frames_in(self.pool), self.warm_up, self.queries, self.seed)

    def _columns(self, periods: Mapping[str, Period]) -> Columns:
        """Return the mean time of a query, in which the processor's part is too small to count."""
        period = periods[clotho.MEASURED]
        elapsed, counts = seconds(period.elapsed_ps), period.pools[clotho.POOL]
        return {
            "seconds": elapsed,
            "io_seconds": elapsed,
            "query_ms": 1000 * elapsed / self.queries,
            "misses_per_query": counts.misses / self.queries,
            "dirty_evictions_per_query": counts.dirty_evictions / self.queries,
        } | io_columns(period.served)
