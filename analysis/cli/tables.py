"""Result tables for people."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

import pandas as pd

from memwalk.analysis.causes import CAUSES
from memwalk.analysis.cli import console
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.results import is_parameter, varying_in_variants
from memwalk.analysis.explain.programs import by_program, program_names
from memwalk.simcore.engines.native import Statistics

_Cells: TypeAlias = dict[str, list[Any]]

_OF_WORKLOAD = ("slowdown", "seconds", "seconds_alone", "cpu_seconds", "io_seconds", "io_requests")
"""What stands beside the columns of programs of the workload of a machine that they run beside."""


def unsteady(results: pd.DataFrame) -> list[str]:
    """Say of each row whose misses had not become steady when the measurement began that it is so."""
    if "warm_up_steady" not in results:
        return []
    given_up = results[results["warm_up_steady"].eq(False).fillna(value=False)]
    return [
        f"{row['variant'] or row['experiment']} [{row['point']}]: measured although misses were not steady after "
        f"{row['warm_up_operations']:,} operations, the longest warm-up that `auto` tries"
        for row in given_up.to_dict("records")
    ]


def uncharged_pages(rows: Iterable[Row], statistics: Mapping[str, Statistics]) -> list[str]:
    """Say if pages come into pools that have no frame for each of them, and no storage takes time for that: fewer frames look faster."""
    rows = list(rows)
    found = [row for row in rows if not row.point.storage and _lacks_frames(row.point.workload, statistics[row.point.id]["workload"])]
    if not found:
        return []
    return [
        f"warning: in {len(found):,} of {console.counted(len(rows), 'row')} pages come without a `storage`: that takes no time, and leaves "
        "the lines of their frames in the caches, so that fewer frames make a run faster; name a `storage`, or a frame for each page"
    ]


def _lacks_frames(workload: Mapping[str, Any], outcome: Mapping[str, Any]) -> bool:
    """Tell whether an index has pages that its pool, if it has one, has no frames for, and some of them came."""
    pages = outcome.get("leaf_pages", 0) + outcome.get("inner_pages", 0)
    return bool(0 < workload.get("pool_frames", 0) < pages and outcome.get("pages_read"))


def print_results(title: str, results: pd.DataFrame, clocks: Mapping[str, int]) -> None:
    """Print one line per point: what varies, and what was found; machines and storage in tables of their own.

    What follows from the variant is left out. ``clocks`` are those of the machines, in hertz by point: where they differ, cycles do not
    say which takes longer, and nanoseconds stand beside them.
    """
    varying = varying_in_variants(results)
    on_machine = results["cycles"].notna() if "cycles" in results else pd.Series(data=False, index=results.index)
    several = pd.Series([bool(program_names(row)) for row in results.to_dict("records")], index=results.index, dtype=bool)
    if several.any():
        _print_programs(title, results[several], varying)
    for rows, measured in ((results[on_machine], partial(_slots, clocks=clocks)), (results[~on_machine & ~several], _all_measured)):
        if rows.empty:
            continue
        cells: _Cells = {"variant": list(rows["variant"])}
        cells |= {name: [None if pd.isna(value) else value for value in rows[name]] for name in varying}
        cells |= measured(rows)
        console.print_table(title, list(cells), [list(line) for line in zip(*cells.values(), strict=True)])


def _print_programs(title: str, rows: pd.DataFrame, varying: list[str]) -> None:
    """Print one line per point and program, and one for all programs of a point, or for the workload of a machine that they run beside."""
    lines: list[dict[str, Any]] = []
    for row in rows.to_dict("records"):
        place = {"variant": row["variant"]} | {name: row[name] for name in varying}
        lines += [place | {"program": name} | columns for name, columns in by_program(row).items()]
        if _there(row.get("cycles")):
            lines.append(place | {"program": "workload"} | {name: row[name] for name in _OF_WORKLOAD if name in row})
        else:
            whole = {str(name): value for name, value in row.items() if not is_parameter(str(name)) and "." not in str(name)}
            lines.append(place | {"program": "all"} | whole)
    names = [name for name in dict.fromkeys(name for line in lines for name in line) if any(_there(line.get(name)) for line in lines)]
    columns = ["variant", *(name for name in names if name != "variant")]
    console.print_table(title, columns, [[line[name] if _there(line.get(name)) else None for name in columns] for line in lines])


def _there(value: Any) -> bool:
    return value is not None and not pd.isna(value) and value != 0


def _slots(rows: pd.DataFrame, clocks: Mapping[str, int]) -> _Cells:
    """Show the cycles per operation, a dash where there was none, and the share of slots by cause in percent.

    A cause that shorter lists count with another is left out where it would show 0.0 only.
    """
    cycles = rows["cycles"] / rows["operations"].where(rows["operations"] > 0)
    cells: _Cells = {"cycles/operation": _or_dashes(cycles)}
    hertz = rows["point"].map(clocks)
    if hertz.nunique() > 1:
        cells["ns/operation"] = _or_dashes(cycles / hertz * 1e9)
    for cause in (cause for cause in CAUSES if f"slots_{cause.name}" in rows):
        shares = [_percent(*pair) for pair in zip(rows[f"slots_{cause.name}"], rows["slots_total"], strict=True)]
        if not cause.within or any(share not in ("", "0.0") for share in shares):
            cells[f"{cause.name} %"] = shares
    return cells


def _or_dashes(values: pd.Series) -> list[Any]:
    return ["-" if pd.isna(value) else value for value in values]


def _all_measured(rows: pd.DataFrame) -> _Cells:
    """Show every column of workloads on storage that is not zero or missing everywhere."""
    names = [name for name in rows.columns if not is_parameter(name) and rows[name].fillna(0).any()]
    return {name: [None if pd.isna(value) else value for value in rows[name]] for name in names}


def _percent(slots: float, total: float) -> str:
    """Return a share in percent; nothing for a cause that the point's machine does not have."""
    return "" if pd.isna(slots) else f"{100 * slots / total:.1f}"
