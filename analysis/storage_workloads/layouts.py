"""How a storage workload's tables are laid out, one behind the other."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from memwalk.analysis.storage_workloads.limits import CommandBlocks, CommandBytes
from memwalk.analysis.storage_workloads.relations import Relations
from memwalk.analysis.storage_workloads.room import MisfitError, check_room, whole_blocks
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.system import System
from memwalk.simcore.units import Bytes, PositiveCount, Real
from memwalk.simcore.validation import StrictModel, nearest
from memwalk.workloads.mbsm import Mbsm, Query, SuperBlock, construct
from memwalk.workloads.mbsm.construct import AFFINITY_THRESHOLD, MOST_PAGES
from memwalk.workloads.tables import Dsm, Layout, Nsm, PageFormat, Pax, Table
from memwalk.workloads.tables.page import PAGE_8K

_MOST_MEGA_BLOCK_BYTES = 1 << 40
_MOST_PAGES_TRIED = 32
"""Placing the columns of lineitem on every number of pages up to this takes a quarter of a minute, up to twice as many, more than one."""

PagesOfSuperBlock: TypeAlias = Annotated[PositiveCount, Field(le=_MOST_PAGES_TRIED)]
"""Pages of a super-block, p."""

LayoutName: TypeAlias = Literal["nsm", "dsm", "pax", "mbsm"]

_LAYOUTS: dict[str, type[Nsm | Dsm | Pax]] = {"nsm": Nsm, "dsm": Dsm, "pax": Pax}


class MegaBlocks(StrictModel):
    """What MBSM is free to choose (section 4.2)."""

    run_pages: CommandBlocks = Field(30, description="Pages in a run, r")
    most_pages: PagesOfSuperBlock = Field(MOST_PAGES, description="The most pages of a super-block, p, that are tried")
    mega_block_bytes: Bytes = Field(4 << 20, le=_MOST_MEGA_BLOCK_BYTES, description="The most that p runs of r pages may take")
    affinity_threshold: Real = Field(AFFINITY_THRESHOLD, description="Columns that more queries read together are placed together")

    def check_room(self, page_bytes: int) -> None:
        """Raise ValueError if a mega-block has no room for a run."""
        if self.room(page_bytes) < 1:
            raise ValueError(f"a run of {self.run_pages} pages does not fit into a mega-block; make run_pages smaller")

    def room(self, page_bytes: int) -> int:
        """Return how many runs fit into a mega-block."""
        return self.mega_block_bytes // (self.run_pages * page_bytes)

    def placing(self, columns: int) -> int:
        """Estimate the work of building the best super-block of so many columns, in requests to storage that take as long."""
        return columns * self.most_pages**3 // 4

    def super_block(self, table: Table, queries: dict[str, Query], page_bytes: int) -> SuperBlock:
        """Build the best super-block for a table, of no more pages than a mega-block has room for runs."""
        most = min(self.most_pages, self.room(page_bytes))
        return _construct(table, tuple(queries.values()), most, self.affinity_threshold)


class LaidOut(StrictModel):
    """Tables in a layout on storage: what kernels that read or change them have in common."""

    processes: ClassVar[bool] = False
    traffic: ClassVar[TrafficOf] = always(writes=False, asks_for_rows=False)

    layout: LayoutName = Field(description="How records lie in pages and on storage")
    data: Relations = Field(description="Tables, and the queries that read them")
    page_bytes: CommandBytes = Field(PAGE_8K.bytes, description="Size of a page")
    mbsm: MegaBlocks = Field(MegaBlocks.model_validate({}), description="For layout mbsm")

    @model_validator(mode="after")
    def _applicable(self) -> "LaidOut":
        whole_blocks(self.page_bytes, "page_bytes")
        if self.layout != "mbsm" and "mbsm" in self.model_fields_set:
            raise ValueError(f"mbsm is for layout mbsm, and layout is {self.layout}; remove it")
        self.mbsm.check_room(self.page_bytes)
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults, without what is for other layouts."""
        return self.model_dump(exclude_none=True, exclude=None if self.layout == "mbsm" else {"mbsm"})

    def placing(self) -> int:
        """Estimate the work of laying the data out, in requests to storage that take as long."""
        most = max(len(table.columns) for table in self.data.tables().values())
        return self.mbsm.placing(most) if self.layout == "mbsm" else 0

    @property
    def page(self) -> PageFormat:
        """The pages."""
        return PageFormat(self.page_bytes, whole_blocks(self.page_bytes, "page_bytes"))

    def table_of(self, name: str) -> Table:
        """Find a table of the data. Raises ValueError with the nearest name."""
        tables = self.data.tables()
        if name not in tables:
            raise ValueError(f"{self.data.kind} has no table `{name}`; {nearest(name, tables)}")
        return tables[name]

    def lay_out(self, table: Table, first_block: int = 0) -> Layout:
        """Lay a table out from ``first_block`` on. Raises UserError if a record does not fit."""
        try:
            laid = self._laid(table, first_block)
            laid.pages  # noqa: B018 (refuses a record that does not fit)
        except ValueError as error:
            raise UserError(f"table {table.name} in layout {self.layout}: {error}") from None
        return laid

    def least_blocks(self, name: str) -> int:
        """Return the blocks of a table by itself, in pages of PAX for layout mbsm. Raises UserError if a record does not fit."""
        laid = _LAYOUTS.get(self.layout, Pax)(self.data.tables()[name], 0, self.page)
        try:
            return laid.blocks
        except ValueError as error:
            raise MisfitError("page_bytes", f"table {name} in layout {self.layout}: {error}") from None

    def check_fits(self, system: System, *names: str, blocks_before: int = 0, parameter: str = "data") -> None:
        """Raise UserError if a record of the tables does not fit a page, or the volume has no room for them and ``blocks_before``.

        Room for layout mbsm is checked once its super-blocks are built, by the run.
        """
        blocks = sum(self.least_blocks(name) for name in names or self.data.tables())
        taken = blocks_before + (0 if self.layout == "mbsm" else blocks)
        check_room(taken, system.layout().blocks, getattr(self, "kernel", ""), parameter)

    def lay_out_all(self, first_block: int = 0) -> dict[str, Layout]:
        """Lay all tables out from ``first_block`` on, the smallest first, one behind the other; returns them by name."""
        laid: dict[str, Layout] = {}
        for name, table in self.data.tables().items():
            laid[name] = self.lay_out(table, first_block)
            first_block += laid[name].blocks
        return laid

    def _laid(self, table: Table, first_block: int) -> Layout:
        if self.layout != "mbsm":
            return _LAYOUTS[self.layout](table, first_block, self.page)
        pax = Pax(table, first_block, self.page)
        if pax.pages == 1:
            return pax  # too small to be divided (MBSM, section 6.2), and a super-block of one page is a page of PAX
        return Mbsm(table, self.mbsm.super_block(table, self.data.queries(), self.page_bytes), self.mbsm.run_pages, first_block, self.page)


@cache
def _construct(table: Table, queries: Sequence[Query], most_pages: int, threshold: float) -> SuperBlock:
    return construct(table, queries, most_pages, threshold)
