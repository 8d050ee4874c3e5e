"""What the last cache saves: lines of an index that many operations touch, or that popular keys have."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from memwalk.analysis.advice.indexes.candidates import Candidate
from memwalk.analysis.advice.indexes.paths import leaf_path, path_above
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cost_models.popular_lines import Shared, missed_by_part


class Missed(NamedTuple):
    """Of the lines that an operation touches, the share that the last cache does not have."""

    levels: tuple[float, ...]
    """Of those of a search in the pages of each level, leaves first."""
    scanned: float
    """Of those of a scan's entries."""
    moved: float
    """Of those that an insertion moves."""


def missed(candidate: Candidate, operation: Operation, task: IndexTask, keys: int) -> Missed:
    """Return what operations miss that are done all the time: the cache holds the lines of an index that have been wanted latest."""
    scanned = min(task.scan_range, keys) if operation == "scan" else 0
    return _missed(candidate, keys, task.skew, task.cache_bytes // task.line_bytes, scanned, inserts=operation == "insert")


@lru_cache(maxsize=256)
def _missed(candidate: Candidate, keys: int, skew: float, lines: int, scanned: int, *, inserts: bool) -> Missed:
    levels = range(1, len(candidate.pages(keys)))
    parts = [leaf_path(candidate), *(path_above(candidate, level, keys) for level in levels)]
    # The lines of a range are wanted by whoever begins less than a range before.
    parts.append((Shared(candidate.scan_lines(scanned), scanned),) if scanned else ())
    parts.append((Shared(candidate.moved_lines, _moved_together(candidate)),) if inserts else ())
    found = iter(missed_by_part([part for group in parts for part in group], keys, skew, lines))
    shares = []
    for group in parts:
        touched = sum(part.lines for part in group)
        shares.append(sum(islice(found, len(group))) / touched if touched else 0.0)
    *of_levels, of_scan, of_insertion = shares
    return Missed(tuple(of_levels), of_scan, of_insertion)


def _moved_together(candidate: Candidate) -> float:
    """Return the entries whose insertions move the same lines: those of a leaf node, or of a page that is none."""
    in_nodes = candidate.structure.name in ("disk-first", "cache-first")
    return leaf_path(candidate)[-1].entries if in_nodes else candidate.entries
