"""Where the time of a point goes: phase x data structure x cause, in cycles per operation; or by place in the code."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from memwalk.analysis.causes import ENDED, SLOTS_ENDED, describe, of_level
from memwalk.analysis.experiments.results import parameter_columns, varying_in_variants
from memwalk.analysis.explain.by import OF_CODE, By
from memwalk.analysis.explain.operations import counted_operations
from memwalk.analysis.explain.prefetch_effect import ISSUED, PrefetchEffect, prefetch_effect
from memwalk.analysis.explain.programs import by_program
from memwalk.analysis.explain.source_lines import source_lines
from memwalk.analysis.explain.tables import by_site, rows_of, tables
from memwalk.analysis.explain.time_breakdown import StorageExplanation, TimeBreakdown, slowdown, time_breakdown
from memwalk.analysis.explain.usage import SiteUsage, site_usage
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.paths import expect_path

FALSE_SHARING = "false_sharing"
"""Column of the breakdown, on machines whose caches are coherent."""
ALL = ""
"""The phase or segment of a part that is of all of them."""
SHOWN, SHOWN_OF_ALL = 0.005, 0.5
"""Numbers per operation, and of a whole run, below these are 0 in print."""


@dataclass(frozen=True)
class Part:
    """What one data structure cost in one phase, or cores that had ended. All numbers are per operation, except ``share`` (of all slots).

    A run that does not say how many operations it consists of is one: another tool's trace, or a part of one.
    """

    phase: str
    """Empty for all phases together."""
    segment: str
    """The data structure, or the place in the code; empty for all together."""
    cycles: float
    share: float
    causes: dict[str, float]
    """Cycles by cause (`memwalk.analysis.causes`), the data cache by level: dcache_<level>."""
    served: dict[str, float]
    """Loads and stores by the level that served them."""
    walks: float
    """Page-table walks."""
    false_sharing: float = 0.0
    """Loads and stores that missed lines of which other cores had written other parts."""

    @property
    def is_idle(self) -> bool:
        """Whether it is of cores that have not begun, or have ended."""
        return self.phase in (native.NOT_BEGUN, ENDED.word)


@dataclass(frozen=True)
class Explanation:
    """The breakdown of one point; the parts' cycles sum to ``cycles``."""

    experiment: str
    variant: str
    point: str
    parameters: dict[str, object]
    """All that was asked for, by its column: ``workload.keys``."""
    varying: dict[str, object]
    """Those that distinguish the point from the others of its variant."""
    operations: int | None
    """How many the run consists of; None if a trace, or a part of it, does not say so: numbers are then of the whole run."""
    cycles: float
    """Cycles per operation."""
    causes: dict[str, float]
    misses: dict[str, float]
    """Lines that each data cache did not find, per operation."""
    parts: tuple[Part, ...]
    fills: float = 0.0
    """Lines that came from memory, per operation."""
    usage: tuple[SiteUsage, ...] = ()
    """Bytes fetched against bytes used, if that was observed."""
    time: TimeBreakdown | None = None
    """Seconds, I/O stall included, if the experiment names a storage device."""
    prefetching: PrefetchEffect | None = None
    """What software prefetching did, if some point of the table prefetches."""
    slowdown: float | None = None
    """How many times longer it takes than alone, if others run beside it."""

    def headline(self) -> str:
        """Says in one sentence what costs most, and why."""
        idle = sum(part.share for part in self.parts if part.is_idle)
        dearest = max(self.parts, key=lambda part: (not part.is_idle, part.cycles))
        where = " in ".join(name for name in (dearest.segment, dearest.phase) if name != ALL)
        cycles, per = ("cycles", "There, in all") if self.operations is None else ("cycles per operation", "There, per operation")
        cause = max(dearest.causes, key=lambda name: dearest.causes[name])
        shown = {level: count for level, count in dearest.served.items() if count >= self.shown}
        served = ", ".join(f"{self.written(count)} by {of_level(level)}" for level, count in shown.items())
        accesses = f"accesses served {served}" if served else "no accesses"
        most = "Most"
        if idle > dearest.share:
            most = f"Cores do nothing for {idle:.0%} of the time, as they have not begun, or have ended. Of the rest most"
        return (
            f"{most} goes to {where}: {dearest.cycles:,.1f} of {self.cycles:,.1f} {cycles} ({dearest.share:.0%}), "
            f"mainly {describe(cause)}. {per}: {accesses}; {self.written(dearest.walks)} page-table walks."
        )

    def lines(self) -> str:
        """Says which lines the caches did not find, and how many came from memory, if hardware prefetchers asked for further ones."""
        missed = ", ".join(f"{level} {self.written(count)}" for level, count in self.misses.items())
        last = next(reversed(self.misses.values()), 0.0)
        if self.fills - last < self.shown:
            return f"Lines missed: {missed}."
        return f"Lines missed: {missed}. Lines from memory, with what hardware prefetchers asked for: {self.written(self.fills)}."

    def false_sharing(self) -> str:
        """Says in one sentence which data structures cores take from each other for nothing; empty if none are."""
        counts: dict[str, float] = {}
        for part in self.parts:
            counts[part.segment or part.phase] = counts.get(part.segment or part.phase, 0.0) + part.false_sharing
        shown = {name: count for name, count in counts.items() if count >= self.shown}
        if not shown:
            return ""
        where = ", ".join(f"{name} {self.written(count)}" for name, count in sorted(shown.items(), key=lambda one: -one[1]))
        return f"Missed because another core had written other parts of the line (false sharing): {where}."

    @property
    def shown(self) -> float:
        """The least number that is not 0 in print."""
        return SHOWN_OF_ALL if self.operations is None else SHOWN

    def written(self, number: float) -> str:
        """Write a number of the breakdown: a whole one where it is of the whole run."""
        return f"{number:,.0f}" if self.operations is None else f"{number:,.2f}"


