"""`memwalk curve`: miss ratio by cache size, from one pass over a trace."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.sizes import bytes_of, each_once
from memwalk.analysis.figures.image_kinds import IMAGES
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine
from memwalk.simcore.units import in_units

if TYPE_CHECKING:
    import pandas as pd

    from memwalk.analysis.cli.results_folder import ResultsFolder

app = typer.Typer(add_completion=False)

_TABLES = ("curve", "curve-sample", "curve-exact", "classes")
_FILES = (*(f"{name}.{kind}" for name in _TABLES for kind in ("parquet", "csv")), *(f"curve.{kind}" for kind in IMAGES))
"""What a folder of results may have."""


@app.command(epilog="Example: memwalk curve search.parquet --sizes 16KiB,256KiB,2MiB --classify thesis-simulator -o out/curve")
def curve(
    trace: Annotated[Path, typer.Argument(help="Trace file, or a .npy of byte addresses.")],
    *,
    line: Annotated[int, typer.Option(min=2, max=1 << 30, help="Bytes per cache line.")] = 64,
    sets: Annotated[
        int, typer.Option(min=1, max=1 << 24, help="Sets of every cache, which then differ in ways; 1 is full associativity.")
    ] = 1,
    sizes: Annotated[str | None, typer.Option(help="Cache sizes, such as 16KiB,2MiB; several per octave if absent.")] = None,
    shards: Annotated[
        float | None, typer.Option(metavar="RATE", min=1e-10, max=1, help="Estimate from this share of the lines, such as 0.01.")
    ] = None,
    shards_lines: Annotated[
        int | None, typer.Option(metavar="N", min=8, max=console.MOST, help="Estimate from so many lines at most.")
    ] = None,
    against_exact: Annotated[bool, typer.Option("--against-exact", help="Compare the estimate with the exact curve.")] = False,
    classify: Annotated[str | None, typer.Option(metavar="MACHINE", help="Classify the misses of each of its caches.")] = None,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for tables (Parquet, CSV) and figure.")] = None,
    json: console.Json = False,
) -> None:
    """Count the misses of LRU caches of every size in one pass: exactly, or estimated from a sample (SHARDS).

    Loads, stores and software prefetches count alike, line by line, and each cache sees them all. --classify tells
    compulsory, capacity and conflict misses apart, and the hits spared, which full associativity would have missed.
    """
    if shards is not None and shards_lines is not None:
        raise UserError("--shards and --shards-lines: give one of them, the share of the lines or their number")
    samples = shards is not None or shards_lines is not None
    if against_exact and not samples:
        raise UserError("--against-exact compares an estimate; add --shards or --shards-lines")
    from memwalk.analysis.capacities import Geometry
    from memwalk.analysis.traces import curves
    from memwalk.analysis.traces.facts import DIFFERS, NPY, TraceFacts

    console.warn_of_build()
    geometry = Geometry(line, sets)
    chosen = None if sizes is None else list(each_once("--sizes", sizes, partial(bytes_of, "--sizes")))
    machine = None if classify is None else load_machine(classify).native()
    options = {"line": line, "sets": sets, "sizes": chosen, "shards": shards, "shards_lines": shards_lines, "exact": against_exact}
    folder = None if output is None else _claim(output, trace, options, machine)
    tables: dict[str, pd.DataFrame] = {}
    try:
        if samples:
            with event_progress("sampling", None) as progress:
                tables["sample"] = curves.sampled(trace, geometry, chosen, rate=shards, lines=shards_lines, progress=progress)
        if against_exact or not samples:
            compared = tables["sample"]["capacity_bytes"].tolist() if samples else chosen
            with event_progress("counting", None) as progress:
                tables["exact"] = curves.exact(trace, geometry, compared, progress)
    except native.SpecError as error:
        path, message = error.args
        raise UserError(f"--{path}: {message}") from None
    classes = None if machine is None else _classes(trace, machine)
    result: dict[str, Any] = {"trace": str(trace), "line_bytes": line, "sets": sets}
    if trace.suffix != NPY and (in_turn := TraceFacts.of(trace).in_turn):
        result[DIFFERS] = [in_turn]
    result |= {name: table.to_dict("records") for name, table in tables.items()}
    if against_exact:
        off = (tables["sample"]["miss_ratio"] - tables["exact"]["miss_ratio"]).abs()
        result["error"] = {"mean_absolute": float(off.mean()), "largest": float(off.max())}
    if classes is not None:
        result["classes"] = classes.to_dict("records")
    if folder is not None:
        _write(folder, trace, tables, classes)
    if json:
        console.print_json(result)
    else:
        _print(result, every_row=chosen is not None)


def _claim(path: Path, trace: Path, options: dict[str, Any], machine: dict[str, Any] | None) -> "ResultsFolder":
    """Make sure of a folder for these curves, and for the classes of misses in a machine's caches if there is one."""
    from memwalk.analysis.cli.results_folder import ResultsFolder

    return ResultsFolder.claim(path, _FILES, ("curve", trace, options), machine=machine)


def _classes(trace: Path, machine: dict[str, Any]) -> "pd.DataFrame":
    from memwalk.analysis.traces import curves

    with event_progress("classifying", None) as progress:
        return curves.classes(trace, machine, progress)


def _write(folder: "ResultsFolder", trace: Path, tables: "dict[str, pd.DataFrame]", classes: "pd.DataFrame | None") -> None:
    """Write every table as Parquet and CSV, and the figure as PNG and SVG."""
    from memwalk.analysis.experiments.results import parquet_bytes
    from memwalk.analysis.figures.curve import draw_curves
    from memwalk.analysis.figures.draw import image

    named = {f"curve-{name}" if len(tables) > 1 else "curve": table for name, table in tables.items()}
    if classes is not None:
        named["classes"] = classes
    files: dict[str, bytes] = {}
    for name, table in named.items():
        files |= {f"{name}.parquet": parquet_bytes(table), f"{name}.csv": table.to_csv(index=False).encode()}
    figure = draw_curves(trace.name, tables)
    folder.write(files | {f"curve.{kind}": image(figure, kind) for kind in IMAGES})
    console.note(f"tables and figure in {folder.path}")


def _print(result: dict[str, Any], *, every_row: bool) -> None:
    """Print the curves, at powers of two if nobody chose the sizes, and the classes."""
    from memwalk.analysis.cli.replay_tables import print_differences

    for name in ("sample", "exact"):
        if name in result:
            rows = [row for row in result[name] if every_row or row["ways"] & (row["ways"] - 1) == 0] or result[name]
            columns = [column for column in rows[0] if column != "capacity_bytes"]
            cells = [[in_units(row["capacity_bytes"]), *(row[column] for column in columns)] for row in rows]
            console.print_table(f"{result['trace']}, {name}", ["capacity", *columns], cells)
    if "error" in result:
        console.print_table(
            "error of the sampled miss ratio", ["measure", "value"], [[key, value] for key, value in result["error"].items()]
        )
    if "classes" in result:
        columns = list(result["classes"][0]) if result["classes"] else []
        cells = [[row[column] for column in columns] for row in result["classes"]]
        console.print_table("misses by cause", columns, cells, numeric_from=2)
    print_differences(result)
