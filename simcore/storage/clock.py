"""Times at which something comes before whatever else happens then, as the end of a run by time does in SimPy."""

from collections.abc import Callable

import simpy
from simpy.events import URGENT


def urgent(env: simpy.Environment, delay_ps: int, *callbacks: Callable[[simpy.Event], None]) -> simpy.Event:
    """Return an event that happens in ``delay_ps``, before whatever else happens at its time; the callbacks hear of it."""
    event = simpy.Event(env)
    event._ok, event._value = True, None  # as SimPy's own Timeout does: what is scheduled has an outcome
    event.callbacks = list(callbacks)
    env.schedule(event, URGENT, delay_ps)
    return event