def explain(
    result: Path, variant: str | None = None, by: By | None = None, program: Path | None = None
) -> list[Explanation | StorageExplanation]:
    """Explains every point of a result: a results folder, its ``results.parquet``, or the JSON file of one point.

    ``variant`` keeps one variant; ``by`` puts the parts together that have the same data structure, phase or place in the code, in
    the last case the dearest first. ``program`` is what knows the lines. Raises UserError if ``result`` is nothing of the kind, has no
    such variant, or does not know places in the code, and for ``by`` if nothing has cycles, or if it is none of `By`.
    """
    expect_path("result", result)
    if by is not None and by not in list(By):
        raise UserError(f"by={by!r}: expected one of {', '.join(By)}, or None for all parts")
    results, breakdown, usage = tables(result)
    everything = results
    lines: dict[str, str] = {}
    if by in OF_CODE:
        breakdown = by_site(result)
    if by == By.LINE:
        if program is None:
            raise UserError("--by line: name the program that was recorded, such as --program ./a.out")
        lines = source_lines(program, breakdown["segment"].unique())
    if variant is not None:
        known = list(dict.fromkeys(results["variant"]))
        results = results[results["variant"] == variant]
        if results.empty:
            names = ", ".join(name for name in known if name) or "none"
            raise UserError(f"{result}: no variant `{variant}`; it has {names}")
    explanations = [_put_together(one, by, lines) for one in _explanations(results, everything, breakdown, usage)]
    if not explanations:
        raise UserError(f"{result}: has neither cycles nor seconds, so there is nothing to break down")
    if by is not None and not any(isinstance(one, Explanation) for one in explanations):
        raise UserError(f"--by {by}: {result} has seconds by cause alone, as workloads on storage do, and none by {by}; leave it out")
    return explanations


def _put_together(one: Explanation | StorageExplanation, by: By | None, lines: Mapping[str, str]) -> Explanation | StorageExplanation:
    """Put together what `explain` is asked to; ``lines`` are those of places in the code."""
    if by is None or not isinstance(one, Explanation):
        return one
    kept = [replace(part, segment=ALL) if by == By.PHASE or part.segment == ALL else replace(part, phase=ALL) for part in one.parts]
    groups: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for part in kept:
        name = lines.get(part.segment, part.segment)
        groups[part.phase, name].append(replace(part, segment=name))
    parts = [_sum(group) for group in groups.values()]
    if by in OF_CODE:
        parts.sort(key=lambda part: -part.cycles)
    return replace(one, parts=tuple(parts))


def _sum(parts: list[Part]) -> Part:
    """Add parts of one name."""
    return replace(
        parts[0],
        cycles=sum(part.cycles for part in parts),
        share=sum(part.share for part in parts),
        causes=_added(part.causes for part in parts),
        served=_added(part.served for part in parts),
        walks=sum(part.walks for part in parts),
        false_sharing=sum(part.false_sharing for part in parts),
    )


