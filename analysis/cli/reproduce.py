"""`memwalk reproduce`: a paper's figures, published beside simulated."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memwalk.analysis.cli import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memwalk.analysis.claims.verdict import Outcome
    from memwalk.analysis.figures.load import Paper
    from memwalk.analysis.reproduce import Reproduced

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
    jobs: console.Jobs = None,
    scheduler: console.Scheduler = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Results folder; out/<scale> if absent.")] = None,
    update_verdicts: Annotated[bool, typer.Option(help="Write what comes out to the papers' verdicts.json.")] = False,
    json: console.Json = False,
) -> None:
    """Run, plot and judge figures of papers: <out>/<figure>/{results.parquet,figure.png,figure.svg,claims.json}.

    At the published sizes, exits with 1 if a verdict is not the one in the paper's verdicts.json, whether a claim is missed that was met or
    met that was missed. At scale quick the sizes are not the published ones, and nothing is judged missed. An interrupted run goes on when
    called again.
    """
    from memwalk.analysis.claims import report
    from memwalk.analysis.claims.committed import VERDICTS
    from memwalk.analysis.cli.progress import progress
    from memwalk.analysis.figures.load import find_figures, load_papers, papers_folder
    from memwalk.analysis.reproduce import reproduce as run
    from memwalk.simcore.errors import UserError
    from memwalk.simcore.files import expect_file

    if update_verdicts and scale is not Scale.paper:
        raise UserError(f"verdicts are those of the published sizes, not of --scale {scale}; leave out --update-verdicts or --scale")
    console.refuse_both(jobs, scheduler)
    papers = load_papers()
    figures = find_figures(name, papers)
    folder = out or Path("out") / scale.value
    if update_verdicts:
        for paper in dict.fromkeys(figure.paper for figure in figures):
            expect_file(papers_folder() / paper / VERDICTS)
    if any(figure.experiments for figure in figures):
        console.warn_of_build()
    try:
        reproduced = run(figures, scale.value, folder, jobs=jobs, scheduler=scheduler, progress=progress())
    except KeyboardInterrupt as ended:
        ended.add_note(f"finished points are kept in {folder}: the same command goes on from there")
        raise
    _write_papers([paper for paper in papers if name in ("all", paper.id)], reproduced, folder)
    outcomes = [outcome for part in reproduced for outcome in part.outcomes]
    flipped = _against_committed(papers, outcomes, update=update_verdicts) if scale is Scale.paper else []
    if json:
        claims, summary = [outcome.json() for outcome in outcomes], report.summary(outcomes)
        tables = [asdict(table) for part in reproduced for table in part.tables]
        console.print_json(
            {"scale": scale.value, "out": str(folder), "claims": claims, "tables": tables, "summary": summary, "flipped": flipped}
        )
    else:
        _print(reproduced, outcomes, small=scale is not Scale.paper)
    console.note(f"figures in {folder}")
    for line in flipped:
        console.note(f"verdict differs from the committed one: {line}")
    if flipped:
        raise typer.Exit(1)


def _write_papers(papers: Sequence[Paper], reproduced: Sequence[Reproduced], folder: Path) -> None:
    from memwalk.analysis.reproduce import CLAIMS, claims_json
    from memwalk.simcore.files import write_atomically

    for paper in papers:
        whole = [outcome for part in reproduced if part.figure.paper == paper.id for outcome in part.outcomes]
        write_atomically(folder / paper.id / CLAIMS, claims_json(whole))


def _against_committed(papers: Sequence[Paper], outcomes: Sequence[Outcome], *, update: bool) -> list[str]:
    """Compare with the verdicts of each paper, or write them."""
    from memwalk.analysis.claims import committed
    from memwalk.analysis.figures.load import papers_folder
    from memwalk.simcore.files import write_atomically

    flipped = []
    for paper in papers:
        mine = [outcome for outcome in outcomes if outcome.figure.startswith(f"{paper.id}/")]
        if not mine:
            continue
        folder = papers_folder() / paper.id
        claims = [claim.id for figure in paper.figures for claim in figure.file.claims]
        before = committed.read(folder)
        if update:
            write_atomically(folder / committed.VERDICTS, committed.merged(mine, before, claims))
            continue
        flipped += committed.flips(mine, before, claims)
        if moved := committed.moved(mine, before):
            console.note(f"{paper.id}: {len(moved)} claims have other numbers than the committed ones: {', '.join(moved)}")
    return flipped


def _print(reproduced: Sequence[Reproduced], outcomes: Sequence[Outcome], *, small: bool) -> None:
    """Print claims class by class, the figures' tables, and the counts."""
    from memwalk.analysis.claims import report

    if small:
        typer.echo("Sizes are small, not the published ones: what is not met at these sizes is not judged.")
    for name, title in report.CLASSES.items():
        lines = report.claim_lines(outcome for outcome in outcomes if outcome.claim_class == name)
        if lines:
            console.print_table(title, report.COLUMNS, lines, numeric_from=len(report.COLUMNS))
    for table in (table for part in reproduced for table in part.tables):
        console.print_table(table.title, table.columns, table.rows)
        if table.note:
            typer.echo(table.note)
    for title, lines in report.totals(outcomes).items():
        console.print_table(title, report.TOTALS, lines)
