"""Pages on one time line with the processor: a run asks for pages at its own times, and storage serves them meanwhile."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import simpy

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PARTS, Parts
from memwalk.simcore.storage.fills import Fills
from memwalk.simcore.storage.prefetchers import Prefetchers
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.turns import Turn
from memwalk.simcore.storage.volume_server import VolumeServer

NO_WAIT = (0,) * len(PARTS)
"""The `PARTS` of no time."""


class PageArrival(NamedTuple):
    """What a core has stopped for is there."""

    core: int
    """Who goes on."""
    end_ps: int
    """Until when it was stopped."""
    parts: tuple[int, ...]
    """The `PARTS` of the time until then."""
    first: bool = True
    """Whether nobody had come for the page before: for the same fill of a frame that threads share, or for a later one."""


@dataclass(frozen=True)
class PageSpec:
    """Pages on storage, and what an operating system makes of the requests for them."""

    blocks: int
    """Blocks of a page."""
    read_pages: int = 1
    """Pages that are read together: an aligned run of them with each page that is read."""
    write_batch: int | None = None
    """Pages for a device that are kept back, and then written together in the order of their blocks; None to write each at once.

    One that is written again meanwhile is written once. Who wants a page that is kept back has it at once, and so has who wants one whose
    write has not ended."""
    prefetchers: int | None = None
    """Processes that read the pages asked for ahead, each one at a time; None to ask the devices for each at once."""
    cpu_ps: int = 0
    """Time of a core that it takes to have a page read or written."""


class TimedPages:
    """Pages of equal size on a volume, as `memwalk.simcore.engines.native.simulate` takes them.

    Cores ask for pages at times of their own, and storage goes on when it is told to: `advance` begins with what was asked for when its
    time has come, and of what comes in the same picosecond with that of the lower core. Their times begin with the run, on a clock that
    may have gone before for others: what is public counts from there, and what is private from the clock's beginning.

    A page that comes into a frame which threads share has the number of that *fill*, and comes once for all of them: see `Fills`. Number 0
    is of a frame that one thread has for itself.
    """

    def __init__(  # noqa: PLR0917 (each may be left out)
        self,
        server: VolumeServer,
        pages: PageSpec,
        storage: str,
        turn: Turn | None = None,
        first_block: int = 0,
        arrivals: deque[PageArrival] | None = None,
    ) -> None:
        """Take pages from ``server``'s volume, the first of them at ``first_block``; ``storage`` names it in errors.

        ``turn`` steps the clock beside others who do; without one nobody else does. ``arrivals`` are also of other programs on other cores
        of the machine, if there are any.
        """
        self._env, self._server, self._storage = server.env, server, storage
        self._turn = Turn.alone(server.env) if turn is None else turn
        self._began_ps = int(self._env.now)
        self._pages = pages
        self._first_block = first_block
        self._arrivals: deque[PageArrival] = deque() if arrivals is None else arrivals
        self._coming: dict[int, simpy.Event] = {}
        self._fills = Fills()
        self._kept: dict[int, set[int]] = {}
        self._written: dict[int, simpy.Event] = {}
        """Of pages whose write has not ended, the event of its end; of the last one if there are several."""
        self._batches: dict[int, simpy.Event] = {}
        self._under_way: deque[simpy.Event] = deque()
        self.prefetchers = None if pages.prefetchers is None else Prefetchers(pages.prefetchers, self._come)
        """Who reads pages ahead, if that takes processes."""
        self._begin_measuring()
        self._busy_after: list[int] = []
        self.end_block = first_block
        """The first block behind those that were asked for so far."""

    @property
    def cpu_per_page_ps(self) -> int:
        """Time of a core that it takes to have a page read or written."""
        return self._pages.cpu_ps

    @property
    def busiest_ps(self) -> int:
        """Time since the run has warmed up in which the busiest device served requests, whoever asked for them."""
        return max(after - before for after, before in zip(self._busy_after or self._busy(), self._busy_before, strict=True))

    def end_measuring(self) -> None:
        """Count no longer what devices do: the run has ended, and others go on."""
        self._busy_after = self._busy()

    def _busy(self) -> list[int]:
        return [server.busy_ps for server in self._server.servers]

    def read(self, core: int, page: int, at_ps: int, fill: int = 0) -> None:
        """Read a page from ``at_ps`` on, for which the core stops. One that is coming comes once."""
        self._ask(core, at_ps, lambda now: self._begin_read(core, page, now, fill))

    def wait(self, core: int, page: int, at_ps: int, fill: int) -> None:
        """Do the same for a page that another core is to read, and may have come for."""
        self.read(core, page, at_ps, fill)

    def prefetch(self, core: int, page: int, at_ps: int, fill: int = 0) -> None:
        """Have a page come that a later read will want, unless somebody has come for this fill."""
        self._ask(core, at_ps, lambda now: self._begin_prefetch(page, now, fill))

    def write(self, core: int, page: int, at_ps: int) -> None:
        """Write a page in the background.

        One batch of a device is written while the next one is filled; when that is full, the core stops until the one before is there.
        """
        self._ask(core, at_ps, lambda now: self._begin_write(core, page, now))

    def finish(self, core: int, at_ps: int) -> None:
        """Write what is kept back; the core stops until all that was written is there."""
        self._ask(core, at_ps, lambda now: self._begin_finish(core, now))

    def measure(self, core: int, at_ps: int) -> None:
        """Count from now on: the core has warmed up. Of several the last one counts."""
        self._ask(core, at_ps, lambda _: self._begin_measuring())

    def next_ps(self) -> int | None:
        """Return when the next thing happens, or nothing if nothing will."""
        if self._arrivals:
            return int(self._env.now) - self._began_ps
        next_ps = self._turn.next_ps()
        return None if next_ps == math.inf else int(next_ps) - self._began_ps

    def advance(self, until_ps: int) -> PageArrival | None:
        """Go on with all that happens up to ``until_ps``, or to the first arrival of what a core has stopped for, and return that.

        Raises UserError if there is no such page as one that was asked for.
        """
        if not self._arrivals:
            self._turn.go_on(self._began_ps + until_ps, self._arrivals)
        if not self._arrivals:
            return None
        arrival = self._arrivals.popleft()
        return arrival._replace(end_ps=arrival.end_ps - self._began_ps)

    def _ask(self, core: int, at_ps: int, begin: Callable[[int], None]) -> None:
        self._turn.ask(self._began_ps + at_ps, core, begin)

    def _begin_read(self, core: int, page: int, at_ps: int, fill: int) -> None:
        comes = self._fills.coming(page, fill)
        if comes is not None:
            return self._stop(core, at_ps, [comes], first=False)
        if self.prefetchers is not None:
            self.prefetchers.withdraw(page)
        coming = self._coming.pop(page, None)
        if self._is_in_memory(page):
            coming = self._there(at_ps)
        event = self._fetch(page) if coming is None else coming
        self._fills.come(page, fill, event)
        return self._stop(core, at_ps, [event])

    def _begin_prefetch(self, page: int, at_ps: int, fill: int) -> None:
        if self._fills.coming(page, fill) is not None:
            return
        if self._is_in_memory(page):
            self._coming[page] = self._there(at_ps)  # a read may come when it no longer is
        elif self.prefetchers is None:
            self._come(page)
        else:
            self.prefetchers.ask(page)

    def _begin_write(self, core: int, page: int, at_ps: int) -> None:
        self._reach(page + 1)
        if self._pages.write_batch is None:
            self._note(self._submit(page, 1, write=True), (page,))
            return self._stop(core, at_ps, [])
        device = self._device(page)
        kept = self._kept.setdefault(device, set())
        kept.add(page)
        if len(kept) < self._pages.write_batch:
            return self._stop(core, at_ps, [])
        self._kept[device] = set()
        before = self._batches.get(device)
        self._batches[device] = self._write_together(kept)
        return self._stop(core, at_ps, [] if before is None else [before])

    def _begin_finish(self, core: int, at_ps: int) -> None:
        for kept in filter(None, self._kept.values()):
            self._write_together(kept)
        self._kept = {}
        self._stop(core, at_ps, list(self._under_way))
        self._under_way.clear()
        # A further run of the program begins with an empty pool.
        self._fills.forget()
        self._coming.clear()
        if self.prefetchers is not None:
            self.prefetchers.forget()

    def _begin_measuring(self) -> None:
        self._busy_before = self._busy()
        self.requests = 0
        """Requests since the run has warmed up, of devices or of volumes that cut them."""
        self.blocks = 0
        """Blocks of these requests."""

    def _stop(self, core: int, at_ps: int, events: Sequence[simpy.Event], *, first: bool = True) -> None:
        """Have a core go on when all of some requests have ended: it waits for the one that does so last."""

        def go_on(_: simpy.Event) -> None:
            end_ps, parts = max([(at_ps, NO_WAIT), *(_wait(event, at_ps) for event in events)])
            self._arrivals.append(PageArrival(core, end_ps, parts, first))

        ended = self._env.all_of(events)
        assert ended.callbacks is not None
        ended.callbacks.append(go_on)

    def _note(self, event: simpy.Event, pages: Iterable[int]) -> simpy.Event:
        """Remember a write of ``pages`` until it has ended, those that do so out of turn a little longer."""
        while self._under_way and self._under_way[0].processed:
            self._under_way.popleft()
        self._under_way.append(event)

        def ended(_: simpy.Event) -> None:
            for page in pages:
                if self._written.get(page) is event:
                    del self._written[page]

        self._written.update(dict.fromkeys(pages, event))
        assert event.callbacks is not None
        event.callbacks.append(ended)
        return event

    def _block(self, page: int) -> int:
        """Say where a page begins."""
        return self._first_block + page * self._pages.blocks

    def _device(self, page: int) -> int:
        """Say which device a page begins on."""
        return self._server.volume.split(self._block(page), self._pages.blocks)[0].disk

    def _is_in_memory(self, page: int) -> bool:
        """Say whether a page is kept back to be written, or its write has not ended: what the device has is old."""
        return page in self._written or (any(self._kept.values()) and page in self._kept.get(self._device(page), ()))

    def _there(self, at_ps: int) -> simpy.Event:
        """Return the event of a page's coming that needs no device."""
        return self._env.event().succeed(Served(at_ps, at_ps, at_ps, Parts()))

    def _reach(self, end_page: int) -> None:
        """Note that pages before ``end_page`` are asked for. Raises UserError if there are not so many."""
        needed, available = self._block(end_page), self._server.volume.blocks
        if needed > available:
            raise UserError(f"storage {self._storage}: the run asks for {needed} blocks, and there are {available}; name a larger device")
        self.end_block = max(self.end_block, needed)

    def _fetch(self, page: int) -> simpy.Event:
        """Read a page with those that are read together with it; a later read of one of those finds it coming."""
        self._reach(page + 1)
        together = self._pages.read_pages
        first = page - page % together
        end = min(first + together, (self._server.volume.blocks - self._first_block) // self._pages.blocks)
        self._reach(end)
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
        return self._server.submit(self._block(page), blocks, write=write)

    def _write_together(self, kept: set[int]) -> simpy.Event:
        """Write pages of one device in their order, those that follow each other in one request."""
        blocks, pages = self._pages.blocks, sorted(kept)
        self.requests += sum(page - 1 != before for page, before in zip(pages, [-2, *pages[:-1]], strict=True))
        self.blocks += len(pages) * blocks
        return self._note(self._server.submit_batch([(self._block(page), blocks) for page in pages], write=True), pages)


def _wait(event: simpy.Event, from_ps: int) -> tuple[int, tuple[int, ...]]:
    """Return until when a request is waited for that has ended, and the `PARTS` of the time from ``from_ps`` until then."""
    served = event.value
    assert isinstance(served, Served)
    return max(from_ps, served.end_ps), waited(served, from_ps)


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
