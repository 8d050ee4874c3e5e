"""`memwalk advise join`: which hash join suits two relations on a machine."""

from dataclasses import asdict
from typing import Annotated

import typer

from memwalk.analysis.cli import console

EXAMPLE = (
    "Example: memwalk advise join --machine thesis-simulator --build 10000000 --probe 20000000 --tuple 20B --duplicates 2 --cores 8"
    " --sample 300000"
)
MOST_TUPLES = 1 << 40
"""Most tuples of a relation that times are scaled up to."""


def join(
    *,
    machine: Annotated[str, typer.Option(help="A machine's name or path.")],
    build: Annotated[int, typer.Option(min=1, max=MOST_TUPLES, help="Tuples of the build relation, the smaller one.")],
    probe: Annotated[int, typer.Option(min=1, max=MOST_TUPLES, help="Tuples of the probe relation; each has matches.")],
    tuple_: Annotated[str, typer.Option("--tuple", metavar="SIZE", help="Size of a tuple of either relation, such as 20B.")] = "100B",
    duplicates: Annotated[int, typer.Option(min=1, max=1 << 20, help="Build tuples of each key.")] = 1,
    cores: Annotated[int, typer.Option(min=1, max=256, help="Cores, each of which joins a pair of partitions.")] = 1,
    sample: Annotated[
        int, typer.Option(min=1000, max=1 << 30, help="Most tuples simulated, of both relations on all cores; the rest is scaled up.")
    ] = 2_000_000,
    set_: console.MachineSets = [],  # noqa: B006 (Typer copies it)
    json: console.Json = False,
) -> None:
    """Rank the algorithms that join two relations in partitions, by simulated and by predicted time, and say why.

    Times are those of the join phase: partitions are in memory. G and D of the prefetching algorithms come from equations 4.1 and 4.2.
    docs/advise.md says what is predicted.
    """
    from memwalk.analysis.advice.joins.algorithms import Tuning
    from memwalk.analysis.advice.joins.rank import advise
    from memwalk.analysis.advice.joins.reasons import reasons
    from memwalk.analysis.advice.joins.task import JoinTask
    from memwalk.analysis.cli.machine_settings import machine_of_cores, one_core
    from memwalk.analysis.experiments.settings import parse_set
    from memwalk.simcore.errors import UserError

    tuple_bytes = _tuple_bytes(tuple_)
    for text in set_:
        if parse_set(text).route[:2] == ("machine", "coherence"):
            raise UserError(f"--set {text}: each core joins partitions of its own, so that nothing is coherent here; leave it out")
    loaded = machine_of_cores(machine, set_, cores)
    console.warn_of_build()
    task = JoinTask(one_core(loaded), build, probe, tuple_bytes, duplicates, cores, sample)
    tuning = Tuning(task)
    ranked = advise(tuning, lambda what: console.note(f"simulating {what}"))
    said = reasons(ranked, tuning)
    if json:
        sizes = {"build": task.simulated_build, "probe": task.simulated_probe}
        chosen = {"group_size": tuning.group_size, "prefetch_distance": tuning.prefetch_distance}
        stages = {"probe_stage_cycles": tuning.probe_stages, "build_stage_cycles": tuning.build_stages}
        asked = {"build": build, "probe": probe, "tuple_bytes": tuple_bytes, "duplicates": duplicates, "cores": cores, "sample": sample}
        algorithms = [asdict(one) for one in ranked]
        console.print_json(
            {"machine": loaded["name"], **asked, "simulated": sizes, **chosen, **stages, "algorithms": algorithms, "reasons": said}
        )
        return
    columns = ["algorithm", "simulated s", "predicted s", "cycles/tuple", "predicted", "instructions", "waiting", "bus", "lines/tuple"]
    rows = [
        [
            one.algorithm,
            one.simulated_seconds,
            one.predicted_seconds,
            one.simulated_cycles,
            one.predicted_cycles,
            one.instruction_cycles,
            one.waiting_cycles,
            one.bus_cycles,
            one.lines,
        ]
        for one in ranked
    ]
    title = f"Joins of {build:,} and {probe:,} tuples of {tuple_bytes} bytes on {cores} core{'s' * (cores > 1)} of {loaded['name']}"
    console.print_table(title, columns, rows)
    for reason in said:
        typer.echo(reason)


def _tuple_bytes(written: str) -> int:
    """Read the size of a tuple. Raises UserError for one that the kernel does not take."""
    from memwalk.analysis.cli.sizes import bytes_of
    from memwalk.analysis.experiments.parameters import kernels
    from memwalk.simcore.errors import UserError

    size = bytes_of("--tuple", written)
    declared = kernels()["hash-join"].parameter("tuple_bytes").facts()
    if not declared["minimum"] <= size <= declared["maximum"]:
        raise UserError(f"--tuple {written}: a tuple has {declared['values']} bytes")
    return size
