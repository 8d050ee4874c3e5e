"""Kernel `clotho-scan`: select the first attributes of R where the second lies in a range (Clotho, section 7.2.1)."""

from collections import Counter
from random import Random
from typing import Any, Literal

import simpy
from pydantic import Field, model_validator

from analysis.storage_workloads.clotho import processor
from analysis.storage_workloads.clotho.relation import PREDICATE, File, Layout, files, page_bytes, relation, row_blocks
from analysis.storage_workloads.columns import seconds
from analysis.storage_workloads.meter import MeteredVolume
from analysis.storage_workloads.system import System
from simcore.storage.device import BLOCK_BYTES
from simcore.storage.pool import BufferPool, ReadAhead, Scan, Steps, Stream
from simcore.units import Bytes, Count, PositiveCount
from simcore.validation import StrictModel

_PS_PER_SECOND = 10**12


class ClothoScan(StrictModel):
    """A scan of R by one user, whose pages are read ahead while the processor works on those that are there."""

    kernel: Literal["clotho-scan"]
    layout: Layout
    operator: Literal["s-scan", "si-scan"] = Field(
        "s-scan", description="s-scan reads all attributes of the query; si-scan the second one, then the others of what qualifies"
    )
    attributes: PositiveCount = Field(15, ge=2, description="Attributes of R")
    records: PositiveCount = 8_000_000
    payload: PositiveCount = Field(1, description="Attributes selected: the first so many")
    selectivity: float = Field(0.1, ge=0, le=1, description="Share of the records that qualify")
    changes: bool = Field(False, description="Whether the selected attributes are updated where a record qualifies")
    pool: Bytes = Field(128 << 20, description="Buffer pool")
    run_blocks: PositiveCount | None = Field(None, description="Blocks of a file that are read at once; a track of each disk if absent")
    runs_ahead: PositiveCount = Field(2, description="Runs of each file that are read ahead")
    in_flight: PositiveCount = Field(16, description="si-scan: A-pages of qualifying records that are read ahead")
    seed: Count = 1

    @model_validator(mode="after")
    def _applicable(self) -> "ClothoScan":
        if self.payload > self.attributes:
            raise ValueError(f"payload {self.payload} is more than the {self.attributes} attributes; select fewer")
        if self.operator == "si-scan" and (self.layout != "csm" or self.changes):
            raise ValueError("an si-scan reads A-pages and changes nothing; write layout: csm, or operator: s-scan")
        if self.run_blocks is not None and self.layout == "csm":
            raise ValueError("run_blocks is for whole pages, A-pages are read in rows of the volume; remove it")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump(exclude_none=True)

    def run(self, system: System) -> dict[str, float | int]:
        """Scan; returns the time, what of it the processor did not work in, and what processor, pool and devices did.

        Raises UserError if the relation does not fit onto the volume, or the layout not to it.
        """
        env = simpy.Environment()
        volume = MeteredVolume(env, system)
        stored = files(self.layout, relation(self.attributes, self.records), volume.volume)
        run_blocks = self.run_blocks or row_blocks(volume.volume)
        pool = BufferPool(env, volume, self.pool // page_bytes(), write_run=max(1, run_blocks * BLOCK_BYTES // page_bytes()))
        steps, cpu = (self._s_scan if self.operator == "s-scan" else self._si_scan)(env, pool, stored, run_blocks, system.machine)
        env.process(steps)
        env.run()
        elapsed = seconds(int(env.now))
        counts = pool.statistics
        return (
            {
                "seconds": elapsed,
                "io_seconds": elapsed - cpu.get("cpu_seconds", 0.0),
                "pages_fixed": counts.fixes,
                "blocks_read": counts.blocks_read,
                "blocks_written": counts.blocks_written,
            }
            | cpu
            | volume.times.columns()
        )

    def _s_scan(
        self, env: simpy.Environment, pool: BufferPool, stored: list[File], run_blocks: int, machine: dict[str, Any] | None
    ) -> tuple[Steps, dict[str, float]]:
        cpu = processor.scan_columns(
            machine, self.layout, self.attributes, self.payload, self.selectivity, self.records, changes=self.changes
        )
        scan = self._scan(env, pool, stored, {*range(self.payload), PREDICATE}, run_blocks, cpu)

        def go() -> Steps:
            yield from scan.go(self.runs_ahead)
            yield from pool.flush()

        return go(), cpu

    def _si_scan(
        self, env: simpy.Environment, pool: BufferPool, stored: list[File], run_blocks: int, machine: dict[str, Any] | None
    ) -> tuple[Steps, dict[str, float]]:
        (file,) = stored
        filtering = processor.filter_columns(machine, self.selectivity, self.records)
        qualifying = Random(self.seed).sample(range(self.records), round(self.selectivity * self.records))
        fetching = processor.fetch_columns(machine, self.payload, len(qualifying))
        scan = self._scan(env, pool, stored, {PREDICATE}, run_blocks, filtering)
        record_ps = round(fetching.get("cpu_seconds", 0.0) * _PS_PER_SECOND / max(1, len(qualifying)))
        pages = Counter(record // file.records_per_page for record in qualifying)

        def go() -> Steps:
            yield from scan.go(self.runs_ahead)
            query = pool.begin(file.pages, file.schema(range(self.payload)))
            wanted = sorted(pages)
            ahead = ReadAhead(env, pool, [(query, range(page, page + 1)) for page in wanted], ahead=self.in_flight, workers=self.in_flight)
            for number, page in enumerate(wanted):
                ahead.reach(number)
                copy = yield from pool.fix(query, page)
                yield env.timeout(record_ps * pages[page])
                pool.unfix(copy)
            pool.end(query)

        return go(), {name: value + fetching[name] for name, value in filtering.items()}

    def _scan(
        self, env: simpy.Environment, pool: BufferPool, stored: list[File], needed: set[int], run_blocks: int, cpu: dict[str, float]
    ) -> Scan:
        changed = range(self.payload) if self.changes else ()
        page_blocks = page_bytes() // BLOCK_BYTES
        streams = []
        for file in stored:
            if schema := file.schema(needed):
                run_pages = run_blocks if self.layout == "csm" else max(1, run_blocks // page_blocks)
                streams.append(Stream(file.pages, schema, file.records_per_page, run_pages, file.schema(changed)))
        return Scan(env, pool, streams, self.records, round(cpu.get("cpu_seconds", 0.0) * _PS_PER_SECOND))
