"""A query of TPC-H on a system: where its tables lie, and what the processor's part of it takes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memwalk.analysis.storage_workloads.columns import cpu_columns
from memwalk.analysis.storage_workloads.placed import check_read_ahead, rows_for
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.sampled import simulate_sample
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.clotho import sample, tpch
from memwalk.workloads.clotho.layouts import Layout, Reconstruction, kernel_pages
from memwalk.workloads.clotho.streams import scanned
from memwalk.workloads.programs.query import TableScan


def query_work(scale_factor: float, sample: float) -> int:
    """Estimate the work of a query: pages fixed, and the simulation of the processor's part in requests that take as long."""
    return int(1000 + 90_000 * scale_factor + 1_000_000 * sample)


class PlacedQuery(NamedTuple):
    """A query of Clotho's section 7.3 on tables that lie on a volume."""

    scans: Sequence[TableScan]
    columns: Mapping[str, float]
    """What the processor does, as `cpu_columns` has it; nothing without a machine."""

    def check_pool(self, pool: int, runs_ahead: int) -> None:
        """Raise UserError if so many runs of each stream do not fit into a pool of ``pool`` bytes."""
        for streams, records, _ in self.scans:
            check_read_ahead(streams, records, runs_ahead, pool)


def placed_query(
    name: str,
    layout: Layout,
    volume: Volume,
    machine: Mapping[str, Any] | None,
    *,
    scale_factor: float,
    sample_scale_factor: float,
    reconstruction: Reconstruction,
    first_block: int = 0,
) -> PlacedQuery:
    """Place the tables from ``first_block`` on and have the processor's time simulated at scale factor ``sample_scale_factor``.

    Raises UserError if the tables do not fit onto the volume, or the layout not to it.
    """
    tables = [tpch.tables(scale_factor)[table] for table in tpch.QUERIES[name]]
    rows, found = rows_for(layout, volume), []
    for table in tables:
        columns = tpch.columns(name, table)
        found.append(scanned(layout, table, columns, rows, volume.row_blocks, first_block=first_block, reconstruction=reconstruction))
        first_block = found[-1].end_block
    if first_block > volume.blocks:
        raise UserError(
            f"query {name}: its tables at scale factor {scale_factor:g} end at block {first_block}, "
            f"and the volume has {volume.blocks}; make it smaller"
        )
    times_ps, columns_of_cpu = (0, 0), {}
    if machine is not None:
        pages = kernel_pages(layout, reconstruction)
        work = sample.of_query(name, pages, found[0].pages_per_frame, scale_factor=scale_factor, sample=sample_scale_factor)
        simulated = simulate_sample(machine, work.workload, work.times)
        second_ps = simulated.phases_ps(sample.PROBING)
        times_ps, columns_of_cpu = (simulated.ps - second_ps, second_ps), cpu_columns(simulated)
    scans = [TableScan(one.streams, table.records, ps) for one, table, ps in zip(found, tables, times_ps, strict=False)]
    return PlacedQuery(scans, columns_of_cpu)
