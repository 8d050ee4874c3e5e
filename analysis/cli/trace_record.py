"""`memwalk trace record`: writes what one workload does into a trace file."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.machine_settings import named_by_options
from memwalk.analysis.experiments.beside import BESIDE
from memwalk.analysis.experiments.canonical import canonical
from memwalk.analysis.experiments.effect import refuse_without_effect
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.layers import MACHINE, wholes_first
from memwalk.analysis.experiments.machines import Machines
from memwalk.analysis.experiments.parameters import either
from memwalk.analysis.experiments.points import Row, refuse_storage, varying_parameters
from memwalk.analysis.experiments.resolve import resolve_workload
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.experiments.schema import FULL_SCALE, Experiment, load_experiment
from memwalk.analysis.experiments.settings import parse_sets
from memwalk.analysis.experiments.storage import STORAGE
from memwalk.simcore.dbms import PART
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_new_file
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import Place, Sourced, dotted

EXAMPLE = (
    "Example: memwalk trace record configs/experiments/search-tree-size.yaml --variant B+ "
    "--set workload.keys=10000 --machine thesis-simulator -o search.parquet"
)

AUTO = "auto"


def record(
    *,
    output: Annotated[Path, typer.Option("--out", "-o", help="Trace file to write.")],
    file: Annotated[Path | None, typer.Argument(help="Experiment file; without one, --set gives the whole workload.")] = None,
    set_: console.Sets = [],  # noqa: B006 (Typer copies it)
    variant: Annotated[str | None, typer.Option(help="Which variant of the experiment.")] = None,
    scale: Annotated[str | None, typer.Option(help=f"One of the experiment's scales; {FULL_SCALE} if absent.")] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Machine on which `warm_up: auto` is found, with what is set of it; the trace then has a warm-up of that length."
        ),
    ] = None,
    dbms: Annotated[str | None, typer.Option(help="The machine's host DBMS: a profile's name, or a path to a profile.")] = None,
    json: console.Json = False,
) -> None:
    """Record what one workload does into a trace file (Parquet).

    An experiment must come down to one workload: choose it with --variant and --set. Where it says `warm_up: auto`, name a
    --machine, or set a number of operations: --set workload.warm_up=10000.
    """
    settings = parse_sets(set_)
    options = named_by_options(machine, dbms)
    expect_new_file(output, makes_folder=False)
    console.warn_of_build()
    if file is None:
        workload = _given(wholes_first(settings), options, variant, scale)
    else:
        workload = _only(load_experiment(file), settings, options, variant, scale or FULL_SCALE)
    console.print_fields(f"recorded {output}", native.record(workload, output), json=json)


def _given(settings: Sequence[Setting], options: Sequence[Setting], variant: str | None, scale: str | None) -> dict[str, Any]:
    """Return the workload that is given by ``--set`` alone. Raises UserError for an option that chooses in an experiment."""
    for option, chosen in (("--variant", variant), ("--scale", scale)):
        if chosen is not None:
            raise UserError(f"{option} {chosen}: chooses in an experiment, and there is none; name its file, or remove this")
    start = Place("--set")
    workload = resolve_workload(settings, start)
    if workload.kernel is not None:
        raise UserError(f"--set: kernel {workload.values['kernel']} runs on storage and has no memory accesses to record")
    needs_machine = _needs_machine(workload.values, settings, options)
    if idle := _idle(settings, needs_machine=needs_machine):
        raise _without_effect(idle)
    if not needs_machine:
        return workload.values
    machine = Machines(Sourced.uniform({}, start), Path()).machine([*settings, *options])
    assert machine is not None, "an option names it"
    if (lack := machine.lack_of_cores(workload.threads)) is not None:
        raise UserError(f"--set: {lack}")
    refuse_without_effect(
        [*settings, *options], Run(workload.values, machine.native(), threads=workload.threads, instructions=workload.instructions)
    )
    return native.warmed_up(workload.values, machine.native())


def _only(
    experiment: Experiment, settings: Sequence[Setting], options: Sequence[Setting], variant: str | None, scale: str
) -> dict[str, Any]:
    """Return the one workload that the experiment comes down to."""
    file = experiment.source.spot(()).value.file
    if variant is not None and variant not in experiment.body.variants:
        raise UserError(f"{file}: no variant `{variant}`; it has {', '.join(experiment.body.variants) or 'none'}")

    def expanded(some: Sequence[Setting]) -> list[Row]:
        return [row for row in expand(experiment, scale, [*some, *options]) if variant in (None, row.variant)]

    rows = expanded(settings)
    refuse_storage((row.point for row in rows), file)
    workloads = _workloads(rows)
    if len(workloads) > 1:
        raise UserError(f"{file}: comes down to {len(workloads)} workloads; {_choice(rows, 'workload')}")
    workload = next(iter(workloads.values()))
    needs_machine = _needs_machine(workload, settings, options)
    _refuse_idle(settings, _idle(settings, needs_machine=needs_machine), lambda some: _workloads(expanded(some)).keys() == workloads.keys())
    if any(row.point.storage for row in rows):
        console.note("a trace has no storage: who replays it has all pages in memory")
    if any(row.point.beside for row in rows):
        console.note("the trace is of the workload by itself: `memwalk replay` runs traces of several beside each other")
    if not needs_machine:
        return workload
    machines = {canonical(row.point.machine): row.point.machine for row in rows}
    found = {known["warm_up"]: known for known in (native.warmed_up(workload, machine) for machine in machines.values())}
    if len(found) > 1:
        lengths = either([f"{length:,}" for length in found])
        several = f"comes down to {len(machines)} machines, on which `warm_up: {AUTO}` is {lengths} operations"
        raise UserError(f"{file}: {several}; {_choice(rows, 'machine')}")
    return next(iter(found.values()))


def _workloads(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    return {canonical(row.point.workload): row.point.workload for row in rows}


def _choice(rows: Sequence[Row], part: str) -> str:
    """Say how to choose one of the workloads, or machines, in which rows differ."""
    varying = [name for name in varying_parameters(rows) if name.startswith(f"{part}.")]
    return f"choose one with --variant or --set ({', '.join(varying)})"


def _needs_machine(workload: dict[str, Any], settings: Sequence[Setting], options: Sequence[Setting]) -> bool:
    """Tell whether the warm-up is to be found. Raises UserError if the machine for that is missing, or is given for nothing."""
    if workload.get("warm_up") != AUTO:
        for one in options:
            raise one.value.error((), f"has no effect, for the workload does not say `warm_up: {AUTO}`; remove it")
        return False
    if not any(one.route == MACHINE for one in options):
        how = "--set workload.warm_up=10000, --set workload.caches=empty, or the machine on which it is found: --machine thesis-simulator"
        raise UserError(f"workload.warm_up: `{AUTO}` depends on the machine, and a trace has none; give a number or a machine: {how}")
    for one in settings:
        if one.route in [option.route for option in options]:
            raise one.value.error((), f"has no effect, for --{dotted(one.route)} is given, too; remove one of them")
    return True


def _idle(settings: Sequence[Setting], *, needs_machine: bool) -> list[Setting]:
    """List what is set of that of which a trace says nothing. That there is none of it may always be said."""
    heard = ("workload", "machine", PART) if needs_machine else ("workload",)
    return [one for one in settings if one.route[0] not in heard and one.value.data is not None]


def _refuse_idle(settings: Sequence[Setting], idle: Sequence[Setting], is_same: Callable[[Sequence[Setting]], bool]) -> None:
    """Raise UserError for settings without which the same would be recorded. Others are needed for the experiment to be one.

    ``is_same`` tells whether the same is recorded with some settings only.
    """

    def is_needless(some: Sequence[Setting]) -> bool:
        try:
            return is_same([one for one in settings if one not in some])
        except UserError:  # a machine may lack cores, or the workload a storage
            return False

    if idle and (needless := idle if is_needless(idle) else [one for one in idle if is_needless([one])]):
        raise _without_effect(needless)


def _without_effect(settings: Iterable[Setting]) -> UserError:
    """Build the error for settings that do not matter, one line for each."""
    lines = []
    for one in settings:
        why = {STORAGE: "a trace has its pages in memory", BESIDE: "a trace is of the workload by itself"}.get(
            str(one.route[0]), f"the workload does not say `warm_up: {AUTO}`"
        )
        lines.append(str(one.value.error((), f"{dotted(one.route)} has no effect, for {why}; remove it")))
    return UserError("\n".join(lines))
