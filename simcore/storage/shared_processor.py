"""The processor that clients of one program share."""

import simpy
from simpy.resources.resource import Request


class SharedProcessor:
    """One processor. Whoever has it keeps it until it waits for storage, as the threads of Shore are not preempted."""

    def __init__(self, env: simpy.Environment) -> None:
        """Begin idle."""
        self.busy_ps = 0
        """Time that was worked, which may be set back to 0."""
        self._env = env
        self._turns = simpy.Resource(env, capacity=1)

    def turn(self) -> Request:
        """Return the event of having the processor; first come, first served."""
        return self._turns.request()

    def leave(self, turn: Request) -> None:
        """Give the processor to whoever is next."""
        self._turns.release(turn)

    def work(self, duration_ps: int) -> simpy.Event:
        """Return the end of a piece of work of whoever has the processor."""
        self.busy_ps += duration_ps
        return self._env.timeout(duration_ps)
