"""A query of TPC-H on a system: where its tables lie, and what the processor's part of it takes."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from memwalk.analysis.storage_workloads.columns import cpu_columns_of
from memwalk.analysis.storage_workloads.placed import rows_for
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.analysis.storage_workloads.samples import simulate_samples
from memwalk.simcore.storage.volumes import Volume
from memwalk.workloads.clotho import sample, tpch
from memwalk.workloads.clotho.layouts import Layout, Reconstruction
from memwalk.workloads.clotho.streams import Scanned, scanned
from memwalk.workloads.programs.query import TableScan


def query_work(scale_factor: float, sample: float) -> int:
    """Estimate the work of a query: pages fixed, and the simulation of the processor's part in requests that take as long."""
    return int(1000 + 90_000 * scale_factor + 1_000_000 * sample)


class PlacedTable(NamedTuple):
    """A table that a query goes through."""

    scanned: Scanned
    records: int


def placed_tables(
    name: str, layout: Layout, volume: Volume, *, scale_factor: float, reconstruction: Reconstruction, first_block: int
) -> list[PlacedTable]:
    """Place the tables of a query from ``first_block`` on. Raises UserError if they do not fit, or the layout not to the volume."""
    tables = tpch.tables(scale_factor)
    rows, found = rows_for(layout, volume), []
    for table in (tables[table] for table in tpch.QUERIES[name]):
        columns = tpch.columns(name, table)
        place = scanned(layout, table, columns, rows, volume.row_blocks, first_block=first_block, reconstruction=reconstruction)
        found.append(PlacedTable(place, table.records))
        first_block = place.end_block
    if first_block > volume.blocks:
        raise MisfitError(
            "scale_factor",
            f"query {name}: its tables at scale factor {scale_factor:g} end at block {first_block}, "
            f"and the volume has {volume.blocks}; make it smaller",
        )
    return found


class QueryWork(NamedTuple):
    """What a query does: its scans with the processor's part of each."""

    scans: Sequence[TableScan]
    columns: Mapping[str, float]
    """What the processor does, as `cpu_columns` has it; nothing without a machine."""


def with_work(placed: Sequence[PlacedTable], machine: Mapping[str, Any] | None, work: sample.Sample, *, copied: bool) -> QueryWork:
    """Have the processor's time of a query simulated, and divide it among the scans; what these read may have to be copied to its place."""
    queries = simulate_samples(machine, [work])
    probing_ps = sum(one.phases_ps(sample.PROBING) for one in queries)
    times_ps = (sum(one.ps for one in queries) - probing_ps, probing_ps)
    copies = [simulate_samples(machine, sample.copying(one.scanned.streams) if copied else []) for one in placed]
    scans = [
        TableScan(one.scanned.streams, one.records, ps + sum(copying.ps for copying in copying_it))
        for one, ps, copying_it in zip(placed, times_ps, copies, strict=False)
    ]
    return QueryWork(scans, cpu_columns_of([*queries, *chain.from_iterable(copies)]))
