"""What makes times on this processor doubtful, or those of something else than what is simulated: a sentence each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from memwalk.analysis.experiments.canonical import digest
from memwalk.analysis.experiments.parameters import kernels
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.native import BUSY, Comparison
from memwalk.simcore.engines.native import Statistics

_DIFFERENT = 1.5
"""Most over least of repetitions beyond which something else was running."""
_LEAST_SHARE = 0.95
"""Of the time in which this program had the processor."""


def doubts(rows: Sequence[Row], compared: Sequence[Comparison], measured: Mapping[str, Statistics]) -> Iterator[str]:
    """Say what is doubtful about rows, how they compare, and what was measured of them (by point)."""
    if short := _names(one for one in compared if one.short):
        yield f"runs of {short} are shorter than 0.1 ms: take more operations, or more data"
    if wide := _names(one for one in compared if one.max_ns > _DIFFERENT * one.min_ns):
        yield f"repetitions of {wide} differ by more than half: something else was running"
    shares = {one.point: measured[one.point].get(BUSY, 1.0) for one in compared}
    if lost := _names(one for one in compared if shares[one.point] < _LEAST_SHARE):
        yield f"others had the processor for up to {1 - min(shares.values()):.0%} of the time of {lost}: they are timed, too"
    if not all(one["prefetches"] for one in measured.values()):
        yield "memwalk knows no prefetch instruction for this processor: nothing was prefetched"
    if copied := _names(one for one in compared if measured[one.point]["workload"].get("pages_read")):
        yield (
            f"{copied}: each page that comes into the pool is copied natively, and comes in no time in the simulation, where the caches "
            "keep its frame's lines: that does not compare; a frame for each page (pool_frames: 0) does"
        )
    yield from _other_programs(rows)


def _other_programs(rows: Sequence[Row]) -> Iterator[str]:
    """Say which rows are simulated with what the host does not run, or differ only in that."""
    calling = {row.variant for row in rows if kernels()[row.point.workload["kernel"]].calls_dbms}
    if calling:
        named = f" of {_listed(calling)}" if any(calling) else ""
        yield f"calls of the DBMS{named} take time in the simulation, and run nowhere natively: only pages and records are compared"
    same: dict[str, dict[str, str]] = {}
    for row in rows:
        same.setdefault(digest(row.point.workload), {})[row.variant] = digest(row.point.machine)
    for variants in {tuple(variants) for variants in same.values() if len(set(variants.values())) > 1}:
        yield f"{_listed(variants)} are one workload on different machines: natively they are the same, and what they differ by is noise"


def _names(compared: Iterable[Comparison]) -> str:
    return _listed({one.variant or one.operation for one in compared})


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
