"""Pages of several programs on one machine: each has its own on the volume, and all have one time line."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from memwalk.simcore.storage.timed_pages import PageArrival, PageSpec, TimedPages
from memwalk.simcore.storage.turns import Turn
from memwalk.simcore.storage.volume_server import VolumeServer


@dataclass(frozen=True)
class ProgramSpec:
    """A program's pages, and how many cores of the machine are its own; they follow each other, as those of the programs do."""

    pages: PageSpec
    first_block: int
    cores: int


class ProgramPages:
    """Pages of several programs, as `memwalk.simcore.engines.native.SideBySide` takes them: the core says whose they are."""

    def __init__(self, server: VolumeServer, programs: Sequence[ProgramSpec], storage: str) -> None:
        """Take pages from ``server``'s volume; ``storage`` names it in errors. The operating system is one for all programs."""
        turn, arrivals = Turn.alone(server.env), deque[PageArrival]()
        self.programs = [TimedPages(server, one.pages, storage, turn, one.first_block, arrivals) for one in programs]
        """The pages of each program."""
        self._of = [pages for one, pages in zip(programs, self.programs, strict=True) for _ in range(one.cores)]
        (self.cpu_per_page_ps,) = {pages.cpu_per_page_ps for pages in self.programs}
        """As of each program."""
        self._ending: set[int] = set()

    def read(self, core: int, page: int, at_ps: int, fill: int = 0) -> None:
        """Read a page, as `TimedPages.read`; so for the others."""
        self._of[core].read(core, page, at_ps, fill)

    def wait(self, core: int, page: int, at_ps: int, fill: int) -> None:
        """Wait for a page that another core of the program is to read."""
        self._of[core].wait(core, page, at_ps, fill)

    def prefetch(self, core: int, page: int, at_ps: int, fill: int = 0) -> None:
        """Have a page come."""
        self._of[core].prefetch(core, page, at_ps, fill)

    def write(self, core: int, page: int, at_ps: int) -> None:
        """Write a page."""
        self._of[core].write(core, page, at_ps)

    def finish(self, core: int, at_ps: int) -> None:
        """Have the core wait for all that its program has written."""
        self._ending.add(core)
        self._of[core].finish(core, at_ps)

    def measure(self, core: int, at_ps: int) -> None:
        """Count anew what the core's program asks for."""
        self._of[core].measure(core, at_ps)

    def next_ps(self) -> int | None:
        """Return when the next thing happens, whoever asked for it."""
        return self.programs[0].next_ps()

    def advance(self, until_ps: int) -> PageArrival | None:
        """Go on to the next arrival, whoever waits for it."""
        arrival = self.programs[0].advance(until_ps)
        if arrival is not None and (core := arrival.core) in self._ending:
            self._ending.remove(core)
            self._of[core].end_measuring()
        return arrival
