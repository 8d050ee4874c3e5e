"""Pages on one time line with the processor: a run asks for pages at its own times, and storage serves them meanwhile."""

import simpy

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import Parts
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.volume_server import VolumeServer

PARTS = ("queue_ps", *Parts._fields)
"""Where the time of a request goes, in this order."""


class TimedPages:
    """Pages of equal size on a volume, as `memwalk.simcore.engines.native.simulate` takes them.

    Each request comes at its time, which never decreases. Storage is stepped up to it first, so that whatever began before is there
    or on its way; a read is then stepped to its end, since the one core that could ask for more is stopped until then.
    """

    def __init__(self, server: VolumeServer, page_blocks: int, storage: str) -> None:
        """Take pages of ``page_blocks`` blocks from ``server``'s volume; ``storage`` names it in errors."""
        self._env, self._server, self._storage = server.env, server, storage
        self.page_blocks = page_blocks
        self._coming: dict[int, simpy.Event] = {}
        self.requests = 0
        """Requests for a page so far."""

    def read(self, page: int, at_ps: int) -> tuple[int, tuple[int, ...]]:
        """Read a page from ``at_ps`` on; returns when it is there and the `PARTS` of the time until then. One that is coming comes once."""
        self._step_to(at_ps)
        event = self._coming.pop(page, None) or self._submit(page, write=False)
        if not event.processed:
            self._env.run(event)
        served = event.value
        assert isinstance(served, Served)
        end = max(at_ps, served.end_ps)
        return end, waited(served, at_ps)

    def prefetch(self, page: int, at_ps: int) -> None:
        """Have a page come that a later read will want."""
        self._step_to(at_ps)
        if page not in self._coming:
            self._coming[page] = self._submit(page, write=False)

    def write(self, page: int, at_ps: int) -> None:
        """Write a page in the background."""
        self._step_to(at_ps)
        self._submit(page, write=True)

    def _step_to(self, at_ps: int) -> None:
        if at_ps > self._env.now:
            self._env.run(until=at_ps)

    def _submit(self, page: int, *, write: bool) -> simpy.Event:
        blocks, available = self.page_blocks, self._server.volume.blocks
        if (needed := (page + 1) * blocks) > available:
            raise UserError(f"storage {self._storage}: the run asks for {needed} blocks, and there are {available}; name a larger device")
        self.requests += 1
        return self._server.submit(page * blocks, blocks, write=write)


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
