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
    """Compare every cost model with simulation, and simulation with stored cycles; exit with 1 on drift."""
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
    failed = [one for one in checks if not one.passed]
    if json:
        console.print_json({"checks": [asdict(one) | {"passed": one.passed} for one in checks]})
    else:
        groups = dict.fromkeys(one.group for one in checks)
        counts = [[group, sum(one.group == group for one in checks), sum(one.group == group for one in failed)] for group in groups]
        console.print_table("Checks", ["what", "checks", "failed"], [list(line) for line in counts])
        if failed:
            lines = [[one.group, one.name, one.expected, one.found, f"{one.tolerance:.0%}"] for one in failed]
            console.print_table("Drift", ["what", "where", "expected", "found", "tolerance"], lines, numeric_from=2)
    if failed:
        raise typer.Exit(1)
