"""Replays of a trace file in full: what they are asked for, and their results as tables."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from memwalk.analysis.experiments.manifest import BREAKDOWN, COMPLETED, RESULTS, SITES, Identity, claim_folder, write_manifest
from memwalk.analysis.experiments.points import Point, Row
from memwalk.analysis.experiments.results import BY_SITE, breakdown_table, parquet_bytes, sites_table, table
from memwalk.analysis.traces.facts import Position, TraceFacts
from memwalk.simcore.engines import native
from memwalk.simcore.files import expect_folder, file_digest, make_folder, write_atomically

Dependences = Literal["recorded", "none", "chain"]
"""What instructions wait for: what the trace says, nothing, or the load before them."""

REPLAY = "replay"
"""What results of a replay are called where an experiment's name stands."""
_BOUNDS = ("lower bound", "upper bound")
"""What the two runs of a trace are called that does not say of each access which it needs: the faster one and the slower one.

The first has the dependences that the trace says, or none; in the second each load waits for the one before it. Where hardly anything
overlaps anyway, it may be the other way round by a few percent: a store that waits for no load may get onto the bus before a load that
everything waits for, as with one miss handler and stores that go past the caches. So which run is which bound their times say, and their
order holds for what is planned.
"""
_VARIANTS: dict[Dependences, str] = {"recorded": "", "none": _BOUNDS[0], "chain": _BOUNDS[1]}
"""Names of runs by themselves."""


def chosen(facts: TraceFacts, dependences: str | None) -> tuple[Dependences, ...]:
    """Return the dependences to run a trace with: those asked for, or its own, and for the other bound all if it does not say each."""
    if dependences is not None:
        return tuple(name for name in _VARIANTS if name == dependences)
    its_own: Dependences = "recorded" if facts.says_dependences else "none"
    return (its_own, "chain") if facts.imported else (its_own,)


def variants(dependences: Sequence[Dependences]) -> Sequence[str]:
    """Name the runs of a trace, with such dependences, in the order of their times: as which bound, if they are one."""
    return _BOUNDS if len(dependences) > 1 else [_VARIANTS[name] for name in dependences]


@dataclass(frozen=True)
class TracePlan:
    """How a trace is run."""

    facts: TraceFacts
    machine: dict[str, Any]
    dependences: tuple[Dependences, ...]
    """One run for each."""
    window: dict[str, Position] = field(default_factory=dict)
    """The part that is run: ``from``, ``until`` and ``warm_up``, each a position, if they are given."""
    described: dict[str, str] = field(default_factory=dict)
    """The same as the user wrote it."""

    def rows(self) -> list[Row]:
        """Name each run as the rows of result tables are named: the trace by name and contents, the machine, the part."""
        asked = {"trace": self.facts.path.name, "sha256": file_digest(self.facts.path), **self.described}
        if self.facts.lacks:
            asked["lacks"] = "; ".join(self.facts.lacks)
        rows = []
        for dependences, variant in zip(self.dependences, variants(self.dependences), strict=True):
            workload = asked | {"dependences": dependences}
            parameters = {"machine.name": self.machine["name"]} | {f"workload.{name}": value for name, value in workload.items()}
            rows.append(Row(REPLAY, variant, parameters, Point.of(self.machine, workload)))
        return rows


@dataclass(frozen=True)
class TraceResults:
    """What the runs of a plan gave, the fastest first."""

    plan: TracePlan
    dependences: Sequence[Dependences]
    """Of each run."""
    runs: Sequence[native.Statistics]
    sites: Sequence[list[dict[str, Any]]]
    """The breakdown of each run by site in place of segment; empty lists if it was not asked for."""

    @property
    def variants(self) -> Sequence[str]:
        """Name each run: as which bound, if it is one."""
        return variants(self.dependences)

    def rows(self) -> list[Row]:
        """Return the plan's rows in the order of the runs, each as the bound that it is."""
        planned = dict(zip(self.plan.dependences, self.plan.rows(), strict=True))
        return [replace(planned[name], variant=variant) for name, variant in zip(self.dependences, self.variants, strict=True)]

    @property
    def seconds(self) -> list[float]:
        """The time of each run."""
        return [run["cycles"] / self.plan.machine["clock_hz"] for run in self.runs]


def events(plan: TracePlan, *, sites: bool) -> int:
    """Return how many events a run of a whole trace passes, by place in the code, too, if ``sites`` are asked for.

    One pass over those of a single thread serves all runs. Several threads pass each by themselves.
    """
    runs = len(plan.dependences) * (2 if sites else 1)
    return plan.facts.events * (runs if plan.facts.threads > 1 else 1)


def run(plan: TracePlan, *, sites: bool = False, progress: native.Progress = None) -> TraceResults:
    """Run a plan. Raises SpecError if the machine cannot be, UserError for a part that is not there."""
    runs = native.replay_runs(plan.facts.path, plan.machine, plan.dependences, sites=sites, window=plan.window, progress=progress)
    fastest_first = sorted(zip(plan.dependences, runs, strict=True), key=lambda run: int(run[1]["cycles"]))
    dependences, runs = [name for name, _ in fastest_first], [one for _, one in fastest_first]
    return TraceResults(plan, dependences, runs, [one.pop(BY_SITE, []) for one in runs])


def claim(plan: TracePlan, folder: Path) -> None:
    """Raise UserError if ``folder`` holds the results of something else, or cannot be written."""
    claim_folder(folder, Identity.of(REPLAY, plan.rows()))
    expect_folder(folder)


def write(results: TraceResults, folder: Path, started: float) -> None:
    """Write the tables of an experiment for the runs, and one by site; ``started`` is a time of `time.monotonic` in seconds."""
    rows = results.rows()
    ids = [row.point.id for row in rows]
    statistics = {point: run | {BY_SITE: sites} for point, run, sites in zip(ids, results.runs, results.sites, strict=True)}
    make_folder(folder)
    for name, make in ((RESULTS, table), (BREAKDOWN, breakdown_table), (SITES, sites_table)):
        write_atomically(folder / name, parquet_bytes(make(rows, statistics)))
    planned = results.plan.rows()
    write_manifest(folder, Identity.of(REPLAY, planned), planned, COMPLETED, time.monotonic() - started)
