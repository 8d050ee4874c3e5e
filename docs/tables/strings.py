"""Tables of docs/variable-length-keys.md."""

import pandas as pd

from docs.tables.cells import Select, Table, best, one
from docs.tables.registry import table
from docs.tables.results import Run, cycles

KEYS = Run("variable-length-keys")
PAGES = {
    "slotted": "slotted",
    "N = 2": "prefix 2",
    "N = 4": "prefix 4",
    "N = 8": "prefix 8",
    "N = 16": "prefix 16",
    "tree, 8 lines": "tree 8",
    "tree, 16 lines": "tree 16",
}
OPERATIONS = {
    "search, 3 bytes tell keys apart": "search",
    "search, 12 bytes do": "search 2 bits",
    "scan of 1000 keys, grown": "scan grown",
    "insertion, grown": "insert grown",
    "insertion, full pages": "insert full",
}


def _found(results: pd.DataFrame, machine: str, page: str, operation: str, common: int = 0) -> pd.Series:
    place: Select = {"machine.name": machine, "workload.common_prefix_bytes": common}
    return one(results, place, {"variant": f"{page} - {operation}"})


def _by_page(results: pd.DataFrame, machine: str) -> Table:
    """Return cycles of an operation by how a page finds its keys."""
    made = [[machine, "common", *PAGES]]
    for label, operation in OPERATIONS.items():
        for common in (0, 8):
            times = [cycles(_found(results, machine, page, operation, common)) for page in PAGES.values()]
            made.append([label, str(common), *best([f"{time:,.0f}" for time in times], times)])
    return made


@table("keys-on-the-simulator", KEYS)
def keys_on_the_simulator(results: pd.DataFrame) -> Table:
    """Return cycles of an operation on the thesis's machine."""
    return _by_page(results, "thesis-simulator")


@table("keys-on-a-server", KEYS)
def keys_on_a_server(results: pd.DataFrame) -> Table:
    """Return cycles of an operation on a server of today."""
    return _by_page(results, "zen4-server")


@table("page-splits", KEYS)
def page_splits(results: pd.DataFrame) -> Table:
    """Return what a page split costs: how much longer insertions into full pages take than into grown ones, for each split of a page."""
    pages = {label: PAGES[label] for label in ("slotted", "tree, 8 lines", "tree, 16 lines")}
    made = [["cycles per page split", *pages]]
    for machine in ("thesis-simulator", "zen4-server"):
        costs = []
        for page in pages.values():
            full, grown = (_found(results, machine, page, operation) for operation in ("insert full", "insert grown"))
            costs.append((full["cycles"] - grown["cycles"]) / (full["page_splits"] - grown["page_splits"]))
        made.append([machine, *(f"{round(cost, -2):,.0f}" for cost in costs)])
    return made
