"""`memwalk replay --engine gem5`: a trace in gem5 and in memwalk's own simulator, side by side."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memwalk.analysis.cli import console
from memwalk.simcore.engines import gem5, native
from memwalk.simcore.errors import UserError


def replay_in_gem5(trace: Path, machine: dict[str, Any], program: Path | None, folder: Path | None, *, json: bool) -> None:
    """Replay a trace in both simulators and print the numbers that both have."""
    if program is None:
        raise UserError("--engine gem5: name the program with --gem5 PATH; docs/gem5.md says how to get it")
    theirs = gem5.replay(trace, machine, program, folder, lambda count: console.note(f"gem5: {count:,} instructions"))
    own = native.replay(trace, machine)
    if json:
        console.print_json({"native": own, "gem5": theirs})
        return
    version = theirs.pop("gem5_version")
    ours = dict(_flat(own))
    rows = [[name, ours[name], value] for name, value in _flat(theirs)]
    console.print_table(f"{trace} on {machine['name']}, gem5 {version}", ["statistic", "native", "gem5"], rows)


def _flat(statistics: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """List the numbers that gem5 has too, a cache's under its name."""
    yield from ((name, statistics[name]) for name in ("instructions", "cycles"))
    for cache in statistics["caches"]:
        yield from ((f"{cache['name']} {name}", count) for name, count in cache.items() if name != "name")
    yield from ((f"bus {name}", statistics["bus"][name]) for name in ("fills", "write_backs"))
