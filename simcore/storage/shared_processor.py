"""The processor that clients of one program share."""

import simpy
from simpy.resources.resource import Request


class SharedProcessor:
    """One processor. Whoever has it keeps it until it waits for storage, as the threads of Shore are not preempted."""

    def __init__(self, env: simpy.Environment) -> None:
        """Begin idle."""
        self._env = env
        self._begun_ps = 0
        """Work of the pieces that have begun since the last `restart`, and what was left then of the one before."""
        self._end_ps = 0
        """When the latest piece ends."""
        self._turns = simpy.Resource(env, capacity=1)

    @property
    def busy_ps(self) -> int:
        """Time that was worked since the last `restart`, up to now."""
        return self._begun_ps - self._left_ps

    def restart(self) -> None:
        """Count from now on."""
        self._begun_ps = self._left_ps

    @property
    def _left_ps(self) -> int:
        return max(0, self._end_ps - int(self._env.now))

    def turn(self) -> Request:
        """Return the event of having the processor; first come, first served."""
        return self._turns.request()

    def leave(self, turn: Request) -> None:
        """Give the processor to whoever is next."""
        self._turns.release(turn)

    def work(self, duration_ps: int) -> simpy.Event:
        """Return the end of a piece of work of whoever has the processor."""
        self._begun_ps += duration_ps
        self._end_ps = int(self._env.now) + duration_ps
        return self._env.timeout(duration_ps)
