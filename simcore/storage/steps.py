"""How far storage is: requests served and pages fixed, for whoever shows progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

_BETWEEN_REPORTS = 500
"""Steps, a hundredth of a second of work."""


class StepCount:
    """A count, and who hears of it now and then."""

    def __init__(self, tell: Callable[[int], None] | None) -> None:
        """Count from nothing, and call ``tell`` with the count now and then."""
        self.made = 0
        self._next = inf if tell is None else _BETWEEN_REPORTS
        self._tell = tell

    def count(self) -> None:
        """Count one."""
        self.made += 1
        if self.made >= self._next and self._tell is not None:
            self._next = self.made + _BETWEEN_REPORTS
            self._tell(self.made)


_STEPS: ContextVar[StepCount | None] = ContextVar("steps", default=None)
"""Of the point that is simulated: a process may simulate several at once, each in threads of its own."""


def step_made() -> None:
    """Count a step of the point that is simulated. It is called for every request, so it does next to nothing."""
    steps = _STEPS.get()
    if steps is not None:
        steps.count()


@contextmanager
def steps_told_to(tell: Callable[[int], None] | None) -> Iterator[StepCount]:
    """Count from nothing within this context, threads that copy it included, and have ``tell`` called with the count now and then."""
    token = _STEPS.set(steps := StepCount(tell))
    try:
        yield steps
    finally:
        _STEPS.reset(token)
