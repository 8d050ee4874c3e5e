"""Which points run next: those on the same data structure together, the longest work first; those of one run of a kernel at once."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memwalk.analysis.experiments.canonical import canonical
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.task import Together
from memwalk.analysis.experiments.work import Work, structure, works


class Schedule:
    """Deals points to workers. A worker stays with one data structure; when none is left untouched, it shares another's.

    Points that differ in their machine only are dealt together: one run of the kernel is for all of them.
    """

    def __init__(self, points: Iterable[Point], estimated: Mapping[str, Work] | None = None, workers: int = 1) -> None:
        """``estimated`` has the work of each point by id, if it is known already. All of ``workers`` are to have something to do."""
        points = list(points)
        known = works(points) if estimated is None else estimated
        share = -(-len(points) // workers)
        groups: dict[str, list[Point]] = {}
        for point in points:
            groups.setdefault(structure(point.workload), []).append(point)
        for group in groups.values():
            group.sort(key=lambda point: -known[point.id].seconds)
        ordered = sorted(groups.values(), key=lambda group: sum(known[point.id].seconds for point in group), reverse=True)
        self.untouched = deque(deque(_together(group, share)) for group in ordered)
        self.own: dict[int, deque[Together]] = {}

    def take(self, worker: int) -> Together | None:
        """Return the worker's next points; None when there are none left."""
        mine = self.own.get(worker)
        if not mine:
            mine = self.own[worker] = self.untouched.popleft() if self.untouched else self._share()
        return mine.popleft() if mine else None

    def _share(self) -> deque[Together]:
        """Take half of what the busiest worker has before it."""
        busiest = max(self.own.values(), key=len, default=deque())
        taken = deque(busiest.pop() for _ in range((len(busiest) + 1) // 2))
        taken.reverse()
        return taken


def _together(points: Sequence[Point], most: int) -> Iterator[Together]:
    """Put points together that one run of a kernel simulates, not more than ``most``; in the order of the first of each."""
    runs: dict[str, list[Point]] = {}
    for point in points:
        # A machine that is stopped at a page, or whose cores others have, too, says when the kernel goes on.
        alone = point.id if point.storage or point.beside else ""
        runs.setdefault(canonical([point.workload, list(point.observe), alone]), []).append(point)
    for run in runs.values():
        for first in range(0, len(run), most):
            yield tuple(run[first : first + most])
