"""How fast a run gets on: what share of the work is done, and how long the rest will take."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memwalk.analysis.experiments.work import MOST_DONE, Kind, Work

_CONFIDENCE = 0.5
"""Estimated seconds of a kind that must be done until its own pace counts as much as that of the whole run."""


@dataclass
class _Running:
    """A point that is being simulated."""

    began: float
    events: int = 0
    share: float = 0.0
    nearly_done: float | None = None
    """When it had done all but what is not said before the end."""


class Pace:
    """Follows points from their beginning to their end, by id. Estimates of work are corrected by what points of a kind have taken."""

    def __init__(self, estimated: Mapping[str, Work], clock: Callable[[], float] = time.monotonic) -> None:
        """``estimated`` has every point that will be simulated; ``clock`` gives seconds."""
        self._clock = clock
        self._waiting = dict(estimated)
        self._estimated = dict(estimated)
        self._running: dict[str, _Running] = {}
        self._taken: dict[Kind, float] = {}
        self._done: dict[Kind, float] = {}
        self._workers = 1
        self._events = 0
        self._started = clock()
        self.total = sum(one.seconds for one in estimated.values())
        """All work, in seconds of the host that estimates are for."""

    def within(self, point: str, events: int, steps: int, built: int = 0) -> None:
        """Hear that a point has begun, or how far it is. It never goes back: a warm-up is work, but no statistics count it."""
        if point in self._waiting:
            del self._waiting[point]
            self._running[point] = _Running(self._clock())
            self._workers = max(self._workers, len(self._running))
        running = self._running[point]
        running.events = max(running.events, events)
        if events or steps or built:
            running.share = max(running.share, self._estimated[point].done(running.events, steps, built))
            if running.share >= MOST_DONE and running.nearly_done is None:
                running.nearly_done = self._clock()

    def finish(self, point: str, events: int) -> None:
        """Hear that a point is done."""
        self.within(point, events, 0)
        running, work = self._running.pop(point), self._estimated[point]
        self._events += running.events
        self._taken[work.kind] = self._taken.get(work.kind, 0.0) + self._clock() - running.began
        self._done[work.kind] = self._done.get(work.kind, 0.0) + work.seconds

    @property
    def done(self) -> float:
        """What of `total` is done."""
        return sum(self._done.values()) + sum(one.share * self._estimated[point].seconds for point, one in self._running.items())

    @property
    def events_per_second(self) -> float:
        """Events simulated per second since the beginning."""
        events = self._events + sum(one.events for one in self._running.values())
        return events / max(self._clock() - self._started, 1e-3)

    def left(self) -> float | None:
        """Estimate the seconds until the last point is done; None while nothing is known.

        Nothing is known, too, of a point that goes on beyond its estimate, once it has done so for longer than all the rest would take.
        """
        taken, done, now = dict(self._taken), dict(self._done), self._clock()
        for point, running in self._running.items():
            work = self._estimated[point]
            if running.share:
                taken[work.kind] = taken.get(work.kind, 0.0) + now - running.began
                done[work.kind] = done.get(work.kind, 0.0) + running.share * work.seconds
        if not done:
            return None
        overall: float = sum(taken.values()) / sum(done.values())

        def slowness(kind: Kind) -> float:
            return (taken.get(kind, 0.0) + _CONFIDENCE * overall) / (done.get(kind, 0.0) + _CONFIDENCE)

        rest: list[float] = [work.seconds * slowness(work.kind) for work in self._waiting.values()]
        for point, running in self._running.items():
            work = self._estimated[point]
            expected = work.seconds * slowness(work.kind)
            rest.append(expected * (1 - running.share) if running.share else max(expected - (now - running.began), 0.0))
        whole: float = sum(rest) / self._workers
        left = max([whole, *rest])
        beyond = [now - running.nearly_done for running in self._running.values() if running.nearly_done is not None]
        return None if max(beyond, default=0.0) > left else left
