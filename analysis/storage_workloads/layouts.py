"""How a storage workload's tables are laid out, one behind the other."""

from collections.abc import Sequence
from functools import cache
from typing import Literal, TypeAlias

from pydantic import Field, model_validator

from analysis.storage_workloads.commands import whole_blocks
from analysis.storage_workloads.relations import Relations
from simcore.units import Bytes, Count, PositiveCount
from simcore.validation import StrictModel
from workloads.mbsm import Mbsm, Query, SuperBlock, construct
from workloads.mbsm.construct import AFFINITY_THRESHOLD
from workloads.tables import Dsm, Layout, Nsm, PageFormat, Pax, Table

LayoutName: TypeAlias = Literal["nsm", "dsm", "pax", "mbsm"]

_LAYOUTS: dict[str, type[Nsm | Dsm | Pax]] = {"nsm": Nsm, "dsm": Dsm, "pax": Pax}


class MegaBlocks(StrictModel):
    """What MBSM is free to choose (section 4.2)."""

    run_pages: PositiveCount = Field(30, description="Pages in a run, r")
    most_pages: PositiveCount = Field(17, description="The most pages of a super-block, p, that are tried")
    mega_block_bytes: Bytes = Field(4 << 20, description="The most that p runs of r pages may take")
    affinity_threshold: float = Field(AFFINITY_THRESHOLD, description="Columns that more queries read together are placed together")

    def most(self, page_bytes: int) -> int:
        """Return the most pages that a super-block may have."""
        return min(self.most_pages, self.mega_block_bytes // (self.run_pages * page_bytes))


class LaidOut(StrictModel):
    """Tables in a layout on storage: what kernels that read or change them have in common."""

    layout: LayoutName
    data: Relations
    page_bytes: Bytes = 8192
    mbsm: MegaBlocks = Field(default_factory=MegaBlocks, description="For layout mbsm")

    @model_validator(mode="after")
    def _applicable(self) -> "LaidOut":
        whole_blocks(self.page_bytes, "page_bytes")
        if self.layout != "mbsm" and "mbsm" in self.model_fields_set:
            raise ValueError(f"mbsm is for layout mbsm, and layout is {self.layout}; remove it")
        if self.mbsm.most(self.page_bytes) < 1:
            raise ValueError(f"a run of {self.mbsm.run_pages} pages is more than a mega-block; make run_pages smaller")
        return self

    @property
    def page(self) -> PageFormat:
        """The pages."""
        return PageFormat(self.page_bytes, whole_blocks(self.page_bytes, "page_bytes"))

    def lay_out(self, first_block: Count = 0) -> dict[str, Layout]:
        """Lay the tables out from ``first_block`` on, the smallest first; returns them by name."""
        laid: dict[str, Layout] = {}
        for name, table in self.data.tables().items():
            laid[name] = self._lay_out(table, first_block)
            first_block += laid[name].blocks
        return laid

    def _lay_out(self, table: Table, first_block: int) -> Layout:
        pax = Pax(table, first_block, self.page)
        if self.layout != "mbsm":
            return _LAYOUTS[self.layout](table, first_block, self.page)
        if pax.pages == 1:
            return pax  # too small to be divided (MBSM, section 6.2), and pages of super-blocks are like those of PAX
        block = _super_block(table, tuple(self.data.queries().values()), self.mbsm.most(self.page_bytes), self.mbsm.affinity_threshold)
        return Mbsm(table, block, self.mbsm.run_pages, first_block, self.page)


@cache
def _super_block(table: Table, queries: Sequence[Query], most_pages: int, threshold: float) -> SuperBlock:
    return construct(table, queries, most_pages, threshold)
