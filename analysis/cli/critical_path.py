"""`memwalk explain TRACE --critical-path`: what waited for what in a part of a trace."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memwalk.analysis.cli import console

if TYPE_CHECKING:
    from memwalk.analysis.explain.critical_path import Part, Watched

DEFAULT_EVENTS = 2000
"""Events that are watched unless somebody says how many: a group of tuples of a prefetching join."""
MOST_EVENTS = 1_000_000


def explain_path(trace: Path, machine: str, first: int, events: int, *, dbms: str | None, out: Path | None, json: bool) -> None:
    """Replay the trace on the machine, with the DBMS that it calls, up to the end of a part; print and perhaps draw its critical path."""
    from memwalk.analysis.cli.event_progress import event_progress
    from memwalk.analysis.cli.machine_settings import named_by_options
    from memwalk.analysis.cli.pictures import expect_picture
    from memwalk.analysis.experiments.effect import refuse_without_effect
    from memwalk.analysis.experiments.run_facts import Run
    from memwalk.analysis.explain.critical_path import Watched, critical_path, headline, plain, shares
    from memwalk.analysis.traces.facts import TraceFacts
    from memwalk.simcore.engines import native
    from memwalk.simcore.machine import load_machine, spec_error

    if out is not None:
        expect_picture("--out", out)
    loaded = load_machine(machine, dbms=dbms)
    facts, info = TraceFacts.of(trace), native.trace_info(trace)
    refuse_without_effect(named_by_options(dbms=dbms), Run(machine=loaded.native(), threads=facts.threads, calls=facts.calls))
    last = min(first + events, info["summary"]["events"])
    with event_progress("replaying", last) as progress:
        try:
            watched = Watched.of(trace, loaded.native(), first, events, progress)
        except native.SpecError as error:
            raise spec_error(error, loaded.source) from None
    path = critical_path(watched)
    summed = shares(path, info["layout"]["sites"], watched)
    said = headline(path, summed)
    title = f"Critical path of events {first:,} to {last:,} of {trace.name} on {machine}{f' with {dbms}' if dbms else ''}"
    if out is not None:
        _draw(title, path, watched, out)
    if json:
        sums = [vars(share) for share in summed]
        of = {"trace": str(trace), "machine": machine, "dbms": dbms}
        console.print_json(of | {"headline": said, "shares": sums, "path": plain(path, watched)})
        return
    if not summed:
        typer.echo(said)
        return
    cycles = sum(share.cycles for share in summed)
    rows = [
        [share.kind, share.site, share.asked_by, f"{share.cycles:,}", f"{share.cycles / cycles:.1%}", f"{share.times:,}"]
        for share in summed
    ]
    rows.append(["all", "", "", f"{cycles:,}", "100.0%", ""])
    console.print_table(title, ["what", "waited for by", "asked for by", "cycles", "share", "times"], rows, numeric_from=3)
    typer.echo(said)


def _draw(title: str, path: list["Part"], watched: "Watched", out: Path) -> None:
    from memwalk.analysis.figures.critical_path import draw
    from memwalk.analysis.figures.draw import image
    from memwalk.simcore.files import write_atomically

    if path:
        write_atomically(out, image(draw(title, path, watched), out.suffix.removeprefix(".")))
