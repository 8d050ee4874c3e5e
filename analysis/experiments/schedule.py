"""Which point runs next: points on the same tree together, the longest work first."""

from collections import deque
from collections.abc import Iterable
from typing import Any

from memwalk.analysis.experiments.points import Point, canonical

_TREE_KEYS = ("kernel", "keys", "fill", "tree", "maturity", "word_bytes", "line_bytes")
_TABLE_KEYS = ("layout", "page_bytes", "header_bytes", "attributes", "attribute_bytes", "records", "abstraction", "level_attributes")
_MATURING = 20
"""Rough cost of growing a tree by random insertions against bulkloading it, per key."""


def tree_key(workload: dict[str, Any]) -> str:
    """Names the data structure that a workload starts from; a worker keeps the last one it built."""
    return canonical([workload.get(key) for key in (*_TREE_KEYS, *_TABLE_KEYS)])


def work(workload: dict[str, Any]) -> int:
    """Estimates a point's work in key visits (on storage: requests); it orders points and weighs progress, nothing else."""
    building = workload.get("keys", 0) * (_MATURING if workload.get("maturity") == "mature" else 1)
    operations = workload.get("operations", 0) * 100 * max(1, workload.get("range", 1) // 50)
    fields = workload.get("records", 0) * workload.get("attributes", 0)
    return int(building + operations + fields + workload.get("lines", 0) + workload.get("count", 0))


class Schedule:
    """Deals points to workers. A worker stays with one tree; when no tree is left untouched, it shares another's."""

    def __init__(self, points: Iterable[Point]) -> None:
        groups: dict[str, list[Point]] = {}
        for point in points:
            groups.setdefault(tree_key(point.workload), []).append(point)
        for group in groups.values():
            group.sort(key=lambda point: work(point.workload), reverse=True)
        ordered = sorted(groups.values(), key=lambda group: sum(work(point.workload) for point in group), reverse=True)
        self.untouched = deque(deque(group) for group in ordered)
        self.own: dict[int, deque[Point]] = {}

    def take(self, worker: int) -> Point | None:
        """Return the worker's next point; None when there is none left."""
        mine = self.own.get(worker)
        if not mine:
            mine = self.own[worker] = self.untouched.popleft() if self.untouched else self._share()
        return mine.popleft() if mine else None

    def _share(self) -> deque[Point]:
        """Take half of what the busiest worker has before it."""
        busiest = max(self.own.values(), key=len, default=deque())
        taken = deque(busiest.pop() for _ in range((len(busiest) + 1) // 2))
        taken.reverse()
        return taken
