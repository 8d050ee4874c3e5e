"""`memwalk replay`: runs trace files on a machine."""

from pathlib import Path
from typing import Annotated

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.cli.machine_settings import machine_settings, named_by_options
from memwalk.analysis.cli.replay_gem5 import replay_in_gem5
from memwalk.analysis.cli.replay_in_full import run_in_full
from memwalk.analysis.cli.replay_request import Dependences, Engine, Kind, Mode, ReplayRequest
from memwalk.analysis.cli.replay_samples import SamplePlan, replay_samples
from memwalk.analysis.cli.replay_traces import replay_cores, replay_counts
from memwalk.analysis.experiments.settings import parse_sets
from memwalk.simcore.machine import load_machine

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: memwalk replay search.parquet --machine thesis-simulator --set machine.memory.latency_cycles=1us")
def replay(
    *,
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...",
            help="Trace file; several run side by side, each thread on a core; with --mode counts also a .npy of addresses.",
        ),
    ],
    machine: Annotated[str, typer.Option(help="A machine's name, or a path to a machine file.")],
    dbms: Annotated[str | None, typer.Option(help="The host DBMS that the trace calls: a profile's name, or a path to a profile.")] = None,
    mode: Annotated[Mode, typer.Option(help="Cycles and stalls, or hits and misses only, which is much faster.")] = Mode.TIMING,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN",
            help="Measure samples only, of a trace of one thread: UNIT:WARMUP:PERIOD in instructions, such as 1000:2000:100000, or "
            "`auto`, which replays a trace too short for samples in full.",
        ),
    ] = None,
    dependences: Annotated[
        Dependences | None,
        typer.Option(help="Time with no load waiting for another (a lower bound), or each for the one before it (an upper bound)."),
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="PLACE", help="Begin here: 1000000 (events), 2Minstructions or phase:NAME.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="PLACE", help="End before this place, counted from the trace's beginning.")] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Run without counting up to this place; a number counts from where the part begins."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Write the results as Parquet, by segment and by site; `memwalk explain` reads them."
        ),
    ] = None,
    engine: Annotated[Engine, typer.Option(help="gem5 replays the trace in gem5 too and shows its numbers beside ours.")] = Engine.NATIVE,
    gem5: Annotated[Path | None, typer.Option(help="The program gem5.opt, for --engine gem5.")] = None,
    gem5_folder: Annotated[Path | None, typer.Option(help="Keep what goes to gem5 and comes from it here, for --engine gem5.")] = None,
    shared_addresses: Annotated[
        bool,
        typer.Option("--shared-addresses", help="The traces are threads of one program: equal addresses are one place in memory."),
    ] = False,
    set_: console.MachineSets = [],  # noqa: B006 (Typer copies it)
    json: console.Json = False,
) -> None:
    """Replay a trace on a machine: the same statistics as simulating its workload live, bit by bit.

    A trace has no storage, though: its pages are in memory.

    Another tool's trace does not say which access needs the result of which: its time comes with both bounds, one run for each. What
    memwalk's recorder wrote says it of accesses through pointers, which wait in the lower bound, too, unless you say `none`.
    With --mode counts, the same hits, misses and write-backs without time; a line on its way counts as a hit. On machines whose first
    level has hardware prefetchers there may be fewer misses than in time, where a prefetch that finds no free miss handler is dropped,
    and before a simulated DRAM accesses come in another order; the results say so. With --sample, the time of a trace of one thread is
    estimated from samples and comes with a confidence interval. Several traces share the levels that the machine shares; each is a
    program with a memory of its own, unless --shared-addresses says otherwise.
    """
    console.warn_of_build()
    places = {"from": from_, "until": until, "warm_up": warm_up}
    request = ReplayRequest(
        traces=tuple(traces),
        machine=load_machine(machine, machine_settings(set_), dbms=dbms),
        machine_name=machine,
        settings=(*parse_sets(set_), *named_by_options(dbms=dbms)),
        mode=mode,
        plan=None if sample is None else SamplePlan.of(sample),
        engine=engine,
        dependences=dependences,
        places={name: place for name, place in places.items() if place is not None},
        out=out,
        gem5=gem5,
        gem5_folder=gem5_folder,
        shared_addresses=shared_addresses,
    )
    match request.kind:
        case Kind.IN_FULL:
            chosen = None if dependences is None else dependences.value
            run_in_full(request.first, request.machine, dependences=chosen, places=request.places, out=out, json=json)
        case Kind.SAMPLES:
            assert request.plan is not None
            replay_samples(request.first, request.machine, request.plan, json=json)
        case Kind.GEM5:
            replay_in_gem5(request.first, request.machine.native(), gem5, gem5_folder, json=json)
        case Kind.COUNTS:
            replay_counts(request, json=json)
        case Kind.CORES:
            replay_cores(request, json=json)
