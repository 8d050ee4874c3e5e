"""Prefetchers of a database system: processes that take pages from one queue and read them, each one page at a time."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import simpy


@dataclass
class Prefetchers:
    """So many processes, and the pages that wait for one of them, in the order in which they were asked for.

    Whoever wants a page that still waits reads it without them, as the scanning process of DB2 does (IBM, configuration parameter
    ``num_ioservers``: it bounds the reads ahead that are under way, and no others).
    """

    count: int
    fetch: Callable[[int], simpy.Event | None]
    """Begins to read a page; returns the event of its end, or None if there is nothing to do since it is coming by now."""
    busy: int = 0
    """Processes that read a page."""
    waiting: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def ask(self, page: int) -> None:
        """Have a process read a page, the next that is free."""
        self.waiting[page] = None
        self._begin()

    def withdraw(self, page: int) -> None:
        """Take a page out of the queue, if it is there."""
        self.waiting.pop(page, None)

    def forget(self) -> None:
        """Forget pages that wait: nobody wants them any more."""
        self.waiting.clear()

    def _begin(self) -> None:
        while self.waiting and self.busy < self.count:
            page = self.waiting.popitem(last=False)[0]
            if (end := self.fetch(page)) is not None:
                self.busy += 1
                assert end.callbacks is not None
                end.callbacks.append(self._end)

    def _end(self, _: simpy.Event) -> None:
        self.busy -= 1
        self._begin()
