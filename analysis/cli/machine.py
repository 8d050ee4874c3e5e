"""`memwalk machine`: shows machine files, and writes one for this computer."""

import io
import os
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from ruamel.yaml import YAML

from memwalk.analysis.cli import console
from memwalk.simcore.files import expect_new_file, write_atomically
from memwalk.simcore.machine import Machine, load_machine
from memwalk.simcore.yaml_source import lookup

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Show machine files, and write one for this computer.",
    epilog="Example: memwalk machine detect -o host.yaml",
)


@app.command(epilog="Example: memwalk machine show zen4-server")
def show(
    name: Annotated[str, typer.Argument(help="A machine's name, or a path to a machine file.")],
    json: console.Json = False,
) -> None:
    """Show every number of a machine with its source, and what follows from the numbers."""
    machine = load_machine(name)
    if json:
        console.print_json(_plain(machine))
        return
    numbers = machine.native()
    rows = [[path, lookup(numbers, path), source] for path, source in machine.sources.items()]
    console.print_table(f"{machine.name}: {machine.description}", ["number", "value", "source"], rows, numeric_from=3)
    typer.echo()
    console.print_table("What follows", ["fact", "value"], list(map(list, machine.derived().items())), numeric_from=2)
    if conversions := machine.conversions():
        typer.echo()
        console.print_table("Times in cycles", ["conversion"], [[conversion] for conversion in conversions])


@app.command(epilog="Example: memwalk machine detect -o host.yaml")
def detect(
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Machine file to write; printed if absent.")] = None,
    json: console.Json = False,
) -> None:
    """Write a machine file for this computer: caches, TLB and clock as the system says them, latencies as measured.

    Takes some ten seconds; leave the computer alone meanwhile. What cannot be detected is assumed, and says so.
    """
    if output is not None:
        expect_new_file(output)
    console.warn_of_build()
    text = detected()
    if output is not None:
        write_atomically(output, text.encode())
        console.note(f"wrote {output}; `memwalk machine show {_as_argument(output)}` shows it")
    if json:
        console.print_json(_plain(load_text(text, output.stem if output else "detected")))
    elif output is None:
        typer.echo(text, nl=False)


def detected() -> str:
    """Detect this computer and return its machine file, which is sure to load; notes go to stderr."""
    from memwalk.simcore.detect.host import look, machine_file, measure

    host = look()
    for note in host.notes:
        console.note(f"note: {note}")
    timings = measure(host, lambda what: console.note(f"measuring {what}"))
    content = io.StringIO()
    writer = YAML()
    writer.width = 120
    writer.dump(machine_file(host, timings), content)
    load_text(content.getvalue(), "detected")
    return content.getvalue()


def load_text(text: str, name: str) -> Machine:
    """Load a machine file that is not on disk."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(text)
        return load_machine(str(path))


def _plain(machine: Machine) -> dict[str, Any]:
    facts = {"sources": machine.sources, "derived": machine.derived(), "conversions": machine.conversions()}
    return {"machine": machine.native()} | facts


def _as_argument(path: Path) -> str:
    return quote(str(path) if os.sep in str(path) or path.suffix in (".yaml", ".yml") else f".{os.sep}{path}")
