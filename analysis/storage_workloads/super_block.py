"""Kernel `super-block`: which columns MBSM places on which pages of a super-block (MBSM, section 3 and Tables 3 to 5)."""

from typing import Any, ClassVar, Literal

from pydantic import Field, StrictBool, model_validator

from memwalk.analysis.storage_workloads.layouts import MegaBlocks, PagesOfSuperBlock
from memwalk.analysis.storage_workloads.limits import CommandBytes
from memwalk.analysis.storage_workloads.relations import Relations
from memwalk.analysis.storage_workloads.traffic import TrafficOf, always
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import StrictModel, nearest
from memwalk.workloads.mbsm import Affinities, SuperBlock, super_block_of
from memwalk.workloads.tables import Table
from memwalk.workloads.tables.page import PAGE_8K


class SuperBlockPlacement(StrictModel):
    """The best super-block, or the best one of a given number of pages. No time passes."""

    processes: ClassVar[bool] = False
    traffic: ClassVar[TrafficOf] = always(reads=False, writes=False, asks_for_rows=False)

    kernel: Literal["super-block"]
    data: Relations = Field(description="Tables, and the queries that read them")
    table: str = Field("r", description="Table of the data")
    page_bytes: CommandBytes = Field(PAGE_8K.bytes, gt=0, description="Size of a page")
    mbsm: MegaBlocks = MegaBlocks.model_validate({})
    pages: PagesOfSuperBlock | None = Field(None, description="Pages of the super-block; the best number if absent")
    split: StrictBool = Field(True, description="Given pages: whether columns larger than a page's part are split")
    like: dict[str, dict[int, int]] | None = Field(
        None, description="A placement to compare with: bytes by page, from 1, by column; pages are numbered like those that agree most"
    )

    @model_validator(mode="after")
    def _known(self) -> "SuperBlockPlacement":
        if self.table not in self.data.tables():
            raise ValueError(f"{self.data.kind} has no table `{self.table}`; {nearest(self.table, self.data.tables())}")
        self.mbsm.check_room(self.page_bytes)
        return self

    def native(self) -> dict[str, Any]:
        """Return the workload with its defaults."""
        return self.model_dump(exclude_none=True)

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        columns = len(self.data.tables()[self.table].columns)
        return self.mbsm.placing(columns) if self.pages is None else columns * self.pages**2

    def run(self, system: System) -> dict[str, float | int]:  # noqa: ARG002 (a placement depends on no device)
        """Place the columns; returns the super-block's measures and what lies where.

        ``placed.<column>.<page>`` are bytes per record; ``alike.<column>`` those of them that lie where ``like`` has them.
        """
        table, queries = self.data.tables()[self.table], self.data.queries()
        block = self._super_block(table)
        affine = Affinities(table.names, queries.values()).above(self.mbsm.affinity_threshold)
        per_page = block.load / self.page_bytes
        return {
            "columns": len(table.columns),
            "pages": len(block.pages),
            "room_for_pages": self.mbsm.room(self.page_bytes),
            "affine_pairs": len(affine),
            "record_bytes": block.record_bytes,
            "load_bytes": block.load,
            "least_load_bytes": min(block.loads),
            "fragmentation": block.fragmentation,
            "fragmentation_percent": 100 * block.fragmentation,
            "queries_pages": block.pages_read(queries.values()),
            "score": block.score(tuple(queries.values())),
            "pages_with_one_column": sum(len(page) == 1 for page in block.pages),
            "pages_per_record": len(block.pages) * per_page,
            "full_pages_per_record": block.record_bytes / self.page_bytes,
            **{f"scan_pages_per_record.{name}": len(block.pages_of(query.columns)) * per_page for name, query in queries.items()},
            **self._placed(block, table),
        }

    def _super_block(self, table: Table) -> SuperBlock:
        queries = self.data.queries()
        if self.pages is None:
            return self.mbsm.super_block(table, queries, self.page_bytes)
        return super_block_of(table, tuple(queries.values()), self.pages, self.mbsm.affinity_threshold, split=self.split)

    def _placed(self, block: SuperBlock, table: Table) -> dict[str, int]:
        pages = [dict(page) for page in block.pages]
        numbers = _numbered_like(pages, self.like or {})
        placed = {(name, numbers[at]): size for at, page in enumerate(pages) for name, size in page.items()}
        columns = {f"placed.{name}.{number}": size for (name, number), size in sorted(placed.items(), key=lambda item: item[0][1])}
        if self.like is None:
            return columns
        wanted = {(name, number): size for name, sizes in self.like.items() for number, size in sizes.items()}
        alike = dict.fromkeys((f"alike.{name}" for name in table.names), 0)
        for place, size in wanted.items():
            alike[f"alike.{place[0]}"] += min(size, placed.get(place, 0))
        return columns | alike


def _numbered_like(pages: list[dict[str, int]], like: dict[str, dict[int, int]]) -> list[int]:
    """Give pages the numbers, from 1, of those pages of another placement that they share most bytes with, and others what is left."""

    def shared(page: dict[str, int], number: int) -> int:
        return sum(min(size, like.get(name, {}).get(number, 0)) for name, size in page.items())

    free = sorted({*range(1, len(pages) + 1), *(number for sizes in like.values() for number in sizes)})
    pairs = [(-shared(page, number), number, at) for at, page in enumerate(pages) for number in free]
    chosen: dict[int, int] = {}
    for overlap, number, at in sorted(pairs):
        if overlap < 0 and at not in chosen and number not in chosen.values():
            chosen[at] = number
    left = iter(number for number in free if number not in chosen.values())
    return [chosen[at] if at in chosen else next(left) for at in range(len(pages))]
