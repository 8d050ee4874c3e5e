"""Kernel `clotho-insert`: R is filled by bulk insertion (Clotho, section 7.2.4)."""

from collections.abc import Iterator
from typing import Any, Literal

import simpy
from pydantic import Field

from analysis.storage_workloads.clotho.relation import File, Layout, files, page_bytes, relation, row_blocks
from analysis.storage_workloads.columns import seconds
from analysis.storage_workloads.meter import MeteredVolume
from analysis.storage_workloads.system import System
from simcore.storage.device import BLOCK_BYTES
from simcore.storage.pool import Span, Steps
from simcore.units import PositiveCount
from simcore.validation import StrictModel


class ClothoInsert(StrictModel):
    """Records come sorted by nothing, so pages fill one after another and are written in runs; the time is storage's alone."""

    kernel: Literal["clotho-insert"]
    layout: Layout
    attributes: PositiveCount = Field(15, description="Attributes of R")
    records: PositiveCount = 8_000_000
    runs_ahead: PositiveCount = Field(2, description="Runs of each file, a track of each disk, that are on their way at once")

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump()

    def run(self, system: System) -> dict[str, float | int]:
        """Write everything; returns the time it takes.

        Raises UserError if the relation does not fit onto the volume, or the layout not to it.
        """
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        stored = files(self.layout, relation(self.attributes, self.records), volume.volume)
        runs = self._runs(stored, row_blocks(volume.volume))

        def writer() -> Steps:
            for spans in runs:
                yield volume.submit_batch(spans, write=True)

        for _ in range(self.runs_ahead * len(stored)):
            env.process(writer())
        env.run()
        elapsed = seconds(int(env.now))
        return {"seconds": elapsed, "io_seconds": elapsed} | volume.times.columns()

    def _runs(self, stored: list[File], run_blocks: int) -> Iterator[list[Span]]:
        """Cut the files into runs, in the order in which they are full."""
        run_pages = run_blocks if self.layout == "csm" else max(1, run_blocks * BLOCK_BYTES // page_bytes())
        pages = -(-self.records // stored[0].records_per_page)
        for first in range(0, pages, run_pages):
            for file in stored:
                yield list(file.pages.spans(range(first, min(first + run_pages, pages)), file.pages.full_schema))
