"""The times of a tuple's stages, C_0 ... C_k of equations 4.1 and 4.2 (Chen's thesis, chapter 4), measured in simulation.

What is measured are cycles per tuple of a group-prefetching phase on the same core where no access waits: every line is in a first-level
cache of any size, or one cycle behind it, and translations are free. Group prefetching runs a stage for all tuples of a group before the
next one begins, so that a stage takes the time from one border to the next, divided by the group. The instructions of prefetches and of
states of tuples under way are in it, and so are mispredicted branches; tuples of one stage overlap as far as the reorder buffer reaches.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from memwalk.simcore.engines import native

GROUP = 256
"""Tuples of a group: many more than the reorder buffer holds, so that what overlaps across a border is little."""
GROUPS = 8
"""Groups that run; the first, which teaches the branch predictor and opens pages, is not measured."""
LEAST_GROUPS = 2
"""Groups that run where a tuple has much to do: one is measured."""
TUPLES = GROUP * GROUPS
_CACHE_BYTES = 64 << 20
"""More than all that the runs touch, where that is a whole number of sets; else the next size that is."""
_EVENTS_AT_ONCE = 1 << 16
"""Events of a trace that are in memory at a time."""
_BORDER = "next tuple of the stage"
"""Where the code ends a tuple's stage: the site of its branch."""


def stage_cycles(machine: Mapping[str, Any], workload: Mapping[str, Any], phase: str, groups: int = GROUPS) -> list[float]:
    """Return C_0 ... C_k, in cycles per tuple, of a phase that takes ``groups`` groups of tuples through its stages on a machine's core."""
    ideal = without_misses(machine)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "groups.parquet"
        native.record({**workload, "algorithm": "group", "group_size": GROUP}, trace)
        borders = _borders(trace, phase)
        ends = [_cycles_until(trace, ideal, border) for border in borders]
    stages = (len(borders) - 1) // groups
    cycles = [after - before for before, after in pairwise(ends)][stages:]
    return [sum(cycles[stage::stages]) / (GROUP * (groups - 1)) for stage in range(stages)]


def without_misses(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the machine with a first level that holds everything, before a memory that is as near as can be, and with free page walks."""
    first = machine["caches"][0]
    set_bytes = first["ways"] * first["line_bytes"]
    # Walks that read page tables would read them from caches that are not there.
    translation = {name: value for name, value in machine["dtlb"].items() if name != "page_table"}
    return {
        **machine,
        "caches": [{**first, "size_bytes": -(-_CACHE_BYTES // set_bytes) * set_bytes}],
        "dtlb": {**translation, "levels": translation["levels"][:1], "walk_latency_cycles": 0},
        "memory": {
            "model": "fixed",
            "latency_cycles": first["latency_cycles"] + 1,
            "interval_cycles": 1,
            "write_backs_use_bus": False,
        },
    }


def _borders(trace: Path, phase: str) -> list[int]:
    """Find where a phase begins and where each group ends a stage, in events from the trace's beginning."""
    layout = native.trace_info(trace)["layout"]
    number, border = layout["phases"].index(phase), layout["sites"].index(_BORDER)
    begins: list[int] = []
    ends: list[int] = []
    mark = None
    for first, kinds, addresses, sites in _columns(trace):
        # A trace begins with the mark that opens its first phase.
        mark = kinds[0] if mark is None else mark
        begins += (first + np.flatnonzero((kinds == mark) & (addresses == number))).tolist()
        ends += (first + 1 + np.flatnonzero(sites == border)).tolist()
    (begin,) = begins
    return [begin, *[end for end in ends if end > begin][GROUP - 1 :: GROUP]]


def _columns(trace: Path) -> Iterator[tuple[int, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]]:
    """Read a trace of one thread in parts: the number of each part's first event, then kinds, addresses and sites of its events."""
    first = 0
    for batch in pq.ParquetFile(trace).iter_batches(_EVENTS_AT_ONCE, columns=["kind", "address", "site"]):
        kinds, addresses, sites = (column.to_numpy() for column in batch.columns)
        yield first, kinds, addresses, sites
        first += batch.num_rows


def _cycles_until(trace: Path, machine: dict[str, Any], event: int) -> int:
    (run,) = native.replay_runs(trace, machine, ["recorded"], window={"until": {"events": event}})
    return int(run["cycles"])
