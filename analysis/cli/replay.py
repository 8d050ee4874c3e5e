"""`memwalk replay`: runs a trace file on a machine."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli import console
from analysis.cli.replay_gem5 import replay_in_gem5
from analysis.experiments.settings import parse_set
from simcore.engines import native
from simcore.errors import UserError
from simcore.machine import Setting, load_machine

app = typer.Typer(add_completion=False)


class Engine(StrEnum):
    """Who replays the trace."""

    NATIVE = "native"
    GEM5 = "gem5"


@app.command(epilog="Example: memwalk replay search.parquet --machine thesis-simulator --set machine.memory.latency_cycles=1us")
def replay(
    *,
    trace: Annotated[Path, typer.Argument(help="Trace file, made by `memwalk trace record`.")],
    machine: Annotated[str, typer.Option(help="A machine's name, or a path to a machine file.")],
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    engine: Annotated[Engine, typer.Option(help="gem5 replays the trace in gem5 too and shows its numbers beside ours.")] = Engine.NATIVE,
    gem5: Annotated[Path | None, typer.Option(help="The program gem5.opt, for --engine gem5.")] = None,
    gem5_folder: Annotated[Path | None, typer.Option(help="Keep what goes to gem5 and comes from it here.")] = None,
    json: console.Json = False,
) -> None:
    """Replay a trace on a machine: the same statistics as simulating its workload live, bit by bit."""
    console.warn_of_debug_build()
    settings = [_below_machine(text) for text in set_]
    spec = load_machine(machine, settings).native_json()
    if engine is Engine.GEM5:
        replay_in_gem5(trace, spec, gem5, gem5_folder, json=json)
        return
    statistics = native.replay(trace, spec)
    if json:
        console.print_json(statistics)
        return
    from analysis.experiments.results import flatten

    console.print_table(f"{trace} on {machine}", ["statistic", "value"], [[key, value] for key, value in flatten(statistics).items()])


def _below_machine(text: str) -> Setting:
    setting = parse_set(text)
    if setting.route[0] != "machine" or len(setting.route) == 1:
        raise UserError(f"--set {text}: a replay takes paths below machine only, such as machine.memory.latency_cycles")
    return Setting(setting.route[1:], setting.value)
