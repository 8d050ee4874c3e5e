"""`memwalk replay`: runs trace files on a machine."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memwalk.analysis.cli import console, replay_tables
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.analysis.cli.machine_settings import machine_settings
from memwalk.analysis.cli.replay_gem5 import replay_in_gem5
from memwalk.analysis.cli.replay_in_full import run_in_full
from memwalk.analysis.cli.replay_samples import SamplePlan, replay_samples
from memwalk.analysis.experiments.effect import refuse_without_effect
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.trace_facts import TraceFacts
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, Setting, load_machine, spec_error
from memwalk.simcore.yaml_source import Place, Sourced

app = typer.Typer(add_completion=False)

NPY = ".npy"


class Engine(StrEnum):
    """Who replays the trace."""

    NATIVE = "native"
    GEM5 = "gem5"


class Dependences(StrEnum):
    """What the loads of a trace wait for."""

    NONE = "none"
    CHAIN = "chain"


class Mode(StrEnum):
    """What a replay finds out."""

    TIMING = "timing"
    COUNTS = "counts"


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
    level has hardware prefetchers there may be fewer misses than in time, where a prefetch that finds no free miss handler is dropped;
    the results say so. With --sample, the time of a trace of one thread is estimated from samples and comes with a confidence interval.
    Several traces share the levels that the machine shares; each is a program with a memory of its own, unless --shared-addresses says
    otherwise.
    """
    console.warn_of_build()
    settings = [*(parse_set(text) for text in set_), *_profile(dbms)]
    loaded = load_machine(machine, machine_settings(set_), dbms=dbms)
    facts = [TraceFacts.of(trace) for trace in traces if trace.suffix != NPY]
    threads = max(sum(one.threads for one in facts), 1)
    is_timed = mode is Mode.TIMING
    refuse_without_effect(settings, _run(loaded, facts, threads, is_timed=is_timed))
    if is_timed and sample is None and engine is Engine.NATIVE and (lack := loaded.lack_of_cores(threads)) is not None:
        raise UserError(f"--machine {machine}: {lack}")
    plan = None if sample is None else SamplePlan.of(sample)
    special = [mode is Mode.COUNTS, sample is not None, len(traces) > 1, engine is Engine.GEM5]
    if sum(special) > 1:
        raise UserError("--mode counts, --sample, --engine gem5 and several traces exclude each other; choose one")
    if shared_addresses and len(traces) == 1:
        raise UserError("--shared-addresses: one trace shares its addresses with nobody; give those of the other threads, or leave it out")
    spec, first = loaded.native(), traces[0]
    places = {"from": from_, "until": until, "warm_up": warm_up}
    given = {"--dependences": dependences, "--from": from_, "--until": until, "--warm-up": warm_up, "--out": out}
    in_full = "only for one trace that is replayed in full; leave out --mode, --sample, --engine or traces"
    _refuse_idle(given, in_full, used=not any(special))
    of_gem5 = {"--gem5": gem5, "--gem5-folder": gem5_folder}
    _refuse_idle(of_gem5, "only with --engine gem5; add that, or leave this out", used=engine is Engine.GEM5)
    if engine is Engine.GEM5:
        if threads > 1:
            raise UserError(f"--engine gem5: {first} has {threads} threads, and gem5 gets one; leave --engine out")
        replay_in_gem5(first, spec, gem5, gem5_folder, json=json)
        return
    if plan is not None:
        replay_samples(first, loaded, plan, json=json)
        return
    if not any(special):
        asked = {name: place for name, place in places.items() if place is not None}
        chosen = None if dependences is None else dependences.value
        run_in_full(first, loaded, dependences=chosen, places=asked, out=out, json=json)
        return
    with event_progress("replaying", _events(traces, facts)) as progress:
        try:
            if mode is Mode.COUNTS:
                statistics, show = native.count(first, spec, progress), replay_tables.print_counts
            else:
                statistics = native.replay_cores(traces, spec, progress, shared_addresses=shared_addresses)
                show = replay_tables.print_cores
        except native.SpecError as error:
            raise spec_error(error, loaded.source) from None
    imported = [one for one in facts if one.imported]
    if json:
        console.print_json(statistics | ({"traces": [one.described() for one in imported]} if imported else {}))
        return
    show(f"{', '.join(map(str, traces))} on {machine}", statistics)
    for one in imported:
        replay_tables.print_lacks(one, timed=mode is Mode.TIMING)


def _run(machine: Machine, facts: Sequence[TraceFacts], threads: int, *, is_timed: bool) -> Run:
    """Return what is known of the run of traces."""
    said = [one.instructions for one in facts]
    instructions = None if None in said else frozenset[str]().union(*(kinds for kinds in said if kinds is not None))
    calls = any(one.calls for one in facts)
    return Run(machine=machine.native(), threads=threads, calls=calls, instructions=instructions, is_timed=is_timed)


def _profile(dbms: str | None) -> list[Setting]:
    """Return the setting that an option --dbms is."""
    return [] if dbms is None else [Setting(("dbms",), Sourced.uniform(dbms, Place(f"--dbms {dbms}")))]


def _refuse_idle(options: Mapping[str, object], reason: str, *, used: bool) -> None:
    """Raise UserError for those of ``options`` that are given, unless they are used."""
    if not used and (idle := [option for option, value in options.items() if value is not None]):
        raise UserError(f"{', '.join(idle)}: {reason}")


def _events(traces: list[Path], facts: list[TraceFacts]) -> int | None:
    """Return how many events there are to run, if the files say so."""
    return sum(one.events for one in facts) if len(facts) == len(traces) else None