def _added(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in counts:
        total |= {name: total.get(name, 0.0) + count for name, count in one.items()}
    return total


def _explanations(
    results: pd.DataFrame, everything: pd.DataFrame, breakdown: pd.DataFrame, usage: pd.DataFrame
) -> Iterator[Explanation | StorageExplanation]:
    """Explain points; ``everything`` has those of all variants, with which some are compared."""
    names, varying_names = parameter_columns(results), varying_in_variants(results)
    prefetches = ISSUED in everything and bool((everything[ISSUED] > 0).any())
    for _, row in results.iterrows():
        parameters = {name: _plain(row[name]) for name in names if not pd.isna(row[name])}
        varying = {name: parameters[name] for name in varying_names if name in parameters}
        if "cycles" in row and not pd.isna(row["cycles"]):
            one = _explanation(row, parameters, varying, rows_of(row, breakdown), rows_of(row, usage))
            yield replace(one, prefetching=prefetch_effect(row.to_dict(), everything) if prefetches else None)
            each: dict[str, Mapping[Any, Any]] = {**by_program(row.to_dict())}
        else:
            each = {**by_program(row.to_dict())} or {"": row.to_dict()}
        for program, columns in each.items():
            if (time := time_breakdown(columns)) is not None:
                named = {"program": program} if program else {}
                where = (row["experiment"], row["variant"], row["point"])
                yield StorageExplanation(*where, parameters | named, varying | named, time, slowdown(columns))


def _plain(value: object) -> object:
    """Return a value of a table as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def _explanation(
    row: "pd.Series[Any]", parameters: dict[str, object], varying: dict[str, object], breakdown: pd.DataFrame, usage: pd.DataFrame
) -> Explanation:
    """Explain a point of a machine; the tables hold its rows only."""
    ended = int(row[SLOTS_ENDED]) if SLOTS_ENDED in row and not pd.isna(row[SLOTS_ENDED]) else 0
    whole = int(row["slots_total"]) + ended
    width = whole / row["cycles"]  # of all cores
    counted = counted_operations(row.to_dict())
    operations = counted or 1
    unit = 1 / (width * operations)  # one slot in cycles per operation
    parts = [*_parts(breakdown, unit, whole, operations)]
    causes = dict(breakdown.groupby("cause", sort=False)["slots"].sum())
    if ended:
        parts.append(Part(ENDED.word, ALL, ended * unit, ended / whole, {ENDED.name: ended * unit}, {}, 0.0))
        causes[ENDED.name] = ended
    return Explanation(
        experiment=row["experiment"],
        variant=row["variant"],
        point=row["point"],
        parameters=parameters,
        varying=varying,
        operations=counted,
        cycles=float(row["cycles"] / operations),
        causes={str(cause): float(slots) * unit for cause, slots in causes.items()},
        misses=dict(_misses(row, breakdown, operations)),
        fills=float(row["bus_fills"] / operations),
        parts=tuple(parts),
        usage=tuple(site_usage(usage, operations)),
        time=time_breakdown(row.to_dict()),
        slowdown=slowdown(row.to_dict()),
    )


def _misses(row: "pd.Series[Any]", breakdown: pd.DataFrame, operations: int) -> Iterator[tuple[str, float]]:
    """Yield the misses of each data cache, per operation."""
    for column in breakdown.columns:
        level = str(column).removeprefix("served_")
        if level != column and f"{level}_misses" in row and not pd.isna(row[f"{level}_misses"]):
            yield level, float(row[f"{level}_misses"] / operations)


def _parts(breakdown: pd.DataFrame, unit: float, total: int, operations: int) -> Iterator[Part]:
    levels = [name for name in breakdown.columns if name.startswith("served_")]
    for (phase, segment), group in breakdown.groupby(["phase", "segment"], sort=False):
        slots = int(group["slots"].sum())
        first = group.iloc[0]
        if slots == 0 and first["accesses"] == 0:
            continue
        yield Part(
            phase=str(phase),
            segment=ALL if phase == native.NOT_BEGUN else str(segment),
            cycles=slots * unit,
            share=slots / total,
            causes={str(cause): float(count) * unit for cause, count in zip(group["cause"], group["slots"], strict=True)},
            served={level.removeprefix("served_"): float(first[level] / operations) for level in levels if not pd.isna(first[level])},
            walks=float(first["walks"] / operations),
            false_sharing=0.0 if pd.isna(first.get(FALSE_SHARING)) else float(first[FALSE_SHARING] / operations),
        )
