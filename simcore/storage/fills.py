"""Pages that come into frames which several threads share: who comes first has a page brought, and the others wait for it."""

import simpy

NUMBERS = 65_535
"""Fills are numbered from 1 to this, and then from 1 again."""


class Fills:
    """The latest fill of each page that anybody has come for, and the event of its end.

    A page may stay out of all frames for more fills than there are numbers. So a number means the fill nearest to the latest that was
    named: threads are never apart by half of the numbers, as they share the frames.
    """

    def __init__(self) -> None:
        """Nobody has come for a page."""
        self._latest = 0
        self._come: dict[int, tuple[int, simpy.Event]] = {}

    def coming(self, page: int, number: int) -> simpy.Event | None:
        """Return the end of what somebody has come for before: fill ``number`` of a page, or a later one. Of number 0 there is no other."""
        if number == 0 or page not in self._come:
            return None
        latest, event = self._come[page]
        return event if latest >= self._fill(number) else None

    def come(self, page: int, number: int, event: simpy.Event) -> None:
        """Somebody is the first who comes for a fill, which ends with ``event``."""
        if number:
            fill = self._fill(number)
            self._latest = max(self._latest, fill)
            self._come[page] = fill, event

    def forget(self) -> None:
        """Forget all: the program has ended, and a further run of it counts anew."""
        self._latest = 0
        self._come.clear()

    def _fill(self, number: int) -> int:
        """Count a fill through."""
        half = NUMBERS // 2
        return self._latest + (number - self._latest + half) % NUMBERS - half
