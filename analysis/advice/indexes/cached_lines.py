"""What the last cache saves searches and scans because some keys are popular."""

from __future__ import annotations

from functools import lru_cache

from memwalk.analysis.advice.indexes.candidates import Candidate
from memwalk.analysis.advice.indexes.paths import leaf_path
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cost_models.popular_lines import Shared, missed_lines


def missed_share(candidate: Candidate, operation: Operation, task: IndexTask, keys: int) -> float:
    """Return the share of an operation's misses of the last cache that are left of those with keys that are all alike: 1 if they are."""
    if not task.skew:
        return 1.0
    path = leaf_path(candidate)
    if operation == "scan":
        # The lines of a range are wanted by whoever begins less than a range before.
        scanned = min(task.scan_range, keys)
        path = (*path, Shared(candidate.scan_lines(scanned), scanned))
    room = task.cache_bytes // task.line_bytes
    alike = _missed(path, keys, 0.0, room)
    return _missed(path, keys, task.skew, room) / alike if alike else 1.0


@lru_cache(maxsize=256)
def _missed(path: tuple[Shared, ...], keys: int, skew: float, lines: int) -> float:
    return missed_lines(path, keys, skew, lines)
