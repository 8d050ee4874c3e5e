"""`memwalk replay`: runs trace files on a machine."""

from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.cli import console
from analysis.cli.event_progress import event_progress
from analysis.experiments.settings import parse_set
from simcore.engines import native
from simcore.errors import UserError
from simcore.machine import Setting, load_machine

app = typer.Typer(add_completion=False)

AUTO = "auto"
"""The sampling plan that follows from the trace's length."""


@app.command(epilog="Example: memwalk replay search.parquet --machine thesis-simulator --set machine.memory.latency_cycles=1us")
def replay(
    traces: Annotated[list[Path], typer.Argument(help="Trace file, made by `memwalk trace`; several run on one core each.")],
    machine: Annotated[str, typer.Option(help="A machine's name, or a path to a machine file.")],
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    sample: Annotated[
        str | None,
        typer.Option(metavar="PLAN", help="Measure samples only: `auto`, or UNIT:WARMUP:PERIOD in instructions, such as 1000:2000:100000."),
    ] = None,
    json: console.Json = False,
) -> None:
    """Replay a trace on a machine: the same statistics as simulating its workload live, bit by bit."""
    console.warn_of_debug_build()
    settings = [_below_machine(text) for text in set_]
    spec = load_machine(machine, settings).native_json()
    plan = _plan(sample)
    total = sum(native.trace_info(trace)["summary"]["events"] for trace in traces)
    with event_progress("replaying", total) as progress:
        if len(traces) > 1:
            if sample is not None:
                raise UserError("--sample takes one trace; leave it out to run several on one core each")
            statistics = native.replay_cores(traces, spec, progress)
        elif sample is not None:
            statistics = native.replay_sampled(traces[0], spec, plan, progress)
        else:
            statistics = native.replay(traces[0], spec, progress)
    if json:
        console.print_json(statistics)
        return
    _show(f"{', '.join(map(str, traces))} on {machine}", statistics)


def _show(title: str, statistics: dict[str, Any]) -> None:
    from analysis.experiments.results import flatten

    if "estimate" in statistics:
        _show_estimate(title, statistics["estimate"])
        title, statistics = "counts of the whole run; time of what was run in full", statistics["statistics"]
    if "cores" not in statistics:
        console.print_table(title, ["statistic", "value"], [[key, value] for key, value in flatten(statistics).items()])
        return
    cores = [flatten(core) for core in statistics["cores"]]
    names = list(dict.fromkeys(key for core in cores for key in core))
    columns = ["statistic", *(f"core {number}" for number in range(len(cores)))]
    console.print_table(f"{title}: {statistics['cycles']} cycles", columns, [[name, *(core.get(name) for core in cores)] for name in names])


def _show_estimate(title: str, estimate: dict[str, Any]) -> None:
    low, middle, high = estimate["cycles"]
    rows = [
        ["cycles, estimated", f"{middle:.0f}"],
        [f"{estimate['confidence_percent']}% interval", f"{low:.0f} to {high:.0f} (±{(high - middle) / max(middle, 1):.2%})"],
        ["cycles per instruction", f"{estimate['cycles_per_instruction']:.4f}"],
        ["coefficient of variation", f"{estimate['coefficient_of_variation']:.3f}"],
        ["units measured", estimate["units"]],
        ["instructions measured", f"{estimate['measured_instructions']} of {estimate['instructions']}"],
    ]
    console.print_table(title, ["sample", "value"], rows)


def _plan(text: str | None) -> dict[str, int] | None:
    """Read UNIT:WARMUP:PERIOD; None leaves the choice to the simulator."""
    if text in (None, AUTO):
        return None
    parts = str(text).split(":")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise UserError(f"--sample {text}: give `{AUTO}` or UNIT:WARMUP:PERIOD in instructions, such as 1000:2000:100000")
    unit, warmup, period = map(int, parts)
    if unit < 1 or period < unit + warmup:
        raise UserError(f"--sample {text}: the period is at least unit and warm-up together, and the unit at least 1")
    return {"unit": unit, "warmup": warmup, "period": period}


def _below_machine(text: str) -> Setting:
    setting = parse_set(text)
    if setting.route[0] != "machine" or len(setting.route) == 1:
        raise UserError(f"--set {text}: a replay takes paths below machine only, such as machine.memory.latency_cycles")
    return Setting(setting.route[1:], setting.value)
