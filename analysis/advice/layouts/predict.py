"""What a scan of each layout should cost: the published equations, carried over to the layouts they leave out.

Costs are seconds. The published model knows no predicates: every column that a query names is scanned in full. Rows in
slotted pages, super rows and super columns are its equations 1 to 15 as they stand. PAX iterates record by record, as rows
do, over pages without headers of records (equations 2, 3 and 15). DSM is a slotted file per attribute with a record number
beside each value: equations 1 to 3 and 14 once per column, each file read ahead like a column (equations 7 to 10). MBSM
iterates over pages like those of PAX; its pages and the runs that they lie in are counted, the first page of a run is a random one.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from memwalk.analysis.advice.layouts import super_blocks
from memwalk.analysis.advice.layouts.files import Query, Task
from memwalk.analysis.cost_models.table_scan import Constants, ScanCost, Store, Table, pages_scanned, scan_cost
from memwalk.workloads.mbsm import Mbsm

Layout: TypeAlias = Literal["nsm", "pax", "dsm", "super-row", "super-column", "mbsm"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
"""All layouts; ``mbsm`` needs a disk."""

PAGE_HEADER_BYTES = 32
"""Header of every page."""
RECORD_OVERHEAD_BYTES = 16
"""Tag and slot of a record in a slotted page (OH of Table 5)."""
RECORD_NUMBER_BYTES = 4
"""Record number beside each value of a DSM file."""

_EQUATIONS: dict[Layout, Store] = {"nsm": "standard-row", "super-row": "super-row", "super-column": "super-column"}


@dataclass(frozen=True)
class Prediction:
    """What a scan should cost, in seconds, and the bytes that it reads from storage."""

    cost: ScanCost
    bytes_read: float


@dataclass(frozen=True)
class UnitCosts:
    """What the equations' constants are on a machine, in seconds: SEQIO and RDMIO, IC and FC."""

    sequential_io: float
    random_io: float
    iteration: float
    function_call: float


def predict(layout: Layout, query: Query, task: Task, costs: UnitCosts, laid: Mbsm | None = None) -> Prediction:
    """Predict a query over a layout; ``laid`` is the table in layout ``mbsm``."""
    table = Table(task.schema.records, len(task.schema.attributes), len(query.attributes))
    constants = _constants(task, costs)
    if layout in _EQUATIONS:
        store = _EQUATIONS[layout]
        return Prediction(scan_cost(store, table, constants), _bytes(store, table, task, constants))
    if layout == "dsm":
        return _dsm(table, task, constants)
    packed = scan_cost("super-row", table, constants)
    pax = Prediction(replace(packed, iteration=table.rows * constants.iteration), _bytes("super-row", table, task, constants))
    return pax if laid is None else _mbsm(pax, query, laid, costs)


def _dsm(table: Table, task: Task, constants: Constants) -> Prediction:
    files = Table(table.rows, table.retrieved)
    stored = replace(constants, column_bytes=constants.column_bytes + RECORD_NUMBER_BYTES + constants.overhead_bytes)
    io, values = scan_cost("super-column", files, stored).io, table.rows * table.retrieved
    cost = ScanCost(io, values * constants.iteration, values * constants.function_call)
    return Prediction(cost, _bytes("super-column", files, task, stored))


def _mbsm(pax: Prediction, query: Query, laid: Mbsm, costs: UnitCosts) -> Prediction:
    pages, runs = super_blocks.pages_read(laid, query)
    io = pages * costs.sequential_io + runs * (costs.random_io - costs.sequential_io)
    return Prediction(replace(pax.cost, io=io), pages * laid.page.bytes)


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


def _bytes(store: Store, table: Table, task: Task, constants: Constants) -> float:
    return pages_scanned(store, table, constants) * task.workload.page_bytes
