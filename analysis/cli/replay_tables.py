"""What `memwalk replay` prints: one table per kind of replay."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from memwalk.analysis.cli import console
from memwalk.analysis.traces.facts import DIFFERS
from memwalk.simcore.engines.native import Statistics

if TYPE_CHECKING:
    from memwalk.analysis.traces.facts import TraceFacts
    from memwalk.analysis.traces.runs import TraceResults


_SAID = {
    "none": "no load waits for another",
    "recorded": "loads wait for pointers that they go through",
    "chain": "every load waits for the one before it",
}


def print_runs(results: "TraceResults") -> None:
    """Print every statistic, one column per run, and the time; for another tool's trace also what it does not say."""
    from memwalk.analysis.experiments.results import flatten

    plan = results.plan
    runs = [flatten(run) for run in results.runs]
    names = list(dict.fromkeys(key for run in runs for key in run))
    times = [f"{1e3 * seconds:,.6g}" for seconds in results.seconds]
    rows: list[list[Any]] = [["time (ms)", *times], *([name, *(run.get(name) for run in runs)] for name in names)]
    heads = ["value"] if plan.dependences == ("recorded",) else results.variants
    console.print_table(f"{plan.facts.path} on {plan.machine['name']}", ["statistic", *heads], rows)
    if plan.dependences != ("recorded",):
        said = "; ".join(f"{bound}: {_SAID[name]}" for bound, name in zip(results.variants, results.dependences, strict=True))
        typer.echo(f"time: {' to '.join(times)} ms ({said})")
    if plan.facts.imported:
        print_lacks(plan.facts, timed=False)


def print_lacks(facts: "TraceFacts", *, timed: bool) -> None:
    """Print what another tool's trace does not say; with ``timed``, that its time is a lower bound."""
    bound = "; so the time is a lower bound" if timed else ""
    typer.echo(f"{facts.path} does not say: {', '.join(facts.lacks)}{bound}")


def print_timing(title: str, statistics: Statistics) -> None:
    """Print every statistic of one core."""
    from memwalk.analysis.experiments.results import flatten

    console.print_table(title, ["statistic", "value"], [[key, value] for key, value in flatten(statistics).items()])


def print_cores(title: str, statistics: Statistics) -> None:
    """Print every statistic, one column per core; then what happened in the memory of all."""
    from memwalk.analysis.experiments.results import flatten

    cores = [flatten(core) for core in statistics["cores"]]
    names = list(dict.fromkeys(key for core in cores for key in core))
    columns = ["statistic", *(f"core {number}" for number in range(len(cores)))]
    rows = [[name, *(core.get(name) for core in cores)] for name in names]
    console.print_table(f"{title}: {statistics['cycles']:,} cycles", columns, rows)
    if "dram" in statistics:
        rows = [[f"dram.{key}", value] for key, value in statistics["dram"].items()]
        console.print_table("memory of all cores", ["statistic", "value"], rows)


def print_sample(title: str, statistics: Statistics) -> None:
    """Print the estimate with its interval, then what was counted over the whole run."""
    estimate = statistics["estimate"]
    low, middle, high = estimate["cycles"]
    rows = [
        ["cycles, estimated", f"{middle:,.0f}"],
        [f"{estimate['confidence_percent']}% interval", f"{low:,.0f} to {high:,.0f} (±{(high - middle) / max(middle, 1):.2%})"],
        ["cycles per instruction", f"{estimate['cycles_per_instruction']:.4f}"],
        ["coefficient of variation", f"{estimate['coefficient_of_variation']:.3f}"],
        ["units measured", estimate["units"]],
        ["instructions measured", f"{estimate['measured_instructions']:,} of {estimate['instructions']:,}"],
    ]
    console.print_table(title, ["sample", "value"], rows)
    print_timing("counts of the whole run; time of what was run in full", statistics["statistics"])


def print_counts(title: str, statistics: Statistics) -> None:
    """Print one line per cache, and one per phase and segment that asked for anything."""
    from memwalk.analysis.experiments.results import servers

    columns = ["accesses", "hits", "misses", "write_backs"]
    caches = [[cache["name"], *(cache[column] for column in columns)] for cache in statistics["caches"]]
    console.print_table(title, ["cache", *columns], caches)
    lines = all("prefetched" in row for row in statistics["breakdown"])
    rows = [[row["phase"], row["segment"], *row["served"], *([sum(row["prefetched"])] if lines else [])] for row in statistics["breakdown"]]
    title = "lines by the level that served them" if lines else "loads and stores by the level that served their last line"
    console.print_table(title, ["phase", "segment", *servers(statistics), *(["prefetched"] if lines else [])], rows, numeric_from=2)
    print_differences(statistics)


def print_differences(counted: Mapping[str, Any]) -> None:
    """Print how counts without time are others than those of a run in time."""
    for reason in counted.get(DIFFERS, ()):
        typer.echo(f"in no time, {reason}")
