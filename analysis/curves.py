"""Miss curves as tables: misses of LRU caches by capacity, exact or from a sample, and misses by their cause."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

STEPS_PER_OCTAVE = 4
"""Capacities between one power of two and the next, where nobody chose any."""

Progress = Callable[[int], None] | None


@dataclass(frozen=True)
class Geometry:
    """What the caches of a curve have in common: line size, and number of sets (one is full associativity)."""

    line_bytes: int
    sets: int = 1

    @property
    def step_bytes(self) -> int:
        """Capacities are multiples of one line in each set."""
        return self.line_bytes * self.sets

    def ways(self, sizes: Sequence[int]) -> list[int]:
        """Lines per set of caches of these sizes in bytes. Raises UserError for a size that no such cache has."""
        for size in sizes:
            if size % self.step_bytes or size == 0:
                below = size // self.step_bytes * self.step_bytes
                near = f"{below or self.step_bytes} or {below + self.step_bytes}"
                raise UserError(f"--sizes: {size} bytes are no multiple of {self.step_bytes} (line x sets); the nearest are {near}")
        return [size // self.step_bytes for size in sizes]


def exact(source: native.Source, geometry: Geometry, sizes: Sequence[int] | None = None, progress: Progress = None) -> pd.DataFrame:
    """Count the misses at ``sizes`` (bytes), or at several per octave until only cold misses are left.

    Columns: ``capacity_bytes``, ``ways`` (lines per set), ``misses``, ``miss_ratio``.
    """
    ways = None if sizes is None else geometry.ways(sizes)
    misses = native.miss_curve(source, geometry.line_bytes, geometry.sets, progress)
    chosen = np.array(_octaves(len(misses) - 1, geometry) if ways is None else ways, dtype=np.int64)
    counted = misses[np.minimum(chosen, len(misses) - 1)].astype(np.int64)
    return _frame(geometry, chosen, counted, int(misses[0]))


def sampled(
    source: native.Source,
    geometry: Geometry,
    sizes: Sequence[int] | None = None,
    *,
    rate: float | None = None,
    lines: int | None = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Estimate the misses from a sample of the lines (SHARDS): a share of them, or so many at most.

    Columns as of `exact`, and ``standard_error`` of the miss ratio. Raises UserError for more than one set, and for a sample that
    is too small for this trace.
    """
    if geometry.sets != 1:
        raise UserError("--shards estimates fully associative caches only; leave --sets out")
    ways = _octaves(_MOST_LINES, geometry) if sizes is None else geometry.ways(sizes)
    estimate = native.sampled_curve(source, geometry.line_bytes, ways, rate=rate, lines=lines, progress=progress)
    accesses = estimate["accesses"]
    if not estimate["sampled"]:
        raise UserError(f"{_sample(rate, lines)}: none of the {accesses:,} accesses is in the sample; {_LARGER_SAMPLE}")
    frame = _frame(geometry, np.array(ways), np.array(estimate["misses"]), accesses)
    frame["standard_error"] = np.array(estimate["standard_errors"]) / max(accesses, 1)
    if sizes is None:
        flat = int((frame["misses"] <= frame["misses"].min()).argmax())
        frame = frame.iloc[: flat + 1]
        # One line of the sample stands for 1/rate lines: it tells nothing of smaller caches.
        frame = frame[frame["ways"] * estimate["rate"] >= 1].reset_index(drop=True)
        if frame.empty:
            told = f"a line of the sample stands for {1 / estimate['rate']:,.0f}, and misses end in smaller caches"
            raise UserError(f"{_sample(rate, lines)}: {told}; {_LARGER_SAMPLE}")
    return frame


def octaves() -> list[int]:
    """Capacities of a curve whose length nobody knows yet, in lines of a fully associative cache."""
    return _octaves(_MOST_LINES, Geometry(1))


def trimmed(line_bytes: int, misses: Sequence[int], accesses: int) -> pd.DataFrame:
    """Make the curve of fully associative caches of `octaves` lines, up to where only cold misses are left; columns as of `exact`."""
    ways, counted = np.array(octaves()), np.array(misses)
    known = ways * line_bytes <= _MOST_BYTES
    flat = int((counted == counted.min()).argmax())
    return _frame(Geometry(line_bytes), ways[known][: flat + 1], counted[known][: flat + 1], accesses)


def classes(source: native.Source, machine: dict[str, Any], progress: Progress = None) -> pd.DataFrame:
    """Classify the misses of each cache of a machine, as if it were alone; one row per cache and segment.

    Columns: ``cache``, ``segment``, ``accesses``, ``compulsory``, ``capacity``, ``conflict``, ``spared``.
    """
    results = [native.classify(source, machine, cache, progress) for cache in range(len(machine["caches"]))]
    return pd.DataFrame([{"cache": result["name"], **row} for result in results for row in result["rows"]])


_MOST_LINES = 2**34
"""More lines than any trace uses."""
_MOST_BYTES = 2**63 - 1
"""The largest capacity that a table holds."""
_LARGER_SAMPLE = "take a larger one, or leave it out: the exact curve of a short trace is quick"


def _sample(rate: float | None, lines: int | None) -> str:
    """Write the option that asked for a sample."""
    return f"--shards {rate:g}" if lines is None else f"--shards-lines {lines}"


def _octaves(most: int, geometry: Geometry) -> list[int]:
    """Lines per set, up to the first power of two that is not below ``most``, a few per octave."""
    last = STEPS_PER_OCTAVE * max(most - 1, 0).bit_length()
    largest = _MOST_BYTES // geometry.step_bytes
    return sorted({ways for step in range(last + 1) if (ways := round(2 ** (step / STEPS_PER_OCTAVE))) <= largest})


def _frame(geometry: Geometry, ways: Any, misses: Any, accesses: int) -> pd.DataFrame:
    columns = {"capacity_bytes": ways * geometry.step_bytes, "ways": ways, "misses": misses, "miss_ratio": misses / max(accesses, 1)}
    return pd.DataFrame(columns)
