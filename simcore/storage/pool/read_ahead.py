"""Reading ahead: worker processes bring the runs of pages that a query will come to, a given number of runs before it does."""

from collections.abc import Sequence

import simpy

from memwalk.simcore.storage.pool.page import Query
from memwalk.simcore.storage.pool.pool import BufferPool, Steps


class ReadAhead:
    """Workers that keep up to ``ahead`` runs in front of a reader; the reader says which run it works on.

    Runs are read whole, so they are best cut where the volume reads efficiently, such as at tracks. A worker waits for its run
    before it turns to the next one that nobody works on: with as many workers as ``ahead``, all of them are on their way at once.
    """

    def __init__(self, env: simpy.Environment, pool: BufferPool, runs: Sequence[tuple[Query, range]], *, ahead: int, workers: int) -> None:
        """Begin to read ``runs``, each some pages for a query, in this order. Raises ValueError for less than one of either."""
        if ahead < 1 or workers < 1:
            raise ValueError(f"{workers} workers, {ahead} runs ahead: there must be one of each at least")
        self._env = env
        self._pool = pool
        self._runs = runs
        self._ahead = ahead
        self._next = 0
        self._reached = 0
        self._moved_on = env.event()
        for _ in range(min(workers, ahead)):
            env.process(self._work())

    def reach(self, run: int) -> None:
        """Note that the reader begins the run with this number."""
        if run > self._reached:
            self._reached = run
            moved_on, self._moved_on = self._moved_on, self._env.event()
            moved_on.succeed()

    def _work(self) -> Steps:
        while self._next < len(self._runs):
            if self._next >= self._reached + self._ahead:
                yield self._moved_on
                continue
            query, pages = self._runs[self._next]
            self._next += 1
            yield from self._pool.prefetch(query, pages)
