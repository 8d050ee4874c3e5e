"""`memwalk replay` of one trace in full: its time, or the bounds of it, and its results as files."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memwalk.analysis.cli import console, replay_tables
from memwalk.analysis.cli.event_progress import event_progress
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Machine, spec_error

if TYPE_CHECKING:
    from memwalk.analysis.traces.runs import TraceResults


def run_in_full(trace: Path, machine: Machine, *, dependences: str | None, places: Mapping[str, str], out: Path | None, json: bool) -> None:
    """Replay ``trace`` between ``places`` and print the results; write them into ``out`` if that is given.

    A trace that does not say of each access which it needs runs with what it says and with all, unless ``dependences`` chooses.
    """
    from memwalk.analysis.traces import runs
    from memwalk.analysis.traces.facts import TraceFacts

    started = time.monotonic()
    facts = TraceFacts.of(trace)
    options = {f"--{name.replace('_', '-')}": text for name, text in places.items()}
    window = {name: facts.position(option, text) for name, (option, text) in zip(places, options.items(), strict=True)}
    chosen = runs.chosen(facts, dependences)
    plan = runs.TracePlan(facts, machine.native(), chosen, window, dict(places))
    if out is not None:
        runs.claim(plan, out)
    for warning in facts.warnings:
        console.note(f"warning: {warning}")
    with event_progress("replaying", runs.events(plan, sites=out is not None)) as progress:
        try:
            results = runs.run(plan, sites=out is not None, progress=progress)
        except native.SpecError as error:
            raise spec_error(error, machine.source) from None
        except UserError as error:
            raise _placed(error, facts.path, options) from None
    if out is not None:
        runs.write(results, out, started)
        console.note_results(out)
    if json:
        console.print_json(_tree(results))
    else:
        replay_tables.print_runs(results)


def _placed(error: UserError, trace: Path, options: Mapping[str, str]) -> UserError:
    """Name the options of a part that the trace does not have, of which the simulator says what is wrong with *it*, or *its* warm-up."""
    if not options or not str(error).startswith(f"{trace}: it"):
        return error
    return UserError(f"{' '.join(f'{option} {text}' for option, text in options.items())}: {error}")


def _tree(results: "TraceResults") -> dict[str, Any]:
    """Return the statistics of the only run, or of the lower bound with the upper one below it; and what the trace is."""
    runs, facts = results.runs, results.plan.facts
    tree = dict(runs[0]) | {"dependences": results.dependences[0]}
    if facts.imported:
        tree["trace"] = facts.described()
    if len(runs) > 1:
        tree["bounds"] = {"cycles": [run["cycles"] for run in runs], "seconds": results.seconds}
        tree["upper_bound"] = runs[-1] | {"dependences": results.dependences[-1]}
    return tree
