"""`memwalk reproduce`: a paper's figures, published beside simulated."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memwalk.analysis.cli import console

app = typer.Typer(add_completion=False)


class Scale(StrEnum):
    """How large the experiments are."""

    quick = "quick"
    paper = "paper"


@app.command(epilog="Example: memwalk reproduce fig-2.13 --scale quick")
def reproduce(
    name: Annotated[str, typer.Argument(metavar="FIGURE|PAPER|all", help="Such as fig-2.13 or thesis-ch2.")],
    *,
    scale: Annotated[Scale, typer.Option(help="`paper` has the published sizes.")] = Scale.paper,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; all cores if absent.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, instead of processes.")] = None,
    out: Annotated[Path | None, typer.Option(help="Results folder; out/<scale> if absent.")] = None,
    json: console.Json = False,
) -> None:
    """Run, plot and judge figures of papers: <out>/<figure>/{results.parquet,figure.png,figure.svg,claims.json}.

    Exits with 1 if a claim is missed at the published sizes. At scale quick the sizes are not the published ones, so
    misses do not count. An interrupted run goes on when called again.
    """
    from memwalk.analysis import report
    from memwalk.analysis.cli.progress import progress
    from memwalk.analysis.experiments.files import write_atomically
    from memwalk.analysis.figures.load import find_figures, load_papers
    from memwalk.analysis.reproduce import CLAIMS, claims_json
    from memwalk.analysis.reproduce import reproduce as run

    papers = load_papers()
    figures = find_figures(name, papers)
    folder = out or Path("out") / scale.value
    if any(figure.experiments for figure in figures):
        console.warn_of_debug_build()
    try:
        reproduced = run(figures, scale.value, folder, jobs=jobs, scheduler=scheduler, progress=progress())
    except KeyboardInterrupt:
        console.note(f"stopped; finished points are kept in {folder}: the same command goes on from there")
        raise
    for paper in papers:
        if name in ("all", paper.id):
            whole = [outcome for part in reproduced if part.figure.paper == paper.id for outcome in part.outcomes]
            write_atomically(folder / paper.id / CLAIMS, claims_json(whole))
    outcomes = [outcome for part in reproduced for outcome in part.outcomes]
    counts = report.summary(outcomes)
    if json:
        claims = [outcome.json() for outcome in outcomes]
        tables = [asdict(table) for part in reproduced for table in part.tables]
        console.print_json({"scale": scale.value, "out": str(folder), "claims": claims, "tables": tables, "summary": counts})
    else:
        for name_of_class, title in report.CLASSES.items():
            lines = report.claim_lines(outcome for outcome in outcomes if outcome.claim_class == name_of_class)
            if lines:
                console.print_table(title, report.COLUMNS, lines, numeric_from=len(report.COLUMNS))
        for table in (table for part in reproduced for table in part.tables):
            console.print_table(table.title, table.columns, table.rows)
            if table.note:
                typer.echo(table.note)
        totals = [[group, *numbers.values()] for part in counts.values() for group, numbers in part.items()]
        console.print_table("Agreement", ["", *counts["headline"]["all"]], totals)
    console.note(f"figures in {folder}")
    if scale is Scale.paper and any(outcome.agrees is False and outcome.claim_class != "calibration" for outcome in outcomes):
        raise typer.Exit(1)
