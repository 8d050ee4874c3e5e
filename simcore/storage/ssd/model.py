"""A solid-state drive: flash dies behind channels, a write buffer, and a host link, all busy at the same time."""

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

from memwalk.simcore.storage.calendar import Calendar
from memwalk.simcore.storage.device import Asked, Parts, expect_blocks
from memwalk.simcore.storage.ssd.placement import Placement
from memwalk.simcore.storage.ssd.plane import Plane


@dataclass(frozen=True)
class Flash:
    """A drive's parameters; times in ps."""

    blocks: int
    channels: int
    dies: int
    """Per channel."""
    planes: int
    """Per die."""
    page_blocks: int
    erase_pages: int
    """Pages that are erased together."""
    read_ps: int
    """From a page into its plane's register."""
    program_ps: int
    """From the register into a page."""
    erase_ps: int
    channel_ps: int
    """Of a block on its channel."""
    link_ps: int
    """Of a block on the link to the host."""
    overhead_ps: int
    """Of a command."""
    command_interval_ps: int
    """Least time between commands, which bounds operations per second."""
    buffer_blocks: int
    """Written blocks that wait to be programmed. The buffer survives a loss of power, so their writes are done."""
    queue_depth: int


class Ssd:
    """One solid-state drive; see `memwalk.simcore.storage.device.StorageDevice` for its methods.

    Nothing moves, so time goes where something is taken: a plane reads, programs or erases one page at a time, a channel carries
    the data of one page at a time, and so does the link. The planes are programmed in turn. Blocks lie where they were programmed
    last (see `Placement`); until they are, they are read from the buffer. Every plane has an erased block ready from the start,
    and erases the next one when it has filled that. Garbage collection and wear are not modelled: erased blocks are enough.

    The drive takes up to ``queue_depth`` requests at once: `serve` may be called again before the last request has ended, with
    starts that never decrease. What a request has taken, later ones find taken; they may still end before it does, and a read goes
    before programs of pages that are still to come into the buffer (see `Plane`).
    """

    def __init__(self, flash: Flash) -> None:
        """Make a drive that is idle."""
        self.flash = flash
        self.queue_depth = flash.queue_depth
        self.blocks = flash.blocks
        self.parts = Parts()
        self._came_ps = [0]  # when each page of the last read was off its channel
        self._planes = [Plane() for _ in range(flash.channels * flash.dies * flash.planes)]
        self._channels = [Calendar() for _ in range(flash.channels)]
        self._link = Calendar()
        self._command_free_ps = 0
        self._buffered = 0  # blocks that have room, pages included that have left since room was needed last
        self._leaving: list[int] = []  # when each page of the buffer has left it; a heap
        self._room_since_ps = 0  # when the last page left that has made room
        self._placement = Placement(flash.blocks, flash.page_blocks)
        self._first_program = self._placement.filling
        self._done_ps: deque[int] = deque()  # of the latest programs, the one before `_placement.filling` last

    @property
    def comes_ps(self) -> int:
        """See `memwalk.simcore.storage.device.StorageDevice`."""
        return min(self._came_ps)

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:
        """Serve ``blocks`` blocks from ``block`` on, started at ``start_ps``; returns when that is done. Sets `parts`.

        Raises ValueError for blocks that the drive does not have.
        """
        expect_blocks(block, blocks, self.blocks, "a drive")
        for calendar in (self._link, *self._channels):
            calendar.forget(start_ps)
        while self._done_ps and self._done_ps[0] <= start_ps:
            self._done_ps.popleft()
        begin_ps = max(start_ps, self._command_free_ps)
        self._command_free_ps = begin_ps + self.flash.command_interval_ps
        ready_ps = begin_ps + self.flash.overhead_ps
        if write:
            end_ps, wait_ps, flash_ps = self._write(ready_ps, block, blocks)
        else:
            end_ps, wait_ps, flash_ps = self._read(ready_ps, block, blocks)
        bus_ps = end_ps - ready_ps - wait_ps - flash_ps
        self.parts = Parts(overhead_ps=ready_ps - start_ps, rotation_ps=wait_ps, transfer_ps=flash_ps, bus_ps=bus_ps)
        return end_ps

    def positioning_ps(self, now_ps: int, request: Asked) -> int:
        """Estimate the time from ``now_ps`` until the first block of a request could begin to move, without taking anything."""
        ready_ps = max(now_ps, self._command_free_ps) + self.flash.overhead_ps
        if not request.write:
            (program,) = self._placement.programs(request.block, 1)
            if not self._is_buffered(program, ready_ps):
                ready_ps = self._planes[self._plane(program)].turn_ps(ready_ps) + self.flash.read_ps
        return ready_ps - now_ps

    def _read(self, ready_ps: int, block: int, blocks: int) -> tuple[int, int, int]:
        """Read into the host; returns when the last page is there, how long it waited for its plane, and how long it was read."""
        last = (ready_ps, 0, 0)
        self._came_ps = came_ps = []
        for program, taken in self._placement.programs(block, blocks).items():
            wait_ps, flash_ps, free_ps = 0, 0, ready_ps
            if not self._is_buffered(program, ready_ps):
                plane = self._plane(program)
                turn_ps = self._planes[plane].turn_ps(ready_ps)
                wait_ps, flash_ps = turn_ps - ready_ps, self.flash.read_ps
                free_ps = self._over_channel(plane, turn_ps + flash_ps, taken)
                self._planes[plane].read(free_ps)
            came_ps.append(free_ps)
            end_ps = self._link.take(free_ps, taken * self.flash.link_ps)
            last = max(last, (end_ps, wait_ps, flash_ps))
        return last

    def _write(self, ready_ps: int, block: int, blocks: int) -> tuple[int, int, int]:
        """Take from the host into the buffer; returns when all is there, how long there was no room, and 0, as programming is later."""
        end_ps, waited_ps, end = ready_ps, 0, block + blocks
        while block < end:
            taken = min(end - block, self._placement.room())
            room_ps = self._room_ps(end_ps, taken)
            waited_ps += room_ps - end_ps
            end_ps = self._link.take(room_ps, taken * self.flash.link_ps)
            self._buffered += taken
            if self._placement.write(block, taken):
                self._program(self._placement.filling - 1, ready_ps, end_ps)
            block += taken
        return end_ps, waited_ps, 0

    def _room_ps(self, now_ps: int, blocks: int) -> int:
        """Return when the buffer has room for so many blocks, behind all that was given room before."""
        while self._buffered + blocks > self.flash.buffer_blocks:
            self._room_since_ps = max(self._room_since_ps, heappop(self._leaving))
            self._buffered -= self.flash.page_blocks
        return max(now_ps, self._room_since_ps)

    def _program(self, program: int, ready_ps: int, came_ps: int) -> None:
        """Program a page of the buffer into its plane, which then erases a block if that was the last page of one."""
        number = self._plane(program)
        plane = self._planes[number]
        done_ps = self._over_channel(number, max(came_ps, plane.free_ps), self.flash.page_blocks) + self.flash.program_ps
        heappush(self._leaving, done_ps)
        self._done_ps.append(done_ps)
        of_plane = (program - self._first_program) // len(self._planes)
        last = (of_plane + 1) % self.flash.erase_pages == 0
        plane.program(ready_ps, came_ps, done_ps + (self.flash.erase_ps if last else 0))

    def _is_buffered(self, program: int, now_ps: int) -> bool:
        """Return whether the blocks of a program are in the buffer yet: what was not programmed by then."""
        behind = program - (self._placement.filling - len(self._done_ps))
        return behind >= 0 and (behind == len(self._done_ps) or self._done_ps[behind] > now_ps)

    def _plane(self, program: int) -> int:
        return program % len(self._planes)

    def _over_channel(self, plane: int, earliest_ps: int, blocks: int) -> int:
        return self._channels[plane % self.flash.channels].take(earliest_ps, blocks * self.flash.channel_ps)
