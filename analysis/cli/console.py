"""What commands print: results to stdout, everything else to stderr."""

import logging
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from memwalk.simcore.errors import UserError
from memwalk.simcore.json_text import json_text

_UNLIMITED = 10_000
"""Characters, more than any table is wide."""
_NAMES = 40
"""Names of a list that are shown."""
_WIDTH = 80
"""Characters of a value that takes several lines."""

MOST = 2**63 - 1
"""The largest whole number that an option takes, unless it says otherwise: the simulator counts in 64 bits."""

out = Console()
err = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
"""The ``--json`` option of every command that has results."""
Sets = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a value, such as workload.keys=100000; paths of files are relative to the current folder; repeatable.",
    ),
]
"""The ``--set`` option."""
MachineSets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Override a number of the machine, such as machine.memory.latency_cycles=1us; repeatable."
    ),
]
"""The ``--set`` option of commands that have a machine and no experiment."""
Jobs = Annotated[int | None, typer.Option(min=1, max=MOST, help="Processes; all cores if absent.")]
"""The ``--jobs`` option of every command that simulates points."""
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler, whose workers simulate instead of processes here.")]
"""The ``--scheduler`` option of commands whose points may be simulated elsewhere."""


def refuse_both(jobs: int | None, scheduler: str | None) -> None:
    """Raise UserError for both of ``--jobs`` and ``--scheduler``."""
    if jobs is not None and scheduler is not None:
        raise UserError(f"--jobs {jobs} is for processes of this computer, and --scheduler {scheduler} has workers of its own; remove one")


def print_json(value: Any) -> None:
    """Print plain data as JSON to stdout; what is no finite number becomes null."""
    typer.echo(json_text(value, indent=1, ensure_ascii=False))


def error(message: str) -> None:
    """Print one line per mistake to stderr."""
    for line in message.splitlines():
        typer.echo(f"memwalk: error: {line}", err=True)


def note(message: str) -> None:
    """Print a line about the run to stderr."""
    typer.echo(f"memwalk: {message}", err=True)


def counted(number: int, thing: str) -> str:
    """Write how many of a thing there are, whose plural ends in s."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def note_results(folder: Path) -> None:
    """Say where results are, and what to run next."""
    note(f"results in {folder}; `memwalk explain {quote(str(folder))}` says where the time goes")


def log_to_stderr() -> None:
    """Send warnings of the library to stderr, one line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("memwalk: %(levelname)s: %(message)s"))
    logger = logging.getLogger("memwalk")
    logger.handlers = [handler]
    logger.propagate = False


def warn_of_build() -> None:
    """Say if the simulator is a debug build, whose results are right but slower (1.6 times on searches), or older than its sources."""
    from memwalk.simcore import stale_build
    from memwalk.simcore.engines import native

    if native.build_info()["profile"] == "debug":
        note("warning: debug build of the simulator, which is slower; build with `maturin develop --release`")
    if source := stale_build.newer_source():
        note(f"warning: {source} is newer than the simulator that is built; `make setup` builds it again")


def print_table(title: str, columns: list[str], rows: list[list[Any]], numeric_from: int = 1) -> None:
    """Print a table to stdout; columns from ``numeric_from`` on are right-aligned.

    Numbers and the names in the first column are never cut, however narrow the terminal; other text wraps there, and has
    all the width it wants when piped.
    """
    typer.echo(title)
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for index, column in enumerate(columns):
        right = index >= numeric_from
        whole = right or index == 0 or not out.is_terminal
        shown.add_column(Text(column), justify="right" if right else "left", no_wrap=whole, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(readable(value)) for value in row))  # as it stands: a name may hold brackets
    needed = Measurement.get(out, out.options.update(width=_UNLIMITED), shown)
    Console(width=max(out.width, needed.minimum) if out.is_terminal else needed.maximum).print(shown)


def print_fields(title: str, value: dict[str, Any], *, json: bool) -> None:
    """Print what is known of one thing: as JSON, or a line for each value with its dotted path."""
    if json:
        print_json(value)
    else:
        print_table(title, ["field", "value"], [[key, item] for key, item in _flat(value, "")], numeric_from=2)


def _flat(value: Any, path: str) -> list[tuple[str, Any]]:
    """List dotted paths and values; a list of names is one value, and so is every object of a list."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _flat(item, f"{path}.{key}" if path else key)]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        shown = value if len(value) <= _NAMES else [*value[:_NAMES], f"and {len(value) - _NAMES:,} more"]
        return [(path, "\n".join(wrap(readable(shown), _WIDTH)))]
    if isinstance(value, list):
        return [(f"{path}.{index}", item) for index, item in enumerate(value)]
    return [(path, value)]


def readable(value: Any) -> str:
    """Write a value for people: thousands separated, three significant digits after the point at most; lists with commas."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {readable(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(readable(item) for item in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
