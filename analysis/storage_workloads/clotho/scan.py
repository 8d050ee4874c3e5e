"""Kernel `clotho-scan`: select the first attributes of R where the second lies in a range (Clotho, section 7.2.1)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import simpy
from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.clotho import processor
from memwalk.analysis.storage_workloads.clotho.relation import PAGE_BLOCKS, PREDICATE, File, Layout, files, relation, scanned_pages
from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import AtOnce, Attributes, CommandBlocks, Records, RunsAhead
from memwalk.analysis.storage_workloads.pool import Pool, check_read_ahead, frames_in
from memwalk.analysis.storage_workloads.reconstruction import DEFAULT_RECONSTRUCTION, Reconstruction
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.pool import BufferPool, ReadAhead, Scan, Steps
from memwalk.simcore.storage.system import System
from memwalk.simcore.units import PS_PER_SECOND, Count, Real
from memwalk.simcore.validation import StrictModel
from memwalk.traces.storage import Stream


class ClothoScan(StrictModel):
    """A scan of R by one user, whose pages are read ahead while the processor works on those that are there."""

    kernel: Literal["clotho-scan"]
    layout: Layout
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    operator: Literal["s-scan", "si-scan"] = Field(
        "s-scan", description="s-scan reads all attributes of the query; si-scan the second one, then the others of what qualifies"
    )
    attributes: Attributes = Field(15, ge=2, description="Attributes of R")
    records: Records = 8_000_000
    payload: Attributes = Field(1, description="Attributes selected: the first so many")
    selectivity: Real = Field(0.1, ge=0, le=1, description="Share of the records that qualify")
    changes: bool = Field(False, description="Whether the selected attributes are updated where a record qualifies")
    pool: Pool = Field(128 << 20, description="Buffer pool")
    run_blocks: CommandBlocks | None = Field(None, description="Blocks of a file that are read at once; a track of each disk if absent")
    runs_ahead: RunsAhead = Field(2, description="Runs of each file that are read ahead")
    in_flight: AtOnce = Field(16, description="si-scan: A-pages of qualifying records that are read ahead")
    seed: Count = 1

    @model_validator(mode="after")
    def _applicable(self) -> "ClothoScan":
        if self.payload > self.attributes:
            raise ValueError(f"payload {self.payload} is more than the {self.attributes} attributes; select fewer")
        if self.operator == "si-scan" and (self.layout != "csm" or self.changes):
            raise ValueError("an si-scan reads A-pages and changes nothing; write layout: csm, or operator: s-scan")
        if self.changes and self.layout == "dsm" and self.reconstruction == "index":
            raise ValueError("updates of dsm are of values that are stored alone; write reconstruction: merge or position")
        if self.run_blocks is not None and self.layout == "csm":
            raise ValueError("run_blocks is for whole pages, A-pages are read in rows of the volume; remove it")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump(exclude_none=True)

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        columns = self.payload + 1 if self.layout in ("dsm", "csm") else self.attributes
        one_by_one = round(self.selectivity * self.records) if self.operator == "si-scan" else 0
        return processor.WORK + scanned_pages(columns, self.records) * (3 if self.changes else 1) + one_by_one

    def check(self, system: System) -> None:
        """Raise UserError if the volume has no room for the relation, as `Checked` says."""
        files(self.layout, relation(self.attributes, self.records), system.layout(), self.reconstruction)

    def run(self, system: System) -> dict[str, float | int]:
        """Scan; returns the time, what of it the processor did not work in, and what processor, pool and devices did.

        Raises UserError if the relation does not fit onto the volume, what is read ahead not into the pool, or the layout not to these.
        """
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        stored = files(self.layout, relation(self.attributes, self.records), volume.volume, self.reconstruction)
        run_blocks = self.run_blocks or volume.volume.row_blocks
        run_pages = run_blocks if self.layout == "csm" else max(1, run_blocks // PAGE_BLOCKS)
        pool = BufferPool(env, volume, frames_in(self.pool), write_run=run_pages)
        setting = _Setting(env, pool, stored, run_pages, system.machine)
        steps, cpu = (self._s_scan if self.operator == "s-scan" else self._si_scan)(setting)
        env.process(steps)
        env.run()
        elapsed = seconds(int(env.now))
        counts = pool.statistics
        return (
            {
                "seconds": elapsed,
                "io_seconds": elapsed - cpu.get("cpu_seconds", 0.0),
                "records": self.records,
                "records_selected": round(self.selectivity * self.records),
                "pages_fixed": counts.fixes,
                "blocks_read": counts.blocks_read,
                "blocks_written": counts.blocks_written,
            }
            | cpu
            | io_columns(volume.times)
        )

    def _s_scan(self, on: "_Setting") -> tuple[Steps, dict[str, float]]:
        wanted = processor.Selection(self.attributes, self.payload, self.selectivity, self.records)
        cpu = processor.scan_columns(on.machine, self.layout, wanted, changes=self.changes, reconstruction=self.reconstruction)
        scan = self._scan(on, {*range(self.payload), PREDICATE}, cpu)

        def go() -> Steps:
            yield from scan.go(self.runs_ahead)
            yield from on.pool.flush()

        return go(), cpu

    def _si_scan(self, on: "_Setting") -> tuple[Steps, dict[str, float]]:
        (file,) = on.stored
        qualifying = Random(self.seed).sample(range(self.records), round(self.selectivity * self.records))
        pages = Counter(record // file.records_per_page for record in qualifying)
        filtering = processor.filter_columns(on.machine, self.selectivity, self.records)
        fetching = processor.fetch_columns(on.machine, self.payload, len(qualifying))
        scan = self._scan(on, {PREDICATE}, filtering)
        record_ps = round(fetching.get("cpu_seconds", 0.0) * PS_PER_SECOND / max(1, len(qualifying)))

        def go() -> Steps:
            yield from scan.go(self.runs_ahead)
            query = on.pool.begin(file.pages, file.schema(range(self.payload)))
            wanted = sorted(pages)
            runs = [(query, range(page, page + 1)) for page in wanted]
            ahead = ReadAhead(on.env, on.pool, runs, ahead=self.in_flight, workers=self.in_flight)
            for number, page in enumerate(wanted):
                ahead.reach(number)
                copy = yield from on.pool.fix(query, page)
                yield on.env.timeout(record_ps * pages[page])
                on.pool.unfix(copy)
            on.pool.end(query)

        return go(), {name: value + fetching[name] for name, value in filtering.items()}

    def _scan(self, on: "_Setting", needed: Collection[int], cpu: Mapping[str, float]) -> Scan:
        changed = range(self.payload) if self.changes else ()
        streams = [
            Stream(file.pages, schema, file.records_per_page, on.run_pages, file.schema(changed))
            for file in on.stored
            if (schema := file.schema(needed))
        ]
        check_read_ahead(streams, self.records, self.runs_ahead, self.pool)
        return Scan(on.env, on.pool, streams, self.records, round(cpu.get("cpu_seconds", 0.0) * PS_PER_SECOND))


@dataclass(frozen=True)
class _Setting:
    """Where a scan runs."""

    env: simpy.Environment
    pool: BufferPool
    stored: Sequence[File]
    run_pages: int
    """Pages of a file that are read, and written back, together."""
    machine: Mapping[str, Any] | None
