"""`memwalk native`: an experiment on this computer's own processor, beside its simulation."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.machine_settings import named_by_options
from memwalk.analysis.experiments.beside import BESIDE
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.layers import MACHINE
from memwalk.analysis.experiments.manifest import Identity, claim_folder
from memwalk.analysis.experiments.points import Point, Row, refuse_storage
from memwalk.analysis.experiments.refused import refuse_missing_profiles
from memwalk.analysis.experiments.schema import FULL_SCALE, Experiment, load_experiment
from memwalk.analysis.experiments.settings import parse_set, parse_sets
from memwalk.analysis.experiments.storage import STORAGE
from memwalk.simcore.engines import native as native_engine
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file, write_atomically
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import dotted

if TYPE_CHECKING:
    from memwalk.analysis.native import Comparison

app = typer.Typer(add_completion=False)

_CORES = ("machine", "cores")

NATIVE = "native.parquet"
"""What `-o` adds to a results folder."""


@app.command(epilog="Example: memwalk native configs/experiments/search-tree-size.yaml --set workload.keys=3000000")
def native(
    file: Annotated[Path, typer.Argument(help="Experiment file (YAML).")],
    *,
    variant: Annotated[list[str], typer.Option(help="Run this variant only; repeatable.")] = [],  # noqa: B006 (Typer copies it)
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    baseline: Annotated[str | None, typer.Option(metavar="VARIANT", help="Speed-ups are over this; the first if absent.")] = None,
    machine: Annotated[str | None, typer.Option(help="Simulated machine; this computer, detected now, if absent.")] = None,
    repetitions: Annotated[int, typer.Option(min=1, max=1000, help="Measured runs of each workload.")] = 5,
    scale: Annotated[str, typer.Option(help="One of the experiment's scales.")] = FULL_SCALE,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Results folder, as `memwalk run` writes it.")] = None,
    json: console.Json = False,
) -> None:
    """Run an experiment's kernels on this processor at full speed, and compare with the simulated machine.

    Real loads, real prefetch instructions, medians of several runs. The experiment's own machine is replaced by the
    simulated one. Leave the computer alone meanwhile; docs/native.md says how to read the numbers.
    """
    from memwalk.analysis import native as analysis
    from memwalk.analysis.native_doubts import doubts

    if output is not None:
        expect_new_file(output / NATIVE)
    experiment = load_experiment(file)
    settings = parse_sets(set_)
    _expect_no_machine(settings)
    rows = expand(experiment, scale, settings)  # mistakes come to light before anything is measured
    refuse_storage((row.point for row in rows), str(file))
    base = analysis.choose_baseline(_chosen(rows, experiment, variant), baseline)
    console.warn_of_build()
    with TemporaryDirectory() as folder:
        chosen = machine or _detected(Path(folder))
        cores = max(_cores(row.point) for row in rows)
        if cores > 1 and not any(setting.route == _CORES for setting in settings):
            settings.append(parse_set(f"{dotted(_CORES)}={cores}"))  # whoever is beside the workload is left out below
        (on,) = named_by_options(chosen)
        rows = _chosen(expand(experiment, scale, settings, machine=on), experiment, variant)
    refuse_missing_profiles(rows)
    if any(row.point.storage for row in rows):
        console.note("pages are in memory here: what is measured is compared with a simulation without the experiment's storage")
    if any(_cores(row.point) > 1 for row in rows):
        console.note("the workload has the processor for itself here: what is measured is compared with a simulation without `beside`")
    if any(row.point.storage or row.point.beside for row in rows):
        rows = list({(row.variant, row.point.id): row for row in map(_alone_in_memory, rows)}.values())
    if output is not None:
        claim_folder(output, Identity.of(experiment.name, rows))
    measured = analysis.run_natively(rows, repetitions, _announce)
    simulated = _simulate(experiment.name, rows, output)
    compared = analysis.compare(rows, measured, simulated, base)
    if output is not None:
        from memwalk.analysis.experiments.results import parquet_bytes

        write_atomically(output / NATIVE, parquet_bytes(analysis.table(compared, measured)))
    if json:
        lines = [asdict(one) | {"ratio": one.ratio, "times_ns": measured[one.point]["times_ns"]} for one in compared]
        console.print_json({"id": experiment.name, "machine": rows[0].point.machine, "baseline": base, "rows": lines})
        return
    _print(f"{experiment.body.title or experiment.name}: this processor and {rows[0].point.machine['name']}", compared, base)
    for doubt in doubts(rows, compared, measured):
        console.note(f"note: {doubt}")


def _detected(folder: Path) -> str:
    from memwalk.analysis.cli.machine import detected

    console.note("no --machine: detecting this computer; `memwalk machine detect -o host.yaml` keeps what it finds")
    path = folder / "detected.yaml"
    path.write_text(detected())
    return str(path)


def _expect_no_machine(settings: Sequence[Setting]) -> None:
    """Refuse a machine that `--machine`, or what is detected, would take the place of."""
    for setting in settings:
        if setting.route == MACHINE:
            raise setting.value.error((), "the simulated machine is that of --machine, or else this computer; give it there")


def _chosen(rows: Sequence[Row], experiment: Experiment, variants: Sequence[str]) -> list[Row]:
    """Return the rows of some variants, all if none is named. Raises UserError for one that there is not."""
    for variant in variants:
        if variant not in experiment.body.variants:
            raise UserError(f"--variant {variant}: no such variant; there are {', '.join(experiment.body.variants) or 'none'}")
    return [row for row in rows if not variants or row.variant in variants]


def _cores(point: Point) -> int:
    """Return how many cores a workload takes with those that share its machine; 1 if there are none."""
    neighbours = point.neighbours
    if neighbours is None or not neighbours.share_machine:
        return 1
    return native_engine.threads(point.workload) + sum(native_engine.threads(dict(one.values)) for one in neighbours.workloads.values())


def _alone_in_memory(row: Row) -> Row:
    """Take the storage away, and what runs beside the workload."""
    point = Point.on_machine(row.point.machine, row.point.workload, row.point.observe)
    parameters = {name: value for name, value in row.parameters.items() if not name.startswith((f"{STORAGE}.", f"{BESIDE}."))}
    return replace(row, point=point, parameters=parameters)


def _announce(row: Row) -> None:
    workload = row.point.workload
    what = " ".join(filter(None, (row.variant, workload.get("operation", workload["kernel"]))))
    first = " when it is known, by simulation, how long it warms up" if workload.get("warm_up") == "auto" else ""
    console.note(f"running {what} ({row.point.id}) natively{first}")


def _simulate(name: str, rows: Sequence[Row], output: Path | None) -> dict[str, Statistics]:
    """Simulate every row, into a results folder if there is one."""
    from memwalk.analysis.cli.progress import progress
    from memwalk.analysis.experiments.runner import run_points
    from memwalk.analysis.experiments.session import run_rows

    console.note("simulating the same")
    if output is not None:
        return run_rows(name, rows, output, progress=progress())
    from memwalk.analysis.experiments.points import distinct_points
    from memwalk.analysis.experiments.refused import told_where_written

    with TemporaryDirectory() as folder, told_where_written(rows):
        return run_points(distinct_points(rows), Path(folder), progress=progress())


def _print(title: str, compared: Sequence["Comparison"], baseline: str) -> None:
    varying = list(dict.fromkeys(name for one in compared for name in one.parameters))
    over = f"over\n{baseline}" if baseline else "speed-up"
    columns = [
        "variant",
        "operation",
        *varying,
        "ns/op\nmedian",
        "\nmin",
        "\nmax",
        "simulated\nns/op",
        f"speed-up\n{over}",
        "simulated\nspeed-up",
        "native /\nsimulated",
    ]
    cells = []
    for one in compared:
        factors = [f"{factor:.2f}" if factor else None for factor in (one.speedup, one.simulated_speedup, one.ratio)]
        times = (one.median_ns, one.min_ns, one.max_ns, one.simulated_ns)
        cells.append([one.variant, one.operation, *(one.parameters[name] for name in varying), *times, *factors])
    console.print_table(title, columns, cells, numeric_from=2)
