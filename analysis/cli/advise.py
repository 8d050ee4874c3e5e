"""`memwalk advise`: which layout suits a table and its queries, which join two relations, and which index a machine and its disks."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memwalk.analysis.cli import advise_index, advise_join, console

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Advise on how to store a table, how to join two, or how to index one.",
    epilog=advise_join.EXAMPLE,
)


app.command("join", epilog=advise_join.EXAMPLE)(advise_join.join)
app.command("index", epilog=advise_index.EXAMPLE)(advise_index.index)


@app.command(
    epilog="Example: memwalk advise layout --schema configs/advice/readings.yaml --workload configs/advice/few-columns.yaml"
    " --machine pentium4-2400 --dbms shore-pentium4 --storage raid0-6-disks"
)
def layout(
    *,
    schema: Annotated[Path, typer.Option(help="Table (YAML).")],
    workload: Annotated[Path, typer.Option(help="Queries over it (YAML).")],
    machine: Annotated[str, typer.Option(help="A machine's name or path.")],
    dbms: Annotated[str, typer.Option(help="The DBMS that scans: a profile's name or path.")] = "compiled",
    storage: Annotated[str | None, typer.Option(help="A storage device's name or path; pages in memory if absent.")] = None,
    sample: Annotated[int, typer.Option(min=1000, max=1 << 31, help="Records simulated; the rest is scaled up.")] = 100_000,
    json: console.Json = False,
) -> None:
    """Rank the layouts of a table by simulated and by predicted cost, and say why.

    Seconds are for all queries, each taken as often as its weight says. docs/advise.md says what is predicted.
    """
    from memwalk.analysis.advice.layouts.files import load_task
    from memwalk.analysis.advice.layouts.rank import advise, reasons
    from memwalk.analysis.advice.layouts.simulate import Platform
    from memwalk.simcore.errors import UserError
    from memwalk.simcore.machine import load_machine
    from memwalk.simcore.storage import load_device

    task = load_task(schema, workload)
    platform = Platform(load_machine(machine, dbms=dbms).native(), load_device(storage) if storage else None)
    if "nsm" not in platform.layouts():
        raise UserError(f"--dbms {dbms}: scans no layout; name one with the calls of docs/advise.md, such as compiled")
    console.warn_of_build()
    ranked = advise(task, platform, sample, lambda what: console.note(f"simulating {what}"))
    if json:
        console.print_json({"table": task.schema.name, "layouts": [asdict(one) for one in ranked], "reasons": reasons(ranked)})
        return
    parts = {
        "simulated\ntotal": [one.simulated_seconds for one in ranked],
        "simulated\nI/O": [one.io_seconds for one in ranked],
        "simulated\nprocessor": [one.processor_seconds for one in ranked],
        "predicted\ntotal": [one.predicted_seconds for one in ranked],
        "predicted\nI/O": [one.predicted_io_seconds for one in ranked],
        "predicted\niteration": [one.iteration_seconds for one in ranked],
        "predicted\ntuples": [one.reconstruction_seconds for one in ranked],
        "predicted\nlines": [one.predicted_waiting_seconds for one in ranked],
        "predicted\nMB read": [one.megabytes_read for one in ranked],
        "lines per\nrecord": [one.lines_per_record for one in ranked],
    }
    if storage is None:
        parts = {name: values for name, values in parts.items() if not name.endswith(("I/O", "MB read"))}
    lines = [[one.layout, *row] for one, row in zip(ranked, zip(*parts.values(), strict=True), strict=True)]
    queries = "1 query" if len(task.workload.queries) == 1 else f"{len(task.workload.queries)} queries"
    console.print_table(f"Layouts of {task.schema.name} for {queries}, in seconds", ["layout", *parts], lines)
    for reason in reasons(ranked):
        typer.echo(reason)
