"""What a scan of each layout should cost: the published equations, carried over to the layouts they leave out.

Costs are seconds. The published model knows no predicates: every column that a query names is scanned in full. Rows in
slotted pages, super rows and super columns are its equations 1 to 15 as they stand. PAX iterates record by record, as rows
do, over pages without headers of records (equations 2, 3 and 15). DSM is a slotted file per attribute with a record number
beside each value: equations 1 to 3 and 14 once per column, each file read ahead like a column (equations 7 to 10). MBSM
iterates over pages like those of PAX; its pages and the runs that they lie in are counted, the first page of a run is a random one.

Pages are whole ones here, and so are the runs of a column; the first page of a row store is a random one. The equations leave that out,
which is next to nothing of the large tables that they are for. What they leave out, too, is that a scan waits for the lines of its
pages: a term of its own, lines times what one takes.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, TypeAlias, get_args

from memwalk.analysis.advice.layouts import super_blocks
from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.advice.layouts.lines import lines_per_record
from memwalk.analysis.advice.layouts.scans import PAGE_HEADER_BYTES
from memwalk.analysis.cost_models.page_layout import record_overhead
from memwalk.analysis.cost_models.super_block import record_number_bytes
from memwalk.analysis.cost_models.table_scan import Constants, ScanCost, Store, Table, pages_scanned, prefetch_pages, scan_cost
from memwalk.workloads.mbsm import Mbsm

Layout: TypeAlias = Literal["nsm", "pax", "dsm", "super-row", "super-column", "mbsm"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
"""All layouts; ``mbsm`` needs a disk."""

RECORD_OVERHEAD_BYTES = record_overhead("nsm")
"""Tag and slot of a record in a slotted page (OH of Table 5)."""


@dataclass(frozen=True)
class Prediction:
    """What a scan should cost, in seconds, and the bytes that it reads from storage."""

    cost: ScanCost
    """What the published equations have for it."""
    bytes_read: float
    waiting: float = 0.0
    """For lines."""

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.cost.total + self.waiting


@dataclass(frozen=True)
class UnitCosts:
    """What the equations' constants are on a machine, in seconds: SEQIO and RDMIO, IC and FC where no access waits; and its lines."""

    sequential_io: float
    random_io: float
    iteration: float
    function_call: float
    line: float
    """What a scan waits for a line."""
    line_bytes: int


def predict(layout: Layout, query: Query, task: Task, costs: UnitCosts, laid: Mbsm | None = None) -> Prediction:
    """Predict a query over a layout; ``laid`` is the table in layout ``mbsm``."""
    lines = task.schema.records * lines_per_record(layout, query, task, costs.line_bytes)
    return replace(_by_the_equations(layout, query, task, costs, laid), waiting=lines * costs.line)


def _by_the_equations(layout: Layout, query: Query, task: Task, costs: UnitCosts, laid: Mbsm | None) -> Prediction:
    table = Table(task.schema.records, len(task.schema.attributes), len(query.attributes))
    constants = _constants(task, costs)
    if layout == "super-column":
        return _columns(scan_cost(layout, table, constants), table, task, constants)
    if layout == "dsm":
        return _dsm(table, task, constants)
    store: Store = "standard-row" if layout == "nsm" else "super-row"
    cost, pages = scan_cost(store, table, constants), _whole(pages_scanned(store, table, constants))
    if layout in ("pax", "mbsm"):
        cost = replace(cost, iteration=table.rows * constants.iteration)
    runs = 1
    if laid is not None:
        pages, runs = super_blocks.pages_read(laid, query)
    return _read(cost, pages, runs, task, constants)


def _dsm(table: Table, task: Task, constants: Constants) -> Prediction:
    stored = replace(constants, column_bytes=constants.column_bytes + record_number_bytes() + constants.overhead_bytes)
    values = table.rows * table.retrieved
    cost = ScanCost(0.0, values * constants.iteration, values * constants.function_call)
    return _columns(cost, Table(table.rows, table.retrieved), task, stored)


def _columns(cost: ScanCost, table: Table, task: Task, constants: Constants) -> Prediction:
    """Predict a scan of columns that are read ahead in runs as long as each one's part of the memory for that."""
    pages = _whole(pages_scanned("super-column", table, constants) / table.retrieved)
    runs = _whole(pages / prefetch_pages(table, constants))
    return _read(cost, int(pages * table.retrieved), int(runs * table.retrieved), task, constants)


def _read(cost: ScanCost, pages: int, runs: int, task: Task, constants: Constants) -> Prediction:
    """Add the I/O of so many pages to what the processor takes: the first of each run is a random one."""
    io = pages * constants.sequential_io + runs * (constants.random_io - constants.sequential_io)
    return Prediction(replace(cost, io=io), pages * task.workload.page_bytes)


def _whole(pages: float) -> int:
    """Round up, but for what is a rounding error."""
    return max(ceil(pages * (1 - 1e-12)), 1)


def _constants(task: Task, costs: UnitCosts) -> Constants:
    return Constants(
        sequential_io=costs.sequential_io,
        random_io=costs.random_io,
        iteration=costs.iteration,
        function_call=costs.function_call,
        pool_pages=2 * task.workload.prefetch_bytes / task.workload.page_bytes,
        page_bytes=task.workload.page_bytes - PAGE_HEADER_BYTES,
        column_bytes=task.schema.attribute_bytes,
        overhead_bytes=RECORD_OVERHEAD_BYTES,
    )
