"""Kernel `layout-space`: pages that a table takes in a layout (MBSM, Figures 5(a) and 6(a))."""

from typing import Any, Literal

from pydantic import Field, model_validator

from analysis.storage_workloads.layouts import LaidOut
from analysis.storage_workloads.system import System
from simcore.validation import nearest


class LayoutSpace(LaidOut):
    """A table by itself; no time passes."""

    kernel: Literal["layout-space"]
    table: str = Field(description="Table of the data")

    @model_validator(mode="after")
    def _known(self) -> "LayoutSpace":
        if self.table not in self.data.tables():
            raise ValueError(f"{self.data.kind} has no table `{self.table}`; {nearest(self.table, self.data.tables())}")
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump(exclude=None if self.layout == "mbsm" else {"mbsm"})

    def run(self, system: System) -> dict[str, float | int]:  # noqa: ARG002 (every system holds the same pages)
        """Lay the table out; returns ``pages_stored``, ``megabytes_stored`` and ``bytes_per_record``."""
        laid = self._lay_out(self.data.tables()[self.table], 0)
        size = laid.pages * self.page_bytes
        return {"pages_stored": laid.pages, "megabytes_stored": size / 1e6, "bytes_per_record": size / laid.table.records}
