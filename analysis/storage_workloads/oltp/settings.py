"""What TPC-C by many users depends on, besides the storage it runs on."""

from typing import Any

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.limits import LONGEST_PS, AtOnce, Pool, Seed, TimesOrNone
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction
from memwalk.simcore.units import PS_PER_SECOND, Picoseconds, PositiveCount
from memwalk.simcore.validation import StrictModel
from memwalk.workloads.clotho.layouts import DEFAULT_RECONSTRUCTION, Layout

_MOST_WAREHOUSES = 100_000
"""Ten terabytes."""
_PAGES_OF_A_TRANSACTION = 30
"""Pages that a transaction fixes, on average and about."""


class TpccSettings(StrictModel):
    """Users without think time on a database of which the buffer pool holds a part; all of them share one processor."""

    layout: Layout = Field(description="How records lie in pages and on storage")
    reconstruction: Reconstruction = DEFAULT_RECONSTRUCTION
    warehouses: PositiveCount = Field(10, le=_MOST_WAREHOUSES, description="Warehouses of TPC-C")
    users: AtOnce = Field(100, description="Users, each with one transaction at a time")
    pool: Pool = Field(128 << 20, description="Buffer pool")
    page_access: Picoseconds = Field(gt=0, description="What the processor takes to fix a page and to do a statement's work on it")
    share_schemas: bool = Field(
        True, description="csm: whether pages have the columns of all queries that overlap, and all columns for who writes, as published"
    )
    fill_transactions: TimesOrNone = Field(
        5000, description="Transactions, at most, that fill the pool before the clock starts; they end when it has replaced every frame"
    )
    warm_up: Picoseconds = Field(60 * PS_PER_SECOND, le=LONGEST_PS, description="Time before the measurement")
    measured: Picoseconds = Field(120 * PS_PER_SECOND, gt=0, le=LONGEST_PS, description="Time of the measurement")
    seed: Seed = 1

    @model_validator(mode="after")
    def _applicable(self) -> "TpccSettings":
        if self.layout != "csm" and not self.share_schemas:
            raise ValueError(f"share_schemas is for layout csm, and layout is {self.layout}, whose pages come whole; remove it")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload's values, as `OneProgram` does."""
        return self.model_dump(exclude_none=True)

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return self.fill_transactions * _PAGES_OF_A_TRANSACTION + (self.warm_up + self.measured) // self.page_access
