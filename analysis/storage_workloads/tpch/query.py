"""A query of TPC-H while it runs: scans one after another, each read ahead while the processor works on its records."""

from collections.abc import Mapping
from typing import Any

import simpy

from memwalk.analysis.storage_workloads.pool import check_read_ahead
from memwalk.analysis.storage_workloads.reconstruction import Reconstruction, kernel_pages
from memwalk.analysis.storage_workloads.tpch.processor import work
from memwalk.analysis.storage_workloads.tpch.streams import Layout, scanned
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.pool import BufferPool, Scan, Steps
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.clotho import tpch


def query_work(scale_factor: float, sample: float) -> int:
    """Estimate the work of a query: pages fixed, and the simulation of the processor's part in requests that take as long."""
    return int(1000 + 90_000 * scale_factor + 1_000_000 * sample)


class Query:
    """A query of Clotho's section 7.3 on tables that lie from some block of a volume on."""

    def __init__(
        self,
        name: str,
        layout: Layout,
        volume: Volume,
        machine: Mapping[str, Any] | None,
        *,
        scale_factor: float,
        sample: float,
        reconstruction: Reconstruction,
        first_block: int = 0,
    ) -> None:
        """Place the tables and have the processor's time simulated at scale factor ``sample``.

        Raises UserError if the tables do not fit onto the volume, or the layout not to it.
        """
        tables = [tpch.tables(scale_factor)[table] for table in tpch.QUERIES[name]]
        found = []
        for table in tables:
            found.append(scanned(layout, table, tpch.columns(name, table), volume, first_block, reconstruction=reconstruction))
            first_block = found[-1].end_block
        if first_block > volume.blocks:
            raise UserError(
                f"query {name}: its tables at scale factor {scale_factor:g} end at block {first_block}, "
                f"and the volume has {volume.blocks}; make it smaller"
            )
        pages = kernel_pages(layout, reconstruction)
        self.work = work(machine, name, pages, found[0].pages_per_frame, scale_factor=scale_factor, sample=sample)
        self._scans = [(one.streams, table.records, ps) for one, table, ps in zip(found, tables, self.work.table_ps, strict=False)]

    def check_pool(self, pool: int, runs_ahead: int) -> None:
        """Raise UserError if so many runs of each stream do not fit into a pool of ``pool`` bytes."""
        for streams, records, _ in self._scans:
            check_read_ahead(streams, records, runs_ahead, pool)

    def go(self, env: simpy.Environment, pool: BufferPool, runs_ahead: int) -> Steps:
        """Run once, with so many runs of each stream read ahead."""
        for streams, records, work_ps in self._scans:
            yield from Scan(env, pool, streams, records, work_ps).go(runs_ahead)
