"""`memwalk replay`: runs a trace file on a machine."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli import console
from analysis.experiments.settings import parse_set
from simcore.engines import native
from simcore.errors import UserError
from simcore.machine import Setting, load_machine, spec_error

app = typer.Typer(add_completion=False)


class Mode(StrEnum):
    """What a replay finds out."""

    TIMING = "timing"
    COUNTS = "counts"


@app.command(epilog="Example: memwalk replay search.parquet --machine thesis-simulator --set machine.memory.latency_cycles=1us")
def replay(
    trace: Annotated[Path, typer.Argument(help="Trace file; with --mode counts also a .npy of addresses.")],
    machine: Annotated[str, typer.Option(help="A machine's name, or a path to a machine file.")],
    mode: Annotated[Mode, typer.Option(help="Cycles and stalls, or hits and misses only, which is much faster.")] = Mode.TIMING,
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    json: console.Json = False,
) -> None:
    """Replay a trace on a machine: the same statistics as simulating its workload live, bit by bit.

    With --mode counts, the same hits, misses and write-backs without time; a line on its way counts as a hit.
    """
    console.warn_of_debug_build()
    settings = [_below_machine(text) for text in set_]
    loaded = load_machine(machine, settings)
    if mode is Mode.COUNTS:
        from analysis.cli.progress import events

        try:
            statistics = native.count(trace, loaded.native_json(), events())
        except native.SpecError as error:
            raise spec_error(error, loaded.source) from None
    else:
        statistics = native.replay(trace, loaded.native_json())
    if json:
        console.print_json(statistics)
        return
    if mode is Mode.COUNTS:
        _print_counts(f"{trace} on {machine}", statistics)
        return
    from analysis.experiments.results import flatten

    console.print_table(f"{trace} on {machine}", ["statistic", "value"], [[key, value] for key, value in flatten(statistics).items()])


def _print_counts(title: str, statistics: native.Statistics) -> None:
    """Print one line per cache, and one per phase and segment that asked for anything."""
    columns = ["accesses", "hits", "misses", "write_backs"]
    caches = [[cache["name"], *(cache[column] for column in columns)] for cache in statistics["caches"]]
    console.print_table(title, ["cache", *columns], caches)
    servers = [*(cache["name"] for cache in statistics["caches"]), "memory"]
    rows = [[row["phase"], row["segment"], *row["served"], sum(row["prefetched"])] for row in statistics["breakdown"]]
    console.print_table("lines by the level that served them", ["phase", "segment", *servers, "prefetched"], rows, numeric_from=2)


def _below_machine(text: str) -> Setting:
    setting = parse_set(text)
    if setting.route[0] != "machine" or len(setting.route) == 1:
        raise UserError(f"--set {text}: a replay takes paths below machine only, such as machine.memory.latency_cycles")
    return Setting(setting.route[1:], setting.value)
