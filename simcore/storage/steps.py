"""How far storage is: requests served and pages fixed since the process began, for whoever shows progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

_BETWEEN_REPORTS = 500
"""Steps, a hundredth of a second of work."""


class Steps:
    """A count, and who hears of it now and then."""

    def __init__(self) -> None:
        self._made = 0
        self._next = inf
        self._tell: Callable[[int], None] | None = None

    def made(self) -> None:
        """Count one: called for every request, so it does next to nothing."""
        self._made += 1
        if self._made >= self._next and self._tell is not None:
            self._next = self._made + _BETWEEN_REPORTS
            self._tell(self._made)

    @contextmanager
    def told_to(self, tell: Callable[[int], None] | None) -> Iterator[None]:
        """Count from nothing within this context, and have ``tell`` called with the count now and then."""
        self._made, self._next, self._tell = 0, _BETWEEN_REPORTS if tell else inf, tell
        try:
            yield
        finally:
            self._next, self._tell = inf, None


STEPS = Steps()
"""Of this process, which simulates one point at a time."""
