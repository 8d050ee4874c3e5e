"""Tables of docs/dram.md, docs/machine-features.md and docs/neighbours.md."""

import pandas as pd

from docs.tables.cells import Select, Table, grid, number, one, percent, variants
from docs.tables.registry import table
from docs.tables.results import Run, cycles, microseconds, phase_cycles

LINE_BYTES = 64


@table("dram-technologies", Run("dram-technologies"))
def dram_technologies(results: pd.DataFrame) -> Table:
    """Return cycles of an operation before fixed memory, DDR4 and HBM2, and how many reads found their row open."""
    memories: dict[str, Select] = {
        "fixed": {"machine.name": "zen4-server"},
        "DDR4": {"machine.name": "zen4-ddr4"},
        "HBM2": {"machine.name": "zen4-hbm2"},
    }
    rows = variants(
        ("T1 (pointer chase)", "T1"),
        ("T_next (prefetched pointers)", "T_next"),
        ("T_next with 256 miss handlers", "T_next 256 handlers"),
        ("search, B+", "search B+"),
        ("search, p8B+", "search p8B+"),
        ("scan, B+", "scan B+"),
        ("scan, p8eB+", "scan p8eB+"),
    )

    def cell(row: pd.Series) -> str:
        """Return what a visit takes, without the warm-up, or an operation."""
        visits = row["workload.kernel"] in ("pointer-chase", "pointer-array")
        return number(phase_cycles(row, "visit") if visits else cycles(row))

    made = grid(results, rows, memories, cell)
    made[0].append("row hits DDR4 / HBM2")
    for cells, row in zip(made[1:], rows.values(), strict=True):
        found = [one(results, row, memories[dram]) for dram in ("DDR4", "HBM2")]
        cells.append(" / ".join(percent(one["dram_read_row_hits"] / one["dram_reads"]) for one in found))
    return made


@table("searches-beside-joins", Run("searches-beside-joins"))
def searches_beside_joins(results: pd.DataFrame) -> Table:
    """Return what searches take beside joins on other cores, and what both do to each other."""
    made = [["join", "on cores", "a search takes", "`slowdown`", "its misses of the last cache", "`join.slowdown`", "the join moves"]]
    nanoseconds = 1e9 * results["seconds_alone"] / results["operations"]
    made.append(["none", "", f"{nanoseconds.iloc[0]:.0f} ns", "", "0.00", "", ""])
    for algorithm, label in (("no-partitioning", "without partitioning"), ("radix", "radix")):
        for threads in (1, 3, 7):
            row = one(results, {"beside.join.algorithm": algorithm, "beside.join.threads": threads})
            made.append(
                [
                    "" if threads > 1 else label,
                    str(threads),
                    f"{1000 * microseconds(row):.0f} ns",
                    number(row["slowdown"], places=2),
                    number(row["L3_misses"] / row["operations"], places=2),
                    number(row["join.slowdown"], places=2),
                    f"{LINE_BYTES * row['join.memory_lines'] / row['join.seconds'] / 1e9:.1f} GB/s",
                ]
            )
    return made


def _tree(lines: int, operation: str, *, prefetch: bool, maturity: str = "bulkloaded") -> Select:
    return {
        "workload.tree.node_lines": lines,
        "workload.tree.prefetch": prefetch,
        "workload.operation": operation,
        "workload.maturity": maturity,
    }


def _by_variant(results: pd.DataFrame, rows: dict[str, Select], columns: dict[str, Select]) -> Table:
    """Return cycles of an operation, of scans in thousands."""

    def cell(row: pd.Series) -> str:
        return f"{cycles(row) / (1000 if row['workload.operation'] == 'scan' else 1):.0f}"

    return grid(results, rows, columns, cell)


@table("replacement-policies", Run("replacement-policies"))
def replacement_policies(results: pd.DataFrame) -> Table:
    """Return cycles of searches and scans by replacement policy."""
    rows = {
        "B+-tree, search": _tree(1, "search", prefetch=False),
        "p8B+-tree, search": _tree(8, "search", prefetch=True),
        "B+-tree, scan (thousands)": _tree(1, "scan", prefetch=False),
        "p8B+-tree, scan (thousands)": _tree(8, "scan", prefetch=True),
    }
    return _by_variant(results, rows, variants("lru", "tree-plru", "nru", "fifo", "random", "srrip"))


@table("hardware-prefetchers", Run("hardware-prefetchers"))
def hardware_prefetchers(results: pd.DataFrame) -> Table:
    """Return cycles of searches and scans by hardware prefetcher."""
    rows = {}
    for operation, maturity, label in (
        ("search", "bulkloaded", "search"),
        ("scan", "bulkloaded", "scan of contiguous leaves (thousands)"),
        ("scan", "mature", "scan of a mature tree (thousands)"),
    ):
        rows[f"B+-tree, {label}"] = _tree(1, operation, prefetch=False, maturity=maturity)
        rows[f"8-line nodes, no software prefetching, {label}"] = _tree(8, operation, prefetch=False, maturity=maturity)
        rows[f"p8B+-tree, {label}"] = _tree(8, operation, prefetch=True, maturity=maturity)
    columns = variants(
        "none",
        ("next-line, L1", "next-line L1"),
        ("stride, L1", "stride L1"),
        ("stream, L1", "stream L1"),
        ("stream, L2", "stream L2"),
    )
    return _by_variant(results, rows, columns)
