"""Kernel `clotho-insert`: R is filled by bulk insertion (Clotho, section 7.2.4)."""

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any, Literal

import simpy
from pydantic import Field

from memwalk.analysis.storage_workloads.clotho.relation import File, Layout, files, relation, scanned_pages
from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import Attributes, Records, RunsAhead
from memwalk.analysis.storage_workloads.pool import Pool
from memwalk.analysis.storage_workloads.reconstruction import DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.pool import Steps
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import StrictModel
from memwalk.traces.storage import Span
from memwalk.workloads.clotho import Csm


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
        files(self.layout, relation(self.attributes, self.records), system.layout(), self.reconstruction)

    def run(self, system: System) -> dict[str, float | int]:
        """Write everything; returns the time it takes.

        Raises UserError if the relation does not fit onto the volume, or the layout not to it.
        """
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        stored = files(self.layout, relation(self.attributes, self.records), volume.volume, self.reconstruction)
        row = volume.volume.row_blocks
        run_blocks = max(1, self.pool // (self.runs_ahead * len(stored) * row * BLOCK_BYTES)) * row
        in_step = zip_longest(*(_runs(file, run_blocks) for file in stored))
        runs = iter([run for runs in in_step for run in runs if run is not None])

        def writer() -> Steps:
            for spans in runs:
                yield volume.submit_batch(spans, write=True)

        for _ in range(self.runs_ahead * len(stored)):
            env.process(writer())
        env.run()
        elapsed = seconds(int(env.now))
        return {"seconds": elapsed, "io_seconds": elapsed} | io_columns(volume.times)


def _runs(file: File, run_blocks: int) -> list[Sequence[Span]]:
    """Cut a file at multiples of ``run_blocks``; a page that lies across is written in two parts. A-pages are cut into bands."""
    if isinstance(file.pages, Csm):
        bands = range(0, file.pages.pages, file.pages.band_pages)
        return [
            file.pages.spans(range(first, min(first + file.pages.band_pages, file.pages.pages)), file.pages.full_schema) for first in bands
        ]
    begin, end = file.first_block, file.first_block + file.blocks
    cuts = [begin, *range((begin // run_blocks + 1) * run_blocks, end, run_blocks), end]
    return [[(first, last - first)] for first, last in pairwise(cuts)]
