"""Kernel `requests`: a stream of requests, a given number of them always in flight."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import AtOnce, CommandBlocks, Seed, Times
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.analysis.storage_workloads.traffic import Traffic, TrafficOf
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.volumes import Volume
from memwalk.simcore.units import Count, PositiveCount, Real
from memwalk.traces.storage import Client
from memwalk.workloads.programs import transfers


def _traffic(workload: Mapping[str, Any]) -> Traffic:
    return Traffic(workload["write_share"] < 1, workload["write_share"] > 0, asks_for_rows="span_blocks" not in workload)


class Requests(OneProgram):
    """Random or sequential requests; the next one is made when one of those in flight is done."""

    has_data: ClassVar[bool] = False
    traffic: ClassVar[TrafficOf] = _traffic

    kernel: Literal["requests"]
    pattern: Literal["random", "sequential"] = Field("random", description="Where the next request is")
    count: Times = Field(description="Requests")
    blocks: CommandBlocks = Field(16, description="Blocks of 512 bytes per request; random requests start at multiples of it")
    write_share: Real = Field(0.0, ge=0, le=1, description="Share of the requests that write")
    in_flight: AtOnce = Field(1, description="Requests waiting or served at any time")
    first_block: Count = Field(0, description="Where the part of the volume begins that is used")
    span_blocks: PositiveCount | None = Field(None, description="How long that part is; to the end of the volume if absent")
    seed: Seed = 1

    @model_validator(mode="after")
    def _fits(self) -> "Requests":
        if self.span_blocks is not None and self.span_blocks < self.blocks:
            raise ValueError(f"span_blocks {self.span_blocks} has no room for a request of {self.blocks} blocks; make it longer")
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return self.count

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Find the requests' places, which they say themselves, as `OneProgram` says."""
        places = self._places(volume.blocks)
        return Placed(first_block, lambda _: lambda: Begun(self._clients(places), self._columns))

    def _columns(self, periods: Mapping[str, Period]) -> Columns:
        """Return throughput, the mean response time and where the requests' time went."""
        (period,) = periods.values()
        elapsed = seconds(period.elapsed_ps)
        return {
            "seconds": elapsed,
            "requests_per_second": self.count / elapsed,
            "MB_per_second": self.count * self.blocks * BLOCK_BYTES / 1e6 / elapsed,
            "mean_response_ms": 1000 * seconds(period.asked.response_ps) / self.count,
        } | io_columns(period.asked)

    def _clients(self, places: int) -> list[Client]:
        stream = transfers.anywhere(
            self.count,
            self.blocks,
            places,
            first_block=self.first_block,
            random=self.pattern == "random",
            write_share=self.write_share,
            seed=self.seed,
        )
        return transfers.clients(stream, self.in_flight)

    def _places(self, volume_blocks: int) -> int:
        """Return how many requests have room beside each other. Raises UserError if not one has."""
        if self.first_block >= volume_blocks:
            raise MisfitError(
                "first_block", f"requests begin at block {self.first_block}, and the volume has {volume_blocks}; begin before"
            )
        span = volume_blocks - self.first_block if self.span_blocks is None else self.span_blocks
        places = span // self.blocks
        if places < 1 or self.first_block + span > volume_blocks:
            raise MisfitError(
                "first_block" if self.span_blocks is None else "span_blocks",
                f"requests: {span} blocks from {self.first_block} on are too few for a request of {self.blocks}, or not all "
                f"on the volume, which has {volume_blocks}; change first_block or span_blocks",
            )
        return places
