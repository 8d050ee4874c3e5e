"""Kernel `clotho-point`: single records of R by a non-clustered index, asked for or updated (Clotho, sections 7.2.2 and 7.2.3)."""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal

import simpy
from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.clotho.relation import File, Layout, files, relation
from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Attributes, Records, Times, TimesOrNone
from memwalk.analysis.storage_workloads.pool import Pool, frames_in
from memwalk.analysis.storage_workloads.reconstruction import DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.pool import BufferPool, PoolStatistics, Query, Steps
from memwalk.simcore.storage.system import System
from memwalk.simcore.units import Count
from memwalk.simcore.validation import StrictModel
from memwalk.traces.storage import WHOLE
from memwalk.workloads.tables import WholePages
from memwalk.workloads.tables.page import PAGE_8K

ENTRY_BYTES = 16
"""An index entry: a value and where its record is. The index is bulk-loaded, its leaves are full (modelling choice)."""


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
        volume = system.layout()
        _index(files(self.layout, relation(self.attributes, self.records), volume, self.reconstruction), self.records, volume.blocks)

    def run(self, system: System) -> dict[str, float | int]:
        """Run the queries; returns the mean time of one, in which the processor's part is too small to count.

        Raises UserError if relation and index do not fit onto the volume, or the layout not to it.
        """
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        stored = files(self.layout, relation(self.attributes, self.records), volume.volume, self.reconstruction)
        index = _index(stored, self.records, volume.volume.blocks)
        pool = BufferPool(env, volume, frames_in(self.pool))
        draw = Random(self.seed)
        env.run(env.process(self._queries(pool, stored, index, draw, self.warm_up)))
        begin = int(env.now)
        volume.restart()
        counts = pool.statistics = PoolStatistics()
        env.run(env.process(self._queries(pool, stored, index, draw, self.queries)))
        elapsed = seconds(int(env.now) - begin)
        return {
            "seconds": elapsed,
            "io_seconds": elapsed,
            "query_ms": 1000 * elapsed / self.queries,
            "misses_per_query": counts.misses / self.queries,
            "dirty_evictions_per_query": counts.dirty_evictions / self.queries,
        } | io_columns(volume.times)

    def _queries(self, pool: BufferPool, stored: Sequence[File], index: File, draw: Random, count: int) -> Steps:
        lookups = pool.begin(index.pages, WHOLE)
        asked: list[tuple[File, Query]] = []
        for file in stored:
            if schema := file.schema(range(self.payload)):
                asked.append((file, pool.begin(file.pages, schema, changes=schema if self.operation == "update" else 0)))
        for _ in range(count):
            value, record = draw.randrange(self.records), draw.randrange(self.records)
            if self.index:
                leaf = yield from pool.fix(lookups, value // index.records_per_page)
                pool.unfix(leaf)
            for file, query in asked:
                page = yield from pool.fix(query, record // file.records_per_page)
                pool.unfix(page)
        for query in (lookups, *(query for _, query in asked)):
            pool.end(query)


def _index(stored: Sequence[File], records: int, volume_blocks: int) -> File:
    """Place the leaves of the index behind the relation."""
    format_ = PAGE_8K
    entries = format_.capacity(ENTRY_BYTES)
    first_block = -(-sum(file.blocks for file in stored) // format_.blocks) * format_.blocks
    blocks = format_.pages(records, entries) * format_.blocks
    if first_block + blocks > volume_blocks:
        taken = f"the relation and its index take {first_block + blocks} blocks"
        raise UserError(f"{taken}, and the volume has {volume_blocks}; have fewer records")
    return File(WholePages(format_.blocks, first_block), (), entries, first_block, blocks)
