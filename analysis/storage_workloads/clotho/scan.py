"""Kernel `clotho-scan`: select the first attributes of R where the second lies in a range (Clotho, section 7.2.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import cpu_columns_of, io_columns, seconds
from memwalk.analysis.storage_workloads.limits import AtOnce, Attributes, CommandBlocks, Pool, Records, RunsAhead, Seed
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.placed import check_read_ahead, frames_in, placed
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.analysis.storage_workloads.samples import simulate_samples
from memwalk.analysis.storage_workloads.scattering import Scattering
from memwalk.analysis.storage_workloads.traffic import TrafficOf, updating
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.sampled import Sampled
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.units import PS_PER_SECOND, Real
from memwalk.simcore.validation import mistake_at
from memwalk.traces.storage import Client, Stream
from memwalk.workloads.clotho import sample
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, DEFAULT_SCATTERING, Layout
from memwalk.workloads.clotho.relation import PAGE_BLOCKS, end_of, scanned_pages
from memwalk.workloads.programs import clotho


class ClothoScan(OneProgram):
    """A scan of R by one user, whose pages are read ahead while the processor works on those that are there."""

    processes: ClassVar[bool] = True
    traffic: ClassVar[TrafficOf] = updating("changes", True)

    kernel: Literal["clotho-scan"]
    layout: Layout = Field(description="How records lie in pages and on storage")
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    scattering: Scattering = DEFAULT_SCATTERING
    operator: Literal["s-scan", "si-scan"] = Field(
        "s-scan", description="s-scan reads all attributes of the query; si-scan the second one, then the others of what qualifies"
    )
    attributes: Attributes = Field(15, ge=2, description="Attributes of R")
    records: Records = 8_000_000
    payload: Attributes = Field(1, description="Attributes selected: the first so many")
    selectivity: Real = Field(
        0.1, ge=0, le=1, description="Share of the records that qualify; of an s-scan that changes nothing it is for the processor only"
    )
    changes: bool = Field(
        False, description="Whether the selected attributes are updated where a record qualifies; pages without one are not written"
    )
    pool: Pool = Field(128 << 20, description="Buffer pool")
    run_blocks: CommandBlocks | None = Field(
        None, description=f"Blocks of a file that are read at once, a multiple of {PAGE_BLOCKS}; a track of each disk if absent"
    )
    runs_ahead: RunsAhead = Field(2, description="Runs of each file that are read ahead")
    in_flight: AtOnce = Field(16, description="si-scan: A-pages of qualifying records that are read ahead")
    seed: Seed = 1

    @model_validator(mode="after")
    def _applicable(self) -> "ClothoScan":
        if self.payload > self.attributes:
            raise ValueError(f"payload {self.payload} is more than the {self.attributes} attributes; select fewer")
        if self.operator == "si-scan" and (self.layout != "csm" or self.changes):
            raise ValueError("an si-scan reads A-pages and changes nothing; write layout: csm, or operator: s-scan")
        if self.run_blocks is not None and self.layout == "csm":
            raise ValueError("run_blocks is for whole pages, A-pages are read in rows of the volume; remove it")
        if self.run_blocks is not None and self.run_blocks % PAGE_BLOCKS:
            pages = f"{self.run_blocks} blocks are no whole number of pages of {PAGE_BLOCKS}"
            raise mistake_at(("run_blocks",), f"{pages}; write a multiple of {PAGE_BLOCKS}")
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        columns = self.payload + 1 if self.layout in ("dsm", "csm") else self.attributes
        one_by_one = round(self.selectivity * self.records) if self.operator == "si-scan" else 0
        return sample.WORK + scanned_pages(columns, self.records) * (3 if self.changes else 1) + one_by_one

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Place the relation, as `OneProgram` says. Raises UserError, too, if what is read ahead does not fit into the pool."""
        scanning = self._scanning(volume, first_block)

        def prepare(system: System) -> Callable[[], Begun]:
            work = _Work(*(simulate_samples(system.machine, part) for part in self._samples(scanning)))
            return lambda: Begun([self._client(scanning, work)], lambda periods: self._columns(periods, work))

        return Placed(end_of(scanning.stored), prepare)

    def _columns(self, periods: Mapping[str, Period], work: "_Work") -> Columns:
        """Return the time, what of it the processor did not work in, and what processor, pool and devices did."""
        (period,) = periods.values()
        elapsed, counts, cpu = seconds(period.elapsed_ps), period.pools[clotho.POOL], work.columns
        return (
            {
                "seconds": elapsed,
                "io_seconds": elapsed - cpu.get("cpu_seconds", 0.0),
                "records": self.records,
                "records_selected": self._selected,
                "pages_fixed": counts.fixes,
                "blocks_read": counts.blocks_read,
                "blocks_written": counts.blocks_written,
            }
            | cpu
            | io_columns(period.served)
        )

    @property
    def _selected(self) -> int:
        return round(self.selectivity * self.records)

    @cached_property
    def _qualifying(self) -> Sequence[int]:
        """Records that qualify."""
        every = range(self.records)
        return every if self._selected == self.records else Random(self.seed).sample(every, self._selected)

    def _scanning(self, volume: Volume, first_block: int) -> clotho.Scanning:
        stored = placed(self.layout, self.attributes, self.records, volume, self.reconstruction, first_block=first_block)
        run_blocks = self.run_blocks or volume.row_blocks
        run_pages = run_blocks if self.layout == "csm" else max(1, run_blocks // PAGE_BLOCKS)
        scanning = clotho.Scanning(
            stored, self.records, self.payload, run_pages, self.runs_ahead, self._qualifying if self.changes else None
        )
        check_read_ahead(self._streams(scanning), self.records, self.runs_ahead, self.pool)
        return scanning

    def _streams(self, scanning: clotho.Scanning) -> list[Stream]:
        return scanning.selecting if self.operator == "s-scan" else scanning.filtering

    def _samples(self, scanning: clotho.Scanning) -> tuple[list[sample.Sample], list[sample.Sample]]:
        """Say what the processor does while pages are scanned, and with records that are then had one by one."""
        copying = sample.copying(self._streams(scanning)) if self.scattering == "copied" else []
        if self.operator == "s-scan":
            wanted = sample.Selection(self.attributes, self.payload, self.selectivity, self.records)
            return [sample.scanning(self.layout, wanted, changes=self.changes, reconstruction=self.reconstruction), *copying], []
        return [sample.filtering(self.selectivity, self.records), *copying], [sample.fetching(self.payload, self._selected)]

    def _client(self, scanning: clotho.Scanning, work: "_Work") -> Client:
        frames, scan_ps = frames_in(self.pool), sum(one.ps for one in work.scanning)
        if self.operator == "s-scan":
            return scanning.s_scan(frames, scan_ps)
        qualifying = self._qualifying
        record_ps = round(sum(one.seconds for one in work.fetching) * PS_PER_SECOND / max(1, len(qualifying)))
        return scanning.si_scan(frames, scan_ps, record_ps, qualifying, self.in_flight)


@dataclass(frozen=True)
class _Work:
    """What the processor does; nothing without a machine."""

    scanning: Sequence[Sampled]
    fetching: Sequence[Sampled]

    @property
    def columns(self) -> dict[str, float]:
        """All of it together."""
        return cpu_columns_of([*self.scanning, *self.fetching])
