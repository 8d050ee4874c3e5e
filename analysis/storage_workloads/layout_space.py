"""Kernel `layout-space`: pages that a table takes in a layout (MBSM, Figures 5(a) and 6(a))."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.layouts import LaidOut
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.system import System


class LayoutSpace(LaidOut):
    """A table by itself; no time passes."""

    traffic: ClassVar[TrafficOf] = always(reads=False, writes=False, asks_for_rows=False)

    kernel: Literal["layout-space"]
    table: str = Field(description="Table of the data")

    @model_validator(mode="after")
    def _known(self) -> "LayoutSpace":
        self.table_of(self.table)
        return self

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return self.placing()

    def check(self, system: System) -> None:  # noqa: ARG002 (every system holds the same pages)
        """Raise UserError for records that no page holds, as `Checked` says."""
        self.least_blocks(self.table)

    def run(self, system: System) -> dict[str, float | int]:  # noqa: ARG002 (every system holds the same pages)
        """Lay the table out; returns ``pages_stored``, ``megabytes_stored`` and ``bytes_per_record``."""
        laid = self.lay_out(self.table_of(self.table))
        size = laid.pages * self.page_bytes
        return {"pages_stored": laid.pages, "megabytes_stored": size / 1e6, "bytes_per_record": size / laid.table.records}
