"""`memwalk disk`: replays and converts traces of disk requests."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.pictures import expect_picture
from memwalk.analysis.figures.image_kinds import IMAGES
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file, write_atomically
from memwalk.simcore.json_text import json_text
from memwalk.simcore.storage.disksim import Format
from memwalk.simcore.storage.queues import FCFS, QUEUES
from memwalk.simcore.storage.replay import DEPTH
from memwalk.simcore.validation import nearest

if TYPE_CHECKING:
    from memwalk.analysis.cli.results_folder import ResultsFolder
    from memwalk.analysis.disk_traces.replay import Replay

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Replay traces of disk requests, and convert them.",
    epilog="Example: memwalk disk replay atlas10k.trace.gz --device atlas-10k --plot cdf.png",
)

_FILES = ("replay.json", *(f"distribution.{kind}" for kind in ("parquet", "csv", *IMAGES)))
"""What a folder of results has."""
_AUTO = "auto"
"""The format that the first line shows."""


@app.command(epilog="Example: memwalk disk replay atlas10k.trace.gz --device atlas-10k --plot cdf.png")
def replay(
    *,
    trace: Annotated[Path, typer.Argument(help="DiskSim trace, ASCII or validation, also compressed with gzip.")],
    device: Annotated[str, typer.Option(help="A device's name, or a path to a device file.")],
    queue: Annotated[str, typer.Option(help="Which of the waiting requests is next: fcfs, c-look, sptf or aged-sptf.")] = FCFS,
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=console.MOST,
            help=f"How many of the waiting requests a queue chooses among, the oldest; {DEPTH} if absent. Not for fcfs.",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="ascii, validation, or auto: what the first line shows.")] = _AUTO,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the distribution of response times (.png or .svg).")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write results, distributions and their figure into this folder.")
    ] = None,
    json: console.Json = False,
) -> None:
    """Replay a trace of disk requests on a device: response times and their parts, beside the measured ones if the trace has any.

    Each device number in an ASCII trace is a device of its own, all of the same kind. A validation trace runs one request at a time,
    and demerit is the root mean square distance between its measured and its simulated distribution of response times.
    """
    if queue not in QUEUES:
        raise UserError(f"--queue {queue}: no such queue; {nearest(queue, QUEUES)}")
    if depth is not None and queue == FCFS:
        raise UserError(f"--depth {depth}: {FCFS} takes the oldest request, among however many; leave it out, or choose another --queue")
    formats = [_AUTO, *Format]
    if format_ not in formats:
        raise UserError(f"--format {format_}: no such format; {nearest(format_, formats)}")
    if plot is not None:
        expect_picture("--plot", plot)
    from memwalk.analysis.disk_traces.replay import replay_trace
    from memwalk.simcore.storage import load_device

    loaded = load_device(device)
    depth = DEPTH if depth is None else depth
    folder = None if out is None else _claim(out, trace, {"queue": queue, "depth": depth, "format": format_}, loaded.name)
    started = time.monotonic()
    with event_progress("replaying", None, "requests") as show:
        chosen = None if format_ == _AUTO else Format(format_)
        replayed = replay_trace(trace, loaded, queue=queue, depth=depth, format_=chosen, progress=show)
    seconds = time.monotonic() - started
    kinds = {name: responses.facts() for name, responses in replayed.kinds().items()}
    requests = int(kinds["all"]["requests"]) if kinds else 0
    result = {
        "trace": str(trace),
        "format": replayed.format.value,
        "device": loaded.name,
        "queue": queue,
        "depth": depth,
        "complete": replayed.complete,
        "requests": kinds,
    }
    if json:
        console.print_json(result)
    elif kinds:
        _print(f"{trace} on {loaded.name}, {queue}", kinds)
    if replayed.ended is not None:
        replayed.ended.add_note(f"these are the results of {console.counted(requests, 'request')}, and no files were written")
        raise replayed.ended
    console.note(f"{console.counted(requests, 'request')} in {seconds:.1f} s, {requests / max(seconds, 1e-3):,.0f} requests/s")
    _write(result, replayed, plot, folder)


@app.command(epilog="Example: memwalk disk convert atlas10k.trace.gz atlas10k.ascii")
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Validation trace, also compressed with gzip.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="ASCII trace to write; compressed if it ends in .gz.")],
) -> None:
    """Make an ASCII trace of a validation trace: each request arrives when it did on the drive that was measured."""
    from memwalk.simcore.storage.disksim import as_arrivals, format_of, write_arrivals
    from memwalk.simcore.storage.trace_lines import TraceLines

    expect_new_file(target)
    with TraceLines(source) as lines:
        if format_of(lines) is not Format.VALIDATION:
            raise UserError(f"{source}: is an ASCII trace already; only a validation trace, which begins with R or W, is converted")
        requests = write_arrivals(target, as_arrivals(lines))
    console.note(f"wrote {console.counted(requests, 'request')} to {target}")


def _print(title: str, kinds: dict[str, dict[str, float | int]]) -> None:
    from memwalk.analysis.disk_traces.replay import PERCENTILES
    from memwalk.simcore.storage.device import PART_NAMES

    figures = ["mean", "std", *PERCENTILES, "max"]
    shown = [name.replace("_", ".") for name in figures]
    rows = []
    for name, facts in kinds.items():
        rows.append([name, facts["requests"], *(facts[f"{figure}_ms"] for figure in figures)])
        if "demerit_ms" in facts:
            rows.append([f"{name}, measured", facts["requests"], *(facts[f"measured_{figure}_ms"] for figure in figures)])
    console.print_table(f"{title}: response time (ms)", ["requests", "number", *shown], rows)
    parts = [[name, *(facts[f"{part}_ms"] for part in PART_NAMES)] for name, facts in kinds.items()]
    console.print_table("mean of each part (ms)", ["requests", *PART_NAMES], parts)
    demerits = [
        [name, facts["demerit_ms"], f"{facts['demerit_ms'] / mean:.1%}" if (mean := facts["measured_mean_ms"]) else "-"]
        for name, facts in kinds.items()
        if "demerit_ms" in facts
    ]
    if demerits:
        console.print_table("against the measured times", ["requests", "demerit (ms)", "of the mean"], demerits)


def _claim(path: Path, trace: Path, options: dict[str, Any], device: str) -> "ResultsFolder":
    """Make sure of a folder for the results of a replay."""
    from memwalk.analysis.cli.results_folder import ResultsFolder

    return ResultsFolder.claim(path, _FILES, ("disk replay", trace, options), device=device)


def _write(result: dict[str, Any], replayed: "Replay", plot: Path | None, folder: "ResultsFolder | None") -> None:
    """Write the figure, and the folder of results."""
    if plot is None and folder is None:
        return
    import pandas as pd

    from memwalk.analysis.experiments.results import parquet_bytes
    from memwalk.analysis.figures.distribution import draw_distributions
    from memwalk.analysis.figures.draw import image

    distributions = replayed.distributions()
    figure = draw_distributions(f"{Path(result['trace']).name} on {result['device']}, {result['queue']}", distributions)
    if plot is not None:
        write_atomically(plot, image(figure, plot.suffix.removeprefix(".")))
        console.note(f"figure in {plot}")
    if folder is None:
        return
    table = pd.concat([steps.assign(distribution=name) for name, steps in distributions.items()], ignore_index=True)
    files = {
        "distribution.parquet": parquet_bytes(table),
        "distribution.csv": table.to_csv(index=False).encode(),
        "replay.json": json_text(result, indent=1).encode(),
    }
    folder.write(files | {f"distribution.{kind}": image(figure, kind) for kind in IMAGES})
    console.note(f"results and figure in {folder.path}")
