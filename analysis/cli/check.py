"""`memwalk check`: cost models, simulation and stored baselines against each other."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memwalk.analysis.cli import console

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: memwalk check --junit check.xml")
def check(
    update: Annotated[bool, typer.Option("--update", help="Store what the baselines' points give now.")] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    jobs: console.Jobs = None,
    json: console.Json = False,
) -> None:
    """Compare every cost model with simulation, and simulation with stored cycles; exit with 1 on drift, or if a check could not tell."""
    from memwalk.analysis.check import junit as as_junit
    from memwalk.analysis.check import run_checks
    from memwalk.analysis.cli.progress import progress
    from memwalk.simcore.files import expect_file, write_atomically

    if junit is not None:
        expect_file(junit)
    console.warn_of_build()
    checks = run_checks(jobs, progress(), update=update)
    if junit is not None:
        write_atomically(junit, as_junit(checks))
    drifted, powerless, unswept = ([one for one in checks if one.status == status] for status in ("drift", "without power", "not swept"))
    if json:
        console.print_json({"checks": [asdict(one) | {"status": one.status, "passed": one.passed} for one in checks]})
    else:
        groups = dict.fromkeys(one.group for one in checks)
        counts = [[group, *(sum(one.group == group for one in some) for some in (checks, drifted, powerless, unswept))] for group in groups]
        console.print_table("Checks", ["what", "checks", "drift", "without power", "not swept"], [list(line) for line in counts])
        if drifted:
            lines = [[one.group, one.name, one.expected, one.found, one.unit, f"{one.tolerance:.0%}"] for one in drifted]
            console.print_table("Drift", ["what", "where", "expected", "found", "unit", "tolerance"], lines, numeric_from=2)
        if powerless:
            lines = [[one.group, one.name, one.expected, one.worst, one.unit, f"{one.tolerance:.0%}"] for one in powerless]
            console.print_table("Without power", ["what", "where", "best", "worst", "unit", "tolerance"], lines, numeric_from=2)
        for one in unswept:
            typer.echo(f"{one.group}: {one.name}: {one.difference()}")
    if drifted or powerless or unswept:
        raise typer.Exit(1)
