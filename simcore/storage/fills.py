"""Pages that come into frames which several threads share: who comes first has a page brought, and the others wait for it."""

import simpy

NUMBERS = 65_535
"""The fills of a page are numbered from 1 to this, and then from 1 again."""


class Fills:
    """The latest fill of each page that anybody has come for, and the event of its end.

    A number means the fill of the page that is nearest to that one: no thread looks for a page that has come and gone 32,767 times since.
    """

    def __init__(self) -> None:
        """Nobody has come for a page."""
        self._come: dict[int, tuple[int, simpy.Event]] = {}

    def coming(self, page: int, number: int) -> simpy.Event | None:
        """Return the end of what somebody has come for before: fill ``number`` of a page, or a later one. Of number 0 there is no other."""
        if number == 0 or page not in self._come:
            return None
        latest, event = self._come[page]
        is_later = 0 < (number - latest) % NUMBERS <= NUMBERS // 2
        return None if is_later else event

    def come(self, page: int, number: int, event: simpy.Event) -> None:
        """Somebody is the first who comes for a fill, which ends with ``event``."""
        if number:
            self._come[page] = number, event

    def forget(self) -> None:
        """Forget all: a run of the program has ended, and a further one counts anew."""
        self._come.clear()
