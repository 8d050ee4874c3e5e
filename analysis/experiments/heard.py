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
                self._heard(sum(self._events), steps, built)

        return tell
