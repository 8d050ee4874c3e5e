"""`memwalk trace`: records, imports and exports trace files, and looks at them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console, trace_import
from memwalk.analysis.cli.trace_export import export
from memwalk.analysis.experiments.canonical import canonical
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import refuse_storage, varying_parameters
from memwalk.analysis.experiments.resolve import resolve_workload
from memwalk.analysis.experiments.schema import FULL_SCALE, load_experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file, make_folder, write_atomically
from memwalk.simcore.machine import Setting, load_machine
from memwalk.simcore.paths import recorder_files
from memwalk.simcore.yaml_source import Place

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Record, import or export trace files, and look at them.",
    epilog="Example: memwalk trace check search.parquet",
)

AUTO = "auto"

Trace = Annotated[Path, typer.Argument(help="Trace file.")]

app.command("import", epilog=trace_import.EXAMPLE)(trace_import.import_trace)


@app.command(
    epilog="Example: memwalk trace record configs/experiments/search-tree-size.yaml --variant B+ "
    "--set workload.keys=10000 --machine thesis-simulator -o search.parquet"
)
def record(
    *,
    output: Annotated[Path, typer.Option("--out", "-o", help="Trace file to write.")],
    file: Annotated[Path | None, typer.Argument(help="Experiment file; without one, --set gives the whole workload.")] = None,
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    variant: Annotated[str | None, typer.Option(help="Which variant of the experiment.")] = None,
    scale: Annotated[str | None, typer.Option(help=f"One of the experiment's scales; {FULL_SCALE} if absent.")] = None,
    machine: Annotated[
        str | None, typer.Option(help="Machine on which `warm_up: auto` is found; the trace then has a warm-up of that length.")
    ] = None,
    dbms: Annotated[str | None, typer.Option(help="The machine's host DBMS: a profile's name, or a path to a profile.")] = None,
    json: console.Json = False,
) -> None:
    """Record what one workload does into a trace file (Parquet).

    An experiment must come down to one workload: choose it with --variant and --set. Where it says `warm_up: auto`, name a
    --machine, or set a number of operations: --set workload.warm_up=10000.
    """
    settings = [parse_set(text) for text in set_]
    workload = _given(settings, variant, scale) if file is None else _only(file, settings, variant, scale or FULL_SCALE)
    expect_new_file(output, makes_folder=False)
    console.warn_of_build()
    info = native.record(_with_known_warm_up(workload, machine, dbms), output)
    console.print_fields(f"recorded {output}", info, json=json)


@app.command(epilog="Example: memwalk trace recorder .")
def recorder(folder: Annotated[Path, typer.Argument(help="Where to write them; a folder that is not there is made.")]) -> None:
    """Write the recorder for programs of your own: a header, its source, and memwalk_wrap.rsp, which are options of the linker.

    Compilers that call it before each load and store, gcc, clang and rustc, need two options for that. docs/your-own-program.md has
    them, and an example.
    """
    make_folder(folder)
    for file in recorder_files():
        write_atomically(folder / file.name, file.read_bytes())
        typer.echo(folder / file.name)


@app.command(epilog="Example: memwalk trace info search.parquet --json")
def info(trace: Trace, json: console.Json = False) -> None:
    """Show where a trace comes from and how much it holds."""
    console.print_fields(str(trace), native.trace_info(trace), json=json)


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
    console.print_table(str(trace), columns, [[event.get(column) for column in columns] for event in events], numeric_from=0)


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


def _given(settings: Sequence[Setting], variant: str | None, scale: str | None) -> dict[str, Any]:
    """Return the workload that is given by ``--set`` alone. Raises UserError for an option that chooses in an experiment."""
    for option, chosen in (("--variant", variant), ("--scale", scale)):
        if chosen is not None:
            raise UserError(f"{option} {chosen}: chooses in an experiment, and there is none; name its file, or remove this")
    workload = resolve_workload(settings, Place("--set"))
    if workload.kernel is not None:
        raise UserError(f"--set: kernel {workload.values['kernel']} runs on storage and has no memory accesses to record")
    return workload.values


def _only(file: Path, settings: Sequence[Setting], variant: str | None, scale: str) -> dict[str, Any]:
    """Return the one workload that the experiment comes down to."""
    experiment = load_experiment(file)
    rows = expand(experiment, scale, settings)
    refuse_storage((row.point for row in rows), str(file))
    if variant is not None:
        if variant not in experiment.body.variants:
            raise UserError(f"{file}: no variant `{variant}`; it has {', '.join(experiment.body.variants) or 'none'}")
        rows = [row for row in rows if row.variant == variant]
    workloads = {canonical(row.point.workload): row.point.workload for row in rows}
    if len(workloads) > 1:
        varying = [name for name in varying_parameters(rows) if name.startswith("workload.")]
        choice = f"choose one with --variant or --set ({', '.join(varying)})"
        raise UserError(f"{file}: comes down to {len(workloads)} workloads; {choice}")
    if any(row.point.storage for row in rows):
        console.note("a trace has no storage: who replays it has all pages in memory")
    if any(row.point.beside for row in rows):
        console.note("the trace is of the workload by itself: `memwalk replay` runs traces of several beside each other")
    return next(iter(workloads.values()))


def _with_known_warm_up(workload: dict[str, Any], machine: str | None, dbms: str | None) -> dict[str, Any]:
    """Return the workload with a warm-up of some length, found on the machine if it is `auto`."""
    if workload.get("warm_up") != AUTO:
        for option, given in (("--machine", machine), ("--dbms", dbms)):
            if given is not None:
                raise UserError(f"{option} {given}: has no effect, for the workload does not say `warm_up: {AUTO}`; remove it")
        return workload
    if machine is None:
        how = "--set workload.warm_up=10000, --set workload.caches=empty, or the machine on which it is found: --machine thesis-simulator"
        raise UserError(f"workload.warm_up: `{AUTO}` depends on the machine, and a trace has none; give a number or a machine: {how}")
    return native.warmed_up(workload, load_machine(machine, dbms=dbms).native())
