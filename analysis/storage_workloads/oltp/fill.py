"""A buffer pool that is full when the clock starts, as after the runs before it."""

from collections.abc import Iterable

import simpy

from memwalk.analysis.storage_workloads.oltp.database import Database
from memwalk.simcore.storage.pool import BufferPool, Steps, Storage
from memwalk.traces.storage import Span
from memwalk.workloads.tpcc import Terminals


class StillStorage:
    """A volume that moves everything at once until it is :attr:`running`."""

    def __init__(self, env: simpy.Environment, volume: Storage) -> None:
        """Stand in for ``volume``."""
        self.running = False
        self._env = env
        self._volume = volume

    def submit_batch(self, runs: Iterable[Span], *, write: bool = False) -> simpy.Event:
        """Ask the volume, if it runs."""
        return self._volume.submit_batch(runs, write=write) if self.running else self._env.event().succeed()


def fill(pool: BufferPool, database: Database, terminals: Terminals, transactions: int, frames: int) -> Steps:
    """Have the terminals enter transactions one at a time, ``transactions`` at most, until the pool has replaced all ``frames`` once."""
    for number in range(transactions):
        for visit in terminals.next(number % terminals.count).visits:
            for query, pages in database.touches(visit):
                for page in pages:
                    copy = yield from pool.fix(query, page)
                    pool.unfix(copy)
        if pool.statistics.evictions >= frames:
            return
