"""Result tables for people."""

import pandas as pd

from analysis.breakdown import varying_parameters
from analysis.cli import console

_CAUSES = ("busy", "dcache", "dtlb", "icache", "branch", "other")


def print_results(title: str, results: pd.DataFrame) -> None:
    """Print one line per point: what varies, the cycles per operation, and the share of slots by cause (percent).

    What follows from the variant is left out.
    """
    within = {name for _, rows in results.groupby("variant") for name in varying_parameters(rows)}
    varying = [name for name in varying_parameters(results) if name in within]
    causes = [cause for cause in _CAUSES if f"slots_{cause}" in results]
    cells = []
    for _, row in results.iterrows():
        shares = [_percent(row[f"slots_{cause}"], row["slots_total"]) for cause in causes]
        parameters = [None if pd.isna(row[name]) else row[name] for name in varying]
        cells.append([row["variant"], *parameters, float(row["cycles"] / row["operations"]), *shares])
    columns = ["variant", *varying, "cycles/operation", *(f"{cause} %" for cause in causes)]
    console.print_table(title, columns, cells)


def _percent(slots: float, total: float) -> str:
    """Return a share in percent; nothing for a cause that the point's machine does not have."""
    return "" if pd.isna(slots) else f"{100 * slots / total:.1f}"
