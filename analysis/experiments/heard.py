"""Who hears how far a simulation has come: events of the processor, steps of storage, steps of building."""

from collections.abc import Callable
from typing import TypeAlias

Heard: TypeAlias = Callable[[int, int, int], None]
"""Takes how many events of the processor, steps of storage and steps of building have passed, now and then."""


def of_steps(heard: Heard | None) -> Callable[[int], None] | None:
    """Return who hears of steps of storage alone."""
    return None if heard is None else lambda steps: heard(0, steps, 0)


def listeners(heard: Heard | None) -> tuple[Callable[[int], None] | None, Callable[[int], None] | None]:
    """Return who hears of the events, and who of the steps of building."""
    if heard is None:
        return None, None
    return lambda events: heard(events, 0, 0), lambda built: heard(0, 0, built)


def of_both(heard: Heard | None) -> Heard | None:
    """Return who hears of events and of steps of storage that pass in turns, each call with what is new of one of them."""
    if heard is None:
        return None
    most = [0, 0, 0]

    def tell(*passed: int) -> None:
        most[:] = map(max, most, passed)
        heard(*most)

    return tell


class Runs:
    """Hears of several runs, and tells of all their events together."""

    def __init__(self, heard: Heard | None) -> None:
        """Tell ``heard``."""
        self._heard = heard
        self._events: list[int] = []
        self._before = 0
        self._expected = self._left = 0

    @property
    def latest(self) -> int:
        """Events of the latest run that were told of."""
        return self._events[-1]

    def expect(self, events: int, estimated: int) -> None:
        """Be ready for so many events in further runs; all runs were estimated at ``estimated``, and what is told keeps to that."""
        self._before = sum(self._events)
        self._expected, self._left = events, max(estimated - self._before, 1)

    def _told(self) -> int:
        events = sum(self._events)
        if not self._expected:
            return events
        return self._before + (events - self._before) * self._left // self._expected

    def one(self) -> Heard:
        """Return who hears of one of them, and of its repetitions, each of which begins again with few events."""
        number = len(self._events)
        self._events.append(0)
        before = latest = 0

        def tell(events: int, steps: int, built: int) -> None:
            nonlocal before, latest
            if events < latest:
                before += latest
            # Building is told of without events.
            latest = events or latest
            self._events[number] = before + latest
            if self._heard is not None:
                self._heard(self._told(), steps, built)

        return tell
