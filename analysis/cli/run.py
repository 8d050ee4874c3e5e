"""`memwalk run`: simulates an experiment."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.experiments.expansion import count_rows, expand, sample_rows
from memwalk.analysis.experiments.points import Row, distinct_points, varying_parameters
from memwalk.analysis.experiments.refused import refuse_missing_profiles
from memwalk.analysis.experiments.schema import FULL_SCALE, load_experiment
from memwalk.analysis.experiments.settings import parse_sets

app = typer.Typer(add_completion=False)

_MANY_ROWS = 5000
"""Rows that a dry run lists; of more, nobody reads the list, and to look at a sample takes seconds."""
_SAMPLED_ROWS = 500


@app.command(epilog="Example: memwalk run configs/experiments/search-tree-size.yaml --scale quick --set workload.operations=500")
def run(
    file: Annotated[Path, typer.Argument(help="Experiment file (YAML).")],
    *,
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    jobs: console.Jobs = None,
    scheduler: console.Scheduler = None,
    scale: Annotated[str, typer.Option(help="One of the experiment's scales; `paper` runs it as written.")] = FULL_SCALE,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Results folder; out/<id> if absent.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the points and stop.")] = False,
    json: console.Json = False,
) -> None:
    """Simulate an experiment: every point of its grid, into results.parquet, breakdown.parquet and manifest.json.

    Finished points are kept at once; a run that was stopped goes on where it was when called again.
    """
    console.refuse_both(jobs, scheduler)
    experiment = load_experiment(file)
    overrides = parse_sets(set_)
    if dry_run and not json and (count := count_rows(experiment, scale, overrides)) > _MANY_ROWS:
        _estimate(sample_rows(experiment, scale, overrides, _SAMPLED_ROWS), count)
        return
    with event_progress("listing points", None, "rows") as show:
        rows = expand(experiment, scale, overrides, lambda listed, all_: show(listed, listed / all_))
    refuse_missing_profiles(rows)
    if dry_run:
        _list(rows, json=json)
        return
    from memwalk.analysis.cli.progress import progress
    from memwalk.analysis.cli.tables import print_results, uncharged_pages, unsteady
    from memwalk.analysis.experiments.results import table
    from memwalk.analysis.experiments.session import run_rows

    console.warn_of_build()
    folder = out or Path("out") / (experiment.name if scale == FULL_SCALE else f"{experiment.name}-{scale}")
    try:
        statistics = run_rows(experiment.name, rows, folder, jobs=jobs, scheduler=scheduler, progress=progress())
    except KeyboardInterrupt as ended:
        ended.add_note(f"finished points are kept in {folder}: the same command goes on from there")
        raise
    results = table(rows, statistics)
    for problem in (*unsteady(results), *uncharged_pages(rows, statistics)):
        console.note(problem)
    if json:
        records = results.astype(object).where(results.notna(), None).to_dict("records")
        console.print_json({"id": experiment.name, "out": str(folder), "rows": records})
        return
    clocks = {row.point.id: row.point.machine["clock_hz"] for row in rows if row.point.machine}
    print_results(experiment.body.title or experiment.name, results, clocks)
    console.note_results(folder)


def _estimate(rows: Sequence[Row], count: int) -> None:
    """Print how much work an experiment of ``count`` rows is, to which ``rows`` belong."""
    from memwalk.analysis.cli.progress import duration
    from memwalk.analysis.experiments.work import totals, works

    whole = {unit: amount * count / len(rows) for unit, amount in totals(works(distinct_points(rows))).items()}
    typer.echo(f"{count:,} rows, too many to list (--json lists all); estimated from {len(rows):,} of them at equal distances")
    typer.echo(_told(whole, duration(whole["seconds"]), rows))


def _list(rows: Sequence[Row], *, json: bool) -> None:
    """Print the points of a dry run, with the parameters in which they differ, and their work."""
    from memwalk.analysis.cli.progress import duration
    from memwalk.analysis.experiments.work import totals, works

    estimated = works(distinct_points(rows))
    whole = totals(estimated)
    if json:
        points: list[dict[str, Any]] = [
            {"variant": row.variant, "point": row.point.id, "parameters": row.parameters, "work": totals({"": estimated[row.point.id]})}
            for row in rows
        ]
        console.print_json({"points": points, "work": whole})
        return
    varying = varying_parameters(rows)
    cells = [[row.variant, row.point.id, *(row.parameters.get(name) for name in varying)] for row in rows]
    title = f"{console.counted(len(rows), 'row')}, {console.counted(len(distinct_points(rows)), 'distinct point')}"
    console.print_table(title, ["variant", "point", *varying], cells, numeric_from=2)
    typer.echo(_told(whole, duration(whole["seconds"]), rows))


def _told(work: Mapping[str, float], duration: str, rows: Iterable[Row]) -> str:
    units = {"events": "M events of the processor", "storage_steps": "M requests and pages of storage"}
    told = [f"{work[unit] / 1e6:,.3g} {name}" for unit, name in units.items() if work[unit]]
    estimate = f"estimated work: {' and '.join(told)}, about {duration} of one core"
    if any(map(_repeats_beside_storage, rows)):
        return f"{estimate} at least: how often what repeats will run is unknown"
    return estimate


def _repeats_beside_storage(row: Row) -> bool:
    """Tell whether something repeats beside what waits for storage, whose time no estimate knows."""
    point = row.point
    programs = (*point.beside.values(), *point.workload.get("programs", {}).values())
    return bool(point.storage) and any(one.get("repeat") for one in programs)
