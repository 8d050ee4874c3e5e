"""Miss curves as tables: misses of LRU caches by capacity, exact or from a sample, and misses by their cause."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from memwalk.analysis.capacities import MOST_LINES, Geometry, columns, octaves
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.units import in_units

log = logging.getLogger("memwalk")


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

    Columns as of `exact`, and ``standard_error`` of the miss ratio. Caches for which the sample is too small are left out, with a warning
    if they were asked for. Raises UserError for more than one set, and for a sample that is too small for this trace.
    """
    if geometry.sets != 1:
        raise UserError("--shards estimates fully associative caches only; leave --sets out")
    ways = octaves(MOST_LINES, geometry) if sizes is None else geometry.ways(sizes)
    estimate = native.sampled_curve(source, geometry.line_bytes, ways, rate=rate, lines=lines, progress=progress)
    accesses = estimate["accesses"]
    if not estimate["sampled"]:
        raise UserError(f"{_sample(rate, lines)}: none of the {accesses:,} accesses is in the sample; {_LARGER_SAMPLE}")
    known = [place for place, misses in enumerate(estimate["misses"]) if misses is not None]
    small = f"a line of the sample stands for {1 / estimate['rate']:,.0f}, and eight of its lines for the smallest cache that it tells of"
    if not known:
        raise UserError(f"{_sample(rate, lines)}: {small}; {_LARGER_SAMPLE}")
    if sizes is not None and len(known) < len(ways):
        unknown = [in_units(size) for place, size in enumerate(sizes) if place not in set(known)]
        log.warning("%s: nothing is known of %s: %s; %s", _sample(rate, lines), ", ".join(unknown), small, _LARGER_SAMPLE)
    frame = _table(geometry, [ways[place] for place in known], [estimate["misses"][place] for place in known], accesses)
    frame["standard_error"] = np.array([estimate["standard_errors"][place] for place in known]) / max(accesses, 1)
    if sizes is None:
        flat = int((frame["misses"] <= frame["misses"].min()).argmax())
        frame = frame.iloc[: flat + 1]
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
