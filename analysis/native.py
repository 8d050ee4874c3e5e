"""An experiment on this processor, beside its simulation: times per operation, and speed-ups over one variant."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from memwalk.analysis.experiments.points import Row, distinct_points, varying_parameters
from memwalk.simcore.detect.host import known_caches
from memwalk.simcore.detect.measure import EVICTION
from memwalk.simcore.detect.sysfs import CPU
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError

UNKNOWN_CACHE_BYTES = 64 * 2**20
"""What caches are taken to hold together where nobody says."""

BUSY = "processor_share"
"""Under which a measurement of one thread says in which share of the time, building included, this program had the processor."""

SHORT_NS = 1e5
"""A repetition below this (nanoseconds) says little: interrupts and the clock are not small against it."""


@dataclass(frozen=True)
class Comparison:
    """One workload on this processor and on the simulated machine. Times are nanoseconds per operation."""

    variant: str
    operation: str
    parameters: dict[str, Any]
    """What varies within the variants."""
    point: str
    median_ns: float
    min_ns: float
    max_ns: float
    simulated_ns: float
    speedup: float | None
    """Median of the baseline over that of this variant; None if there is no baseline to this row."""
    simulated_speedup: float | None
    short: bool
    """Whether a repetition was too short to be trusted."""

    @property
    def ratio(self) -> float | None:
        """How the native speed-up compares with the simulated one; 1 is agreement."""
        return self.speedup / self.simulated_speedup if self.speedup and self.simulated_speedup else None


def eviction_bytes(cpu: Path = CPU) -> int:
    """Return how much must be read to empty the caches of this computer; CPUID says how large they are where the system does not."""
    caches, _ = known_caches(native.host_processor(), cpu)
    return EVICTION * (max((cache.size_bytes for cache in caches), default=0) or UNKNOWN_CACHE_BYTES)


def choose_baseline(rows: Sequence[Row], wanted: str | None) -> str:
    """Return the variant that speed-ups are over: the wanted one, or the first. Raises UserError if there is none such."""
    variants = list(dict.fromkeys(row.variant for row in rows))
    if wanted is None:
        return variants[0]
    if wanted not in variants:
        raise UserError(f"--baseline {wanted}: no such variant; there are {', '.join(filter(None, variants)) or 'none'}")
    return wanted


def run_natively(rows: Sequence[Row], repetitions: int, begin: Callable[[Row], native.Progress]) -> dict[str, Statistics]:
    """Run every point of ``rows`` on this processor, one after the other; by point id.

    ``begin`` hears of each point before it runs and returns who hears how it gets on.
    """
    evict_bytes = eviction_bytes()
    measured = {}
    for point in distinct_points(rows):
        row = next(row for row in rows if row.point.id == point.id)
        progress = begin(row)
        try:
            workload = native.warmed_up(point.workload, point.machine) if point.machine else point.workload
            measured[point.id] = _run(workload, repetitions, evict_bytes, progress)
        except native.SpecError as error:
            path, message = error.args
            raise UserError(f"{row.variant or row.experiment}: workload.{path}: {message}") from None
        if not measured[point.id]["workload"]["operations"]:
            raise UserError(f"{row.variant or row.experiment}: {_nothing_done(point.workload)}")
    return measured


def _run(workload: dict[str, Any], repetitions: int, evict_bytes: int, progress: native.Progress) -> Statistics:
    """Run a workload natively, and say which share of the time it had the processor."""
    began, worked = time.perf_counter(), time.process_time()
    measured = native.run_native(workload, repetitions, evict_bytes, progress)
    if native.threads(workload) > 1:  # which wait for each other, and before the run for the one that builds
        return measured
    return measured | {BUSY: (time.process_time() - worked) / (time.perf_counter() - began)}


def _nothing_done(workload: Mapping[str, Any]) -> str:
    """Say which parameters leave a workload without operations."""
    zero = [f"workload.{name}" for name, value in workload.items() if name == "operations" or name.endswith("_tuples") if value == 0]
    are = "are" if len(zero) > 1 else "is"
    return f"{' and '.join(zero) or 'workload'} {are} 0: times are per operation, of which there are none; it takes 1 at least"


def compare(
    rows: Sequence[Row],
    measured: Mapping[str, Statistics],
    simulated: Mapping[str, Statistics],
    baseline: str,
) -> list[Comparison]:
    """Put native and simulated times of every row side by side; both mappings are by point id.

    A row's baseline is the row of variant ``baseline`` that has the same values of what varies within the variants.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.variant, []).append(row)
    within = list(dict.fromkeys(name for group in groups.values() for name in varying_parameters(group)))

    def place(row: Row) -> tuple[str, ...]:
        return tuple(str(row.parameters.get(name)) for name in within)

    bases = {place(row): row for row in groups.get(baseline, [])}
    found = []
    for row in rows:
        times = _per_operation(measured[row.point.id])
        theirs = _simulated_ns(row, simulated)
        base = bases.get(place(row))
        found.append(
            Comparison(
                variant=row.variant,
                operation=row.point.workload.get("operation", row.point.workload["kernel"]),
                parameters={name: row.parameters.get(name) for name in within},
                point=row.point.id,
                median_ns=statistics.median(times),
                min_ns=min(times),
                max_ns=max(times),
                simulated_ns=theirs,
                speedup=statistics.median(_per_operation(measured[base.point.id])) / statistics.median(times) if base else None,
                simulated_speedup=_simulated_ns(base, simulated) / theirs if base else None,
                short=min(measured[row.point.id]["times_ns"]) < SHORT_NS,
            )
        )
    return found


def table(comparisons: Sequence[Comparison], measured: Mapping[str, Statistics]) -> pd.DataFrame:
    """Make the tidy table that is kept: one line per row and repetition; times are nanoseconds per operation."""
    return pd.DataFrame(
        [
            {"variant": one.variant, "point": one.point, "operation": one.operation}
            | one.parameters
            | {"repetition": number, "native_ns": time, "simulated_ns": one.simulated_ns}
            for one in comparisons
            for number, time in enumerate(_per_operation(measured[one.point]))
        ]
    )


def _per_operation(measured: Statistics) -> list[float]:
    operations = measured["workload"]["operations"]
    return [time / operations for time in measured["times_ns"]]


def _simulated_ns(row: Row, simulated: Mapping[str, Statistics]) -> float:
    """Return the time of an operation in all phases but the first, which prepares: those are timed natively."""
    found = simulated[row.point.id]
    prepares = found["phases"][0]["phase"]
    share = sum(part["slots"]["total"] for part in found["breakdown"] if part["phase"] != prepares) / found["slots"]["total"]
    return float(share * found["cycles"] / found["workload"]["operations"] / row.point.machine["clock_hz"] * 1e9)
