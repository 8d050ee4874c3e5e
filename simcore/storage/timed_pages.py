"""Pages on one time line with the processor: a run asks for pages at its own times, and storage serves them meanwhile."""

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

import simpy

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import Parts
from memwalk.simcore.storage.prefetchers import Prefetchers
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.volume_server import VolumeServer

PARTS = ("queue_ps", *Parts._fields)
"""Where the time of a request goes, in this order."""

Wait: TypeAlias = tuple[int, tuple[int, ...]]
"""Until when a core is stopped, and the `PARTS` of the time until then."""


@dataclass(frozen=True)
class PageSpec:
    """Pages on storage, and what an operating system makes of the requests for them."""

    blocks: int
    """Blocks of a page."""
    read_pages: int = 1
    """Pages that are read together: an aligned run of them with each page that is read."""
    write_batch: int | None = None
    """Pages for a device that are kept back, and then written together in the order of their blocks; None to write each at once."""
    prefetchers: int | None = None
    """Processes that read the pages asked for ahead, each one at a time; None to ask the devices for each at once."""


class TimedPages:
    """Pages of equal size on a volume, as `memwalk.simcore.engines.native.simulate` takes them.

    Each request comes at its time, which never decreases. Storage is stepped up to it first, so that whatever began before is there
    or on its way; a read is then stepped to its end, since the one core that could ask for more is stopped until then.
    """

    def __init__(self, server: VolumeServer, pages: PageSpec, storage: str) -> None:
        """Take pages from ``server``'s volume; ``storage`` names it in errors."""
        self._env, self._server, self._storage = server.env, server, storage
        self._pages = pages
        self._coming: dict[int, simpy.Event] = {}
        self._kept: dict[int, list[int]] = {}
        self._batches: dict[int, simpy.Event] = {}
        self._under_way: deque[simpy.Event] = deque()
        self.prefetchers = None if pages.prefetchers is None else Prefetchers(pages.prefetchers, self._come)
        """Who reads pages ahead, if that takes processes."""
        self.requests = 0
        """Requests so far, of devices or of volumes that cut them."""
        self.blocks = 0
        """Blocks of all requests so far."""

    @property
    def busiest_ps(self) -> int:
        """Time so far in which the busiest device served requests."""
        return max(server.busy_ps for server in self._server.servers)

    def read(self, page: int, at_ps: int) -> Wait:
        """Read a page from ``at_ps`` on. One that is coming comes once."""
        self._step_to(at_ps)
        if self.prefetchers is not None:
            self.prefetchers.withdraw(page)
        if page not in self._coming:
            return self._wait_for(self._fetch(page), at_ps)
        return self._wait_for(self._coming.pop(page), at_ps)

    def prefetch(self, page: int, at_ps: int) -> None:
        """Have a page come that a later read will want."""
        self._step_to(at_ps)
        if self.prefetchers is None:
            self._come(page)
        else:
            self.prefetchers.ask(page)

    def write(self, page: int, at_ps: int) -> Wait:
        """Write a page in the background.

        One batch of a device is written while the next one is filled; when that is full, it waits for the one before.
        """
        self._step_to(at_ps)
        self._check(page)
        if self._pages.write_batch is None:
            self._note(self._submit(page, 1, write=True))
            return at_ps, _NO_WAIT
        block, blocks = page * self._pages.blocks, self._pages.blocks
        device = self._server.volume.split(block, blocks)[0].disk
        kept = self._kept.setdefault(device, [])
        kept.append(page)
        if len(kept) < self._pages.write_batch:
            return at_ps, _NO_WAIT
        self._kept[device] = []
        before = self._batches.get(device)
        self._batches[device] = self._write_together(kept)
        return (at_ps, _NO_WAIT) if before is None else self._wait_for(before, at_ps)

    def finish(self, at_ps: int) -> Wait:
        """Write what is kept back, and wait until all that was written is there."""
        self._step_to(at_ps)
        for kept in filter(None, self._kept.values()):
            self._write_together(kept)
        self._kept = {}
        end = at_ps, _NO_WAIT
        while self._under_way:
            end = max(end, self._wait_for(self._under_way.popleft(), at_ps))
        return end

    def _note(self, event: simpy.Event) -> simpy.Event:
        """Remember a write until it has ended, those that do so out of turn a little longer."""
        while self._under_way and self._under_way[0].processed:
            self._under_way.popleft()
        self._under_way.append(event)
        return event

    def _wait_for(self, event: simpy.Event, at_ps: int) -> Wait:
        if not event.processed:
            self._env.run(event)
        served = event.value
        assert isinstance(served, Served)
        return max(at_ps, served.end_ps), waited(served, at_ps)

    def _step_to(self, at_ps: int) -> None:
        if at_ps > self._env.now:
            self._env.run(until=at_ps)

    def _check(self, page: int) -> None:
        blocks, available = self._pages.blocks, self._server.volume.blocks
        if (needed := (page + 1) * blocks) > available:
            raise UserError(f"storage {self._storage}: the run asks for {needed} blocks, and there are {available}; name a larger device")

    def _fetch(self, page: int) -> simpy.Event:
        """Read a page with those that are read together with it; a later read of one of those finds it coming."""
        self._check(page)
        together = self._pages.read_pages
        first = page - page % together
        end = min(first + together, self._server.volume.blocks // self._pages.blocks)
        event = self._submit(first, end - first, write=False)
        for other in range(first, end):
            if other != page:
                self._coming.setdefault(other, event)
        return event

    def _come(self, page: int) -> simpy.Event | None:
        """Begin to fetch a page that a later read will want, unless it is coming; returns the event of its end."""
        if page in self._coming:
            return None
        self._coming[page] = event = self._fetch(page)
        return event

    def _submit(self, page: int, pages: int, *, write: bool) -> simpy.Event:
        blocks = pages * self._pages.blocks
        self.requests += 1
        self.blocks += blocks
        return self._server.submit(page * self._pages.blocks, blocks, write=write)

    def _write_together(self, pages: list[int]) -> simpy.Event:
        """Write pages of one device in their order, those that follow each other in one request."""
        blocks, pages = self._pages.blocks, sorted(pages)
        self.requests += sum(page - 1 != before for page, before in zip(pages, [-2, *pages[:-1]], strict=True))
        self.blocks += len(pages) * blocks
        return self._note(self._server.submit_batch([(page * blocks, blocks) for page in pages], write=True))


_NO_WAIT = (0,) * len(PARTS)


def waited(served: Served, from_ps: int) -> tuple[int, ...]:
    """Return the `PARTS` of a request's time from ``from_ps`` to its end: the parts follow each other, and the last ones are waited for.

    They sum to the wait, which is 0 if the request ended before.
    """
    wait = max(0, served.end_ps - from_ps)
    found = []
    for part in reversed((served.queue_ps, *served.parts)):
        found.append(min(part, wait))
        wait -= found[-1]
    return tuple(reversed(found))
