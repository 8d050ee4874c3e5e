"""`memwalk trace import`: makes trace files from other tools' traces."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.trace_formats import at_import
from memwalk.analysis.traces.basic_blocks import block_instructions
from memwalk.simcore import units
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file
from memwalk.simcore.validation import nearest

EXAMPLE = "Example: memwalk trace import prog.lackey --format lackey -o prog.parquet"

_AUTO = "auto"
_LEAST, _MOST = native.INSTRUCTIONS_PER_ACCESS
_LONGEST_ADDRESS = 80
"""Characters: 64 binary digits, and some between them."""


class Instructions(StrEnum):
    """What becomes of the instructions that a foreign trace lists."""

    COUNT = "count"
    FETCH = "fetch"
    DROP = "drop"


def import_trace(
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="The other tool's trace, also .gz, .xz or .zst; - reads standard input. Several are the threads of one program.",
        ),
    ],
    output: Annotated[Path, typer.Option("--out", "-o", help="Trace file to write.")],
    format_: Annotated[str, typer.Option("--format", help="The format's name (docs/trace-formats.md lists them), or auto.")] = _AUTO,
    instructions: Annotated[
        Instructions, typer.Option(help="Count instructions, also tell the instruction cache of them, or leave them out.")
    ] = Instructions.COUNT,
    per_access: Annotated[
        float | None,
        typer.Option(
            "--instructions-per-access",
            min=_LEAST,
            max=_MOST,
            metavar="N",
            help="Instructions for each access, that included, as the program has them on average, where the format does not list them.",
        ),
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option(help="The program that was recorded: its basic blocks say how many instructions there are, as objdump lists them."),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="For --format regex: groups address or hex_address, and kind, size, pc."),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the addresses in CSV or Parquet.")] = None,
    segment: Annotated[
        list[str],
        typer.Option(metavar="NAME=BASE:SIZE", help="Address range to tell apart in results, such as heap=0x4a00000:64MiB; repeatable."),
    ] = [],  # noqa: B006 (Typer copies it)
    json: console.Json = False,
) -> None:
    """Make a trace file from another tool's trace, and say what that trace does not tell.

    Of several threads each has a core of its own when the trace is replayed. All begin at the same time, but those of recordings where the
    program has begun them. They wait for each other where the program has said `memwalk barrier`.
    """
    names = [_AUTO, *(about["name"] for about in native.import_formats())]
    format_ = at_import(format_, names)
    if format_ not in names:
        raise UserError(f"--format {format_}: no such format; {nearest(format_, names)}")
    expect_new_file(output, makes_folder=False)
    if program is not None and (per_access is not None or instructions is Instructions.DROP):
        raise UserError("--program: counts the instructions; leave --instructions-per-access and --instructions drop out")
    options = {
        "format": format_,
        "instructions": instructions.value,
        "instructions_per_access": per_access,
        "blocks": None if program is None else block_instructions(program),
        "pattern": pattern,
        "column": column,
        "segments": [_segment(text) for text in segment],
    }
    console.warn_of_build()
    with event_progress("importing", None) as progress:
        report = native.import_trace(files, output, options, progress)
    for warning in report["warnings"]:
        console.note(f"warning: {warning}")
    if json:
        console.print_json(report)
        return
    rows = [[key, "; ".join(value) if key in ("lost", "warnings") else value] for key, value in report.items()]
    console.print_table(f"imported {output}", ["what", "value"], rows)


def _segment(text: str) -> dict[str, Any]:
    """Read ``NAME=BASE:SIZE``."""
    name, _, place = text.rpartition("=")
    base, _, size = place.partition(":")
    try:
        if not name:
            raise ValueError("the name is missing")
        return {"name": name, "base": _address(base), "size_bytes": units.to_bytes(size)}
    except ValueError as error:
        raise UserError(f"--segment {text}: {error}; write NAME=BASE:SIZE, such as heap=0x4a00000:64MiB") from None


def _address(text: str) -> int:
    try:
        address = int(text[:_LONGEST_ADDRESS], 0)
    except ValueError:
        address = -1
    if not 0 <= address < 2**64:
        raise ValueError(f"`{text[:_LONGEST_ADDRESS]}` is no address from 0 to 0xffffffffffffffff")
    return address
