"""`memwalk trace export`: writes a trace file in another simulator's format."""

from pathlib import Path
from typing import Annotated

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.trace_formats import at_export, told_at_export
from memwalk.analysis.experiments.parameters import either
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file
from memwalk.simcore.machine import load_machine
from memwalk.simcore.validation import nearest

_NAMES = told_at_export(entry["name"] for entry in native.export_formats())
"""Of all formats."""
COMPRESSED = (".gz", ".xz")
"""Ends of names whose files are compressed."""
PROMISED = (".bz2", ".br", ".lz4", ".lzma", ".snappy", ".z", ".zip", ".zst", ".zstd", ".7z")
"""Ends of names that promise what is not done."""


def export(
    *,
    trace: Annotated[Path, typer.Argument(help="Trace file.")],
    format_: Annotated[str, typer.Option("--format", help=f"{either(_NAMES)}.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="File to write; .gz and .xz are compressed.")],
    machine: Annotated[
        str | None, typer.Option(help="Machine whose line size and clock the file is for; the gem5 formats need one.")
    ] = None,
    json: console.Json = False,
) -> None:
    """Write a trace in the format of another simulator, and say what that format loses."""
    formats = {entry["name"]: entry for entry in native.export_formats()}
    format_ = at_export(format_, formats)
    if format_ not in formats:
        raise UserError(f"--format {format_}: {nearest(format_, _NAMES)}")
    if machine is None and formats[format_]["needs_machine"]:
        raise UserError(f"--format {format_}: holds the times of a machine; name one with --machine")
    _refuse_promise(output)
    for file in native.export_files(format_, output):
        expect_new_file(file, makes_folder=False)
    console.warn_of_build()
    spec = None if machine is None else load_machine(machine).native()
    with event_progress("exporting", native.trace_info(trace)["summary"]["events"]) as progress:
        done = native.export_trace(trace, format_, output, spec, progress)
    if json:
        console.print_json(done)
        return
    rows = [["files", "\n".join(done["files"])], *([key, done[key]] for key in ("events", "instructions", "records"))]
    if done["warm_up_instructions"]:
        rows.append(["of these before the measurement: instructions", done["warm_up_instructions"]])
    rows += [[f"left out: {count['kind']}", count["events"]] for count in done["left_out"]]
    rows += [["lost", phrase] for phrase in done["lost"]]
    console.print_table(f"exported {trace} as {format_}", ["field", "value"], rows, numeric_from=2)


def _refuse_promise(output: Path) -> None:
    """Raise UserError for a name by which readers would take the file to be compressed, which it would not be."""
    suffix = output.suffix
    if suffix.lower() in (*COMPRESSED, *PROMISED) and suffix not in COMPRESSED:
        raise UserError(f"{output}: would not be compressed as {suffix} says; end the name in {either(list(COMPRESSED))}, or in neither")
