"""What follows from Clotho's formats and mappings alone (Shao et al. 2004): pages, rows and columns, space.

Columns are given as text, such as ``2_3_6_5`` for minipages of so many blocks.
"""

from __future__ import annotations

from fractions import Fraction

from memwalk.analysis.cost_models.table_scan import numbers
from memwalk.simcore.storage.device import BLOCK_BYTES, Run
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.disk import Geometry, Zone
from memwalk.simcore.storage.mems import MemsGeometry, Memstore
from memwalk.simcore.storage.mems.passes import plan
from memwalk.simcore.storage.volumes import AtroposVolume, Step
from memwalk.simcore.validation import nearest
from memwalk.workloads.clotho import APageFormat, Csm, a_pages_per_c_page, space_efficiency
from memwalk.workloads.tables import Column, Table, tpch
from memwalk.workloads.tpcc import schema as tpcc

_KIB = 1024
_LARGEST_KIB = 64
"""Pages are 4 to 64 KB (section 2)."""


def a_pages_in_c_page(minipages: str, kept: str, frame_blocks: int) -> int:
    """Return the A-pages whose minipages ``kept`` (``1_2``: the first two) share a C-page (Figure 3)."""
    return a_pages_per_c_page(numbers(minipages), [column - 1 for column in numbers(kept)], frame_blocks)


def c_page_utilization(minipages: str, kept: str, frame_blocks: int) -> Fraction:
    """Return the records of a C-page with the columns ``kept`` over those of one with all columns (Figure 3)."""
    everything = "_".join(str(column + 1) for column in range(len(numbers(minipages))))
    return Fraction(a_pages_in_c_page(minipages, kept, frame_blocks), a_pages_in_c_page(minipages, everything, frame_blocks))


def a_page_records(columns: int, value_bytes: int) -> int:
    """Return the records of an A-page whose columns have a block each (Figure 5)."""
    return _drawn(columns, value_bytes, records=1).format.records


def every_page_selectivity_percent(columns: int, value_bytes: int) -> Fraction:
    """Return the selectivity from which on each A-page has a record that qualifies, if these are spread evenly (section 7.2.1), in %."""
    return Fraction(100, a_page_records(columns, value_bytes))


def band_records(columns: int, value_bytes: int) -> int:
    """Return the records whose values of one column are one row of the volume of Figure 5."""
    drawn = _drawn(columns, value_bytes, records=1)
    return drawn.format.records * drawn.band_pages


def column_scan_blocks(columns: int, value_bytes: int, records: int) -> int:
    """Return the blocks that a scan of the first column reads in a row (Figure 5)."""
    drawn = _drawn(columns, value_bytes, records)
    ((extent,),) = drawn.scan(["a1"])
    return extent.blocks


def column_scan_reads(columns: int, value_bytes: int, records: int) -> int:
    """Return the reads of whole tracks that the disks serve for a scan of the first column (Figure 5)."""
    drawn, volume = _drawn(columns, value_bytes, records), _figure_5()
    ((extent,),) = drawn.scan(["a1"])
    return sum(part.blocks == volume.track_blocks for part in volume.split(*extent))


def a_page_accesses(columns: int, value_bytes: int, records: int) -> int:
    """Return how many disks read the first A-page, each semi-sequentially (Figure 5)."""
    drawn, volume = _drawn(columns, value_bytes, records), _figure_5()
    return len({part.disk for extent in drawn.record(0, drawn.table.names) for part in volume.split(*extent)})


def drawn_parallel_blocks() -> Fraction:
    """Return the blocks that move together of an equivalence class of the MEMStore of Figure 6.

    Nine squares, a third of whose tips are active, with three places for a block in a square along X and three along Y.
    """
    geometry = MemsGeometry(cylinders=3, tracks=3, rows=3, cells=3, bit_nm=1, servo_bits=1, sector_bits=1)
    together = geometry.parallel_blocks(33)
    return Fraction(len(together), len(plan(geometry, [Run(block, 1) for block in together], bidirectional=True)))


def device_parallel_blocks(device: str) -> int:
    """Return the blocks that a MEMStore moves at once. Raises ValueError for another device."""
    made = load_device(device).device()
    if not isinstance(made, Memstore):
        raise ValueError(f"{device} is no MEMStore; write for example mems-g2")
    return made.geometry.cells


def a_page_efficiency(of: str, page_kib: float) -> float:
    """Return the records of an A-page in % of those of a slotted page of the same size (Figure 11)."""
    return 100 * space_efficiency(_benchmark_table(of), round(page_kib * _KIB), BLOCK_BYTES)


def efficient_page(of: str, percent: float) -> float:
    """Return the least size in KiB, a power of two, from which on A-pages have more than ``percent`` of a slotted page's records."""
    sizes = [2**power for power in range(2, _LARGEST_KIB.bit_length())]
    below = [size for size in sizes if a_page_efficiency(of, size) <= percent]
    return float(min((size for size in sizes if not below or size > max(below)), default=float("inf")))


def _drawn(columns: int, value_bytes: int, records: int) -> Csm:
    """Lay a table out on the volume of Figure 5, an A-page having a block for each column."""
    table = Table("drawn", tuple(Column.fixed(f"a{number}", "float", value_bytes) for number in range(1, columns + 1)), records)
    return Csm(table, APageFormat(table.columns, blocks=columns), _figure_5())


def _figure_5() -> AtroposVolume:
    """Return the volume of Figure 5: four disks, tracks of four blocks, quadrangles four tracks deep."""
    sectors, heads, cylinders = 4, 4, 4
    blocks = sectors * heads * cylinders
    zone = Zone(0, blocks, 0, cylinders, sectors, track_skew=1, cylinder_skew=1, empty=0, spares=0, range_blocks=blocks)
    return AtroposVolume(Geometry([zone], heads, rotation_ps=sectors, blocks=blocks), disks=4, depth=4, step=Step(1, 1))


def _benchmark_table(name: str) -> Table:
    """Find a table such as ``tpch.lineitem`` or ``tpcc.stock``. Raises ValueError with the nearest name."""
    tables = {f"tpch.{table}": schema for table, schema in tpch.tables(1.0).items()}
    tables |= {f"tpcc.{table}": schema for table, schema in tpcc.tables(1).items()}
    if name not in tables:
        raise ValueError(f"there is no table `{name}`; {nearest(name, tables)}")
    return tables[name]
