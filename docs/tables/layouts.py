"""Tables of docs/layouts-today.md, and that of README.md which has some of the same rows."""

import pandas as pd

from docs.tables.cells import Select, Table, grid, number, one, percent, values, variants
from docs.tables.registry import table
from docs.tables.results import Run, cycles, microseconds, share

LAYOUTS = Run("layouts-today")
SETTINGS = ["Pentium II, Shore", "Pentium II", "Zen 4, Shore", "Zen 4, none", "Zen 4, next-line", "Zen 4, stream", "Zen 4, its own"]
EIGHT_HALF: Select = {"workload.attributes": 8, "workload.selectivity": 0.5}
CAUSES = ("busy", "dcache", "dtlb", "icache", "branch", "other")


def _layout(results: pd.DataFrame, setting: str, layout: str, of: Select) -> pd.Series:
    return one(results, of, {"variant": setting, "workload.layout": layout})


def _shares(row: pd.Series, causes: tuple[str, ...]) -> list[str]:
    return [f"{100 * share(row, cause):.1f}" for cause in causes]


def _gain(results: pd.DataFrame, setting: str, of: Select) -> str:
    """Return NSM's time over PAX's."""
    nsm, pax = (cycles(_layout(results, setting, layout, of)) for layout in ("nsm", "pax"))
    return number(nsm / pax, places=2)


@table("layouts", LAYOUTS)
def layouts(results: pd.DataFrame) -> Table:
    """Return cycles and nanoseconds of a record by setting and layout, and where they go."""
    made = [["", "layout", "cycles a record", "ns", *(f"{cause} %" for cause in CAUSES)]]
    for setting in SETTINGS:
        for layout in ("nsm", "pax", "dsm"):
            row = _layout(results, setting, layout, EIGHT_HALF)
            made.append([setting, layout, number(cycles(row)), number(1000 * microseconds(row)), *_shares(row, CAUSES)])
    return made


@table("layouts-in-short", LAYOUTS)
def layouts_in_short(results: pd.DataFrame) -> Table:
    """Return cycles of a record in NSM and PAX by some settings, and where they go."""
    causes = ("dcache", "branch")
    made = [["", "NSM, cycles", *(f"{cause} %" for cause in causes), "PAX, cycles", *(f"{cause} %" for cause in causes), "NSM over PAX"]]
    for setting in ("Pentium II, Shore", "Zen 4, Shore", "Zen 4, none", "Zen 4, next-line", "Zen 4, stream"):
        cells = [setting]
        for layout in ("nsm", "pax"):
            row = _layout(results, setting, layout, EIGHT_HALF)
            cells += [number(cycles(row)), *_shares(row, causes)]
        made.append([*cells, _gain(results, setting, EIGHT_HALF)])
    return made


@table("nsm-over-pax", LAYOUTS)
def nsm_over_pax(results: pd.DataFrame) -> Table:
    """Return NSM's time over PAX's in all settings."""
    columns = {
        f"{attributes} attributes, {percent(selectivity)}": {"workload.attributes": attributes, "workload.selectivity": selectivity}
        for attributes in (8, 32)
        for selectivity in (0.01, 0.5)
    }
    return [["", *columns], *([setting, *(_gain(results, setting, of) for of in columns.values())] for setting in SETTINGS)]


@table("sparse-attributes", Run("sparse-attributes"))
def sparse_attributes(results: pd.DataFrame) -> Table:
    """Return cycles of a record by how many values are missing, with mispredictions and lines from memory."""
    shares = variants("cannot be missing", "none is missing", "a tenth", "half", "nine tenths")
    rows = {"NSM": {"workload.layout": "nsm"}, "PAX": {"workload.layout": "pax"}}
    made = grid(results, rows, shares, lambda row: number(cycles(row), places=1))
    found = [[one(results, row, share) for row in rows.values()] for share in shares.values()]

    def both(pair: list[pd.Series]) -> str:
        shown = [number(row["branches_mispredicted"] / row["operations"], places=2) for row in pair]
        return ", ".join(dict.fromkeys(shown)) if float(shown[0]) else "0"

    made.append(["NSM over PAX", *(number(cycles(nsm) / cycles(pax), places=2) for nsm, pax in found)])
    made.append(["mispredicted branches per record, NSM and PAX", *map(both, found)])
    lines = (number(pax["bus_fills"] / pax["operations"], places=2) for _, pax in found)
    made.append(["lines from memory per record, PAX, up to half of them for nothing (NSM 1.3)", *lines])
    return made


@table("strings-that-grow", Run("strings-that-grow"))
def strings_that_grow(results: pd.DataFrame) -> Table:
    """Return cycles of a changed record by the longest new string, and how many records moved to another page."""
    rows = variants(
        ("NSM", "nsm"),
        ("PAX, all boundaries of a page set anew", "pax, all boundaries"),
        ("PAX, one boundary if that is enough (`full_minipage: borrow`)", "pax, one boundary"),
        ("DSM, through indexes", "dsm"),
    )
    longest = values("workload.updated_string_bytes", [20, 30, 60], lambda size: f"{size} bytes")

    def cell(row: pd.Series) -> str:
        changed = row["returned"]
        return f"{row['cycles'] / changed:,.0f}, {percent(row['moved_records'] / changed)}"

    return grid(results, rows, longest, cell)
