"""Storage of a buffer pool that is filled before the clock starts, as if by the runs before it."""

from collections.abc import Iterable

import simpy

from memwalk.simcore.storage.pool import Storage
from memwalk.traces.storage import Span


class Filling:
    """A volume that moves everything at once until it is :attr:`running`."""

    def __init__(self, env: simpy.Environment, volume: Storage) -> None:
        """Stand in for ``volume``."""
        self.running = False
        self._env = env
        self._volume = volume

    def submit_batch(self, runs: Iterable[Span], *, write: bool = False) -> simpy.Event:
        """Ask the volume, if it runs."""
        return self._volume.submit_batch(runs, write=write) if self.running else self._env.event().succeed()
