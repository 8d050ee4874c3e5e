"""Tables of docs/indexes-today.md, and that of README.md which has some of the same rows."""

import pandas as pd

from docs.tables.cells import Select, Table, best, cores, grid, number, one, percent, values, variants
from docs.tables.registry import table
from docs.tables.results import Run, microseconds, share
from memwalk.analysis.reproduce import machine_facts

STRUCTURES = ["slotted", "array", "micro-index", "disk-first", "cache-first"]
POOLS: dict[str, Select] = {
    "everything": {"workload.pool_frames": 20480},
    "nine tenths": {"workload.pool_frames": 13312},
    "half": {"workload.pool_frames": 7424},
}
DRAM: Select = {"machine.name": "zen4-server"}
CXL: Select = {"machine.name": "zen4-cxl"}
THREADS = [1, 2, 4, 8]


@table("searches-by-pool", Run("indexes-today"))
def searches_by_pool(results: pd.DataFrame) -> Table:
    """Return microseconds of a search, by what the pool holds and where it lies."""
    made = [["pool holds", "lies in", *STRUCTURES, "best over array"]]
    for pool, frames in POOLS.items():
        for memory, place in (("DRAM", DRAM), ("CXL", CXL)):
            times = [microseconds(one(results, frames, place, {"variant": structure})) for structure in STRUCTURES]
            array = times[STRUCTURES.index("array")]
            made.append([pool, memory, *best([number(time, places=2) for time in times], times), number(array / min(times), places=2)])
    return made


@table("searches-by-pool-in-short", Run("indexes-today"))
def searches_by_pool_in_short(results: pd.DataFrame) -> Table:
    """Return the same without its last column, and without the row of nine tenths behind CXL."""
    head, *rows = [row[:-1] for row in searches_by_pool(results)]
    kept = [row for row in rows if row[:2] != ["nine tenths", "CXL"]]
    return [head, *([pool, memory.replace("CXL", "CXL (250 ns)"), *times] for pool, memory, *times in kept)]


def _by_threads(results: pd.DataFrame, rows: dict[str, Select]) -> Table:
    """Return millions of operations per second by threads, and for how much of the time eight wait for latches."""
    made = grid(results, rows, cores(THREADS), lambda row: number(1 / microseconds(row)), "index, and what the pool holds")
    made[0].append("on 8 cores, waits for latches")
    for cells, row in zip(made[1:], rows.values(), strict=True):
        eight = one(results, row, {"workload.threads": 8})
        cells.append(percent(share(eight, "barrier")))
    return made


@table("searches-by-threads", Run("searches-by-threads"))
def searches_by_threads(results: pd.DataFrame) -> Table:
    """Return millions of searches per second."""
    rows = variants(
        "array, everything",
        "array, everything, optimistic",
        "cache-first, everything",
        "cache-first, everything, optimistic",
        "array, half",
        "cache-first, half",
        "cache-first, half, optimistic",
        ("100,000 keys, cache-first", "small"),
        ("100,000 keys, cache-first, optimistic", "small, optimistic"),
        ("with latches where no cache knows of others", "small, apart"),
    )
    return _by_threads(results, rows)


@table("insertions-by-threads", Run("insertions-by-threads"))
def insertions_by_threads(results: pd.DataFrame) -> Table:
    """Return millions of insertions per second."""
    rows = variants(
        "array, everything",
        "array, everything, optimistic",
        "disk-first, everything",
        "disk-first, everything, optimistic",
        "disk-first, half",
        "disk-first, half, optimistic",
        ("100,000 keys, disk-first", "small"),
        ("100,000 keys, disk-first, optimistic", "small, optimistic"),
        ("the same, of which 95% are searches", "small, 95% searches"),
        ("the same, optimistic", "small, 95% searches, optimistic"),
    )
    return _by_threads(results, rows)


@table("scans-among-insertions", Run("scans-among-insertions"))
def scans_among_insertions(results: pd.DataFrame) -> Table:
    """Return millions of operations per second."""
    rows = variants(
        "array, everything",
        "array, everything, optimistic",
        "disk-first, everything",
        "disk-first, everything, optimistic",
        "array, half, optimistic",
        "disk-first, half, optimistic",
        ("100,000 keys, disk-first", "small"),
        ("100,000 keys, disk-first, optimistic", "small, optimistic"),
    )
    return _by_threads(results, rows)


@table("trees-by-threads", Run("trees-by-threads"))
def trees_by_threads(results: pd.DataFrame) -> Table:
    """Return millions of searches per second by lines of a node, the best of each number of threads in bold, and how busy memory is."""
    nodes = {"1": "one line", "2": "two lines", "4": "four lines", "8": "eight lines", "16": "sixteen lines"}
    made = [["lines of a node", "1 core", "2", "4", "8", "on 8 cores, memory is busy"], *([label] for label in nodes)]
    for threads in THREADS:
        found = [one(results, {"variant": node, "workload.threads": threads}) for node in nodes.values()]
        times = [microseconds(row) for row in found]
        speeds = [number(1 / time) for time in times]
        for cells, speed in zip(made[1:], best(speeds, times), strict=True):
            cells.append(speed)
        if threads == THREADS[-1]:
            for cells, row in zip(made[1:], found, strict=True):
                cells.append(percent(row["bus_fills"] * machine_facts(row["machine.name"])["memory"]["interval_cycles"] / row["cycles"]))
    return made


@table("skewed-searches", Run("skewed-searches"))
def skewed_searches(results: pd.DataFrame) -> Table:
    """Return page reads and microseconds of a search, by skew."""
    columns = values("workload.skew", [0, 0.8, 0.99, 1.2], lambda skew: f"skew {skew}" if skew == 0 else str(skew))
    reads = variants(
        ("array, page reads", "array, half"),
        ("cache-first, page reads", "cache-first, half"),
        ("array in pages of 4 KB, page reads", "array of 4 KB, half"),
    )
    times = variants("array, half", "cache-first, half", ("array in pages of 4 KB, half", "array of 4 KB, half"))
    in_memory = variants("array, everything", "cache-first, everything")

    return [
        *grid(results, reads, columns, lambda row: number(row["pages_read"] / row["operations"])),
        *grid(results, times, columns, lambda row: f"{microseconds(row):.1f}")[1:],
        *grid(results, in_memory, columns, lambda row: number(microseconds(row)))[1:],
    ]
