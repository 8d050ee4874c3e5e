"""Which point runs next: points on the same data structure together, the longest work first."""

from collections import deque
from collections.abc import Iterable, Mapping

from memwalk.analysis.experiments.points import Point, canonical
from memwalk.analysis.experiments.work import Work, structure, works


class Schedule:
    """Deals points to workers. A worker stays with one data structure; when none is left untouched, it shares another's."""

    def __init__(self, points: Iterable[Point], estimated: Mapping[str, Work] | None = None) -> None:
        """``estimated`` has the work of each point by id, if it is known already."""
        points = list(points)
        known = works(points) if estimated is None else estimated
        groups: dict[str, list[Point]] = {}
        for point in points:
            groups.setdefault(structure(point.workload), []).append(point)
        for group in groups.values():
            # What differs in its storage only has its neighbour's run of the processor.
            group.sort(key=lambda point: (-known[point.id].seconds, canonical([point.machine, point.workload])))
        ordered = sorted(groups.values(), key=lambda group: sum(known[point.id].seconds for point in group), reverse=True)
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
