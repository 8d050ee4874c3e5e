"""Miss curves as tables: misses of LRU caches by capacity, exact or from a sample, and misses by their cause."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from memwalk.analysis.capacities import MOST_LINES, Geometry, columns, octaves
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError


def exact(source: native.Source, geometry: Geometry, sizes: Sequence[int] | None = None, progress: native.Progress = None) -> pd.DataFrame:
    """Count the misses at ``sizes`` (bytes), or at several per octave until only cold misses are left.

    Columns: ``capacity_bytes``, ``ways`` (lines per set), ``misses``, ``miss_ratio``.
    """
    ways = None if sizes is None else geometry.ways(sizes)
    misses = native.miss_curve(source, geometry.line_bytes, geometry.sets, progress)
    chosen = octaves(len(misses) - 1, geometry) if ways is None else ways
    counted = misses[np.minimum(np.array(chosen, dtype=np.int64), len(misses) - 1)].tolist()
    return _table(geometry, chosen, counted, int(misses[0]))


def sampled(
    source: native.Source,
    geometry: Geometry,
    sizes: Sequence[int] | None = None,
    *,
    rate: float | None = None,
    lines: int | None = None,
    progress: native.Progress = None,
) -> pd.DataFrame:
    """Estimate the misses from a sample of the lines (SHARDS): a share of them, or so many at most.

    Columns as of `exact`, and ``standard_error`` of the miss ratio. Raises UserError for more than one set, and for a sample that
    is too small for this trace.
    """
    if geometry.sets != 1:
        raise UserError("--shards estimates fully associative caches only; leave --sets out")
    ways = octaves(MOST_LINES, geometry) if sizes is None else geometry.ways(sizes)
    estimate = native.sampled_curve(source, geometry.line_bytes, ways, rate=rate, lines=lines, progress=progress)
    accesses = estimate["accesses"]
    if not estimate["sampled"]:
        raise UserError(f"{_sample(rate, lines)}: none of the {accesses:,} accesses is in the sample; {_LARGER_SAMPLE}")
    frame = _table(geometry, ways, estimate["misses"], accesses)
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


def classes(source: native.Source, machine: dict[str, Any], progress: native.Progress = None) -> pd.DataFrame:
    """Classify the misses of each cache of a machine, as if it were alone; one row per cache and segment.

    Columns: ``cache``, ``segment``, ``accesses``, ``compulsory``, ``capacity``, ``conflict``, ``spared``.
    """
    results = [native.classify(source, machine, cache, progress) for cache in range(len(machine["caches"]))]
    return pd.DataFrame([{"cache": result["name"], **row} for result in results for row in result["rows"]])


_LARGER_SAMPLE = "take a larger one, or leave it out: the exact curve of a short trace is quick"


def _sample(rate: float | None, lines: int | None) -> str:
    """Write the option that asked for a sample."""
    return f"--shards {rate:g}" if lines is None else f"--shards-lines {lines}"


def _table(geometry: Geometry, ways: Sequence[int], misses: Sequence[int], accesses: int) -> pd.DataFrame:
    return pd.DataFrame(columns(geometry, ways, misses, accesses))
