"""`memwalk replay --engine gem5`: a trace in gem5 and in memwalk's own simulator, side by side."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from memwalk.analysis.cli import console, replay_tables
from memwalk.simcore.engines import gem5, native
from memwalk.simcore.errors import UserError


def replay_in_gem5(trace: Path, machine: dict[str, Any], program: Path | None, folder: Path | None, *, json: bool) -> None:
    """Replay a trace in both simulators and print the numbers that both have, and what gem5 does not get of the trace.

    Of another tool's trace, which does not say of each access which it needs, both have lower bounds, and are called so.
    """
    from memwalk.analysis.traces import runs
    from memwalk.analysis.traces.facts import TraceFacts

    if program is None:
        raise UserError("--engine gem5: name the program with --gem5 PATH; docs/gem5.md says how to get it")
    theirs = gem5.replay(trace, machine, program, folder, lambda count: console.note(f"gem5: {count:,} instructions"))
    own = native.replay(trace, machine)
    facts = TraceFacts.of(trace)
    dependences = runs.chosen(facts, None)
    if json:
        console.print_json({"native": own, "gem5": theirs, "dependences": dependences[0]})
        return
    ours = dict(_flat(own))
    rows = [[name, ours[name], value] for name, value in _flat(theirs)]
    # In the order of what they wait for: the first is what the trace says, or nothing.
    columns = ["statistic", *(", ".join(filter(None, [name, runs.variants(dependences)[0]])) for name in ("native", "gem5"))]
    console.print_table(f"{trace} on {machine['name']}, gem5 {theirs['gem5_version']}", columns, rows)
    unsaid = [f"{events['kind']} ({events['events']:,})" for events in theirs["left_out"]]
    for what, phrases in (("left out", unsaid), ("lost", theirs["lost"])):
        if phrases:
            typer.echo(f"{what}: {'; '.join(phrases)}")
    if facts.imported:
        replay_tables.print_lacks(facts, timed=True)


def _flat(statistics: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """List the numbers that gem5 has too, a cache's under its name."""
    yield from ((name, statistics[name]) for name in ("instructions", "cycles"))
    for cache in statistics["caches"]:
        yield from ((f"{cache['name']} {name}", count) for name, count in cache.items() if name != "name")
    yield from ((f"bus {name}", statistics["bus"][name]) for name in ("fills", "write_backs"))
