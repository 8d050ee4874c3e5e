"""`memwalk trace`: records, imports and exports trace files, and looks at them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console, trace_import, trace_record
from memwalk.analysis.cli.trace_export import export
from memwalk.simcore.engines import native
from memwalk.simcore.files import make_folder, write_atomically
from memwalk.simcore.paths import recorder_files

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Record, import or export trace files, and look at them.",
    epilog="Example: memwalk trace check search.parquet",
)

Trace = Annotated[Path, typer.Argument(help="Trace file.")]

_AT_ADDRESSES = frozenset(
    (
        *("load", "store", "store_nta", "exchange", "prefetch", "prefetch_nta", "fetch", "page_arrival"),
        *("latch", "unlatch", "share_latch", "await_latch"),
    )
)
"""Kinds of events that are somewhere in memory; others have a page, a call, a phase or the way of a branch in the place of an address."""

app.command("import", epilog=trace_import.EXAMPLE)(trace_import.import_trace)
app.command(epilog=trace_record.EXAMPLE)(trace_record.record)


@app.command(epilog="Example: memwalk trace recorder .")
def recorder(folder: Annotated[Path, typer.Argument(help="Where to write them; a folder that is not there is made.")]) -> None:
    """Write the recorder for programs of your own: headers, its source, and files of options.

    memwalk_compile.rsp has those of gcc, g++ and clang, memwalk_wrap.rsp those of the linker. docs/your-own-program.md has those of
    rustc, and examples.
    """
    make_folder(folder)
    for file in recorder_files():
        write_atomically(folder / file.name, file.read_bytes())
        typer.echo(folder / file.name)


@app.command(epilog="Example: memwalk trace info search.parquet --json")
def info(trace: Trace, json: console.Json = False) -> None:
    """Show where a trace comes from and how much it holds."""
    found = native.trace_info(trace)
    if not json:
        segments = [segment | {"base": hex(segment["base"])} for segment in found["layout"]["segments"]]
        found = found | {"layout": found["layout"] | {"segments": segments}}
    console.print_fields(str(trace), found, json=json)


@app.command(epilog="Example: memwalk trace head search.parquet -n 20")
def head(
    trace: Trace,
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=console.MOST, help="How many events.")] = 10,
    json: console.Json = False,
) -> None:
    """Show the first events of a trace."""
    phases = native.trace_info(trace)["layout"]["phases"]
    events = [_with_phase(event, phases) for event in native.trace_head(trace, count)]
    if json:
        console.print_json(events)
        return
    columns = list(dict.fromkeys(key for event in events for key in event))
    columns.sort(key=lambda column: column != "thread")
    rows = [event | ({"address": hex(event["address"])} if event["kind"] in _AT_ADDRESSES else {}) for event in events]
    console.print_table(str(trace), columns, [[row.get(column) for column in columns] for row in rows], numeric_from=0)


@app.command(epilog="Example: memwalk trace check search.parquet")
def check(trace: Trace, json: console.Json = False) -> None:
    """Read all of a trace and validate every value in it."""
    found = native.trace_check(trace)
    if not json:
        found.pop("info")  # `memwalk trace info` shows it
    console.print_fields(f"{trace}: whole and valid", found, json=json)


app.command(epilog="Example: memwalk trace export search.parquet --format gem5-elastic --machine thesis-simulator -o search.elastic.gz")(
    export
)


def _with_phase(event: dict[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    """Return an event that is no instruction without a place in the code, and with the phase that it opens, if it does."""
    if event["kind"] == "mark":
        return event | {"site": None, "phase": phases[event["address"]]}
    return event | {"site": None} if event["kind"] in ("flush", "measure") else event
