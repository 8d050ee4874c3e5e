"""A disk drive: the arm and its platters, a buffer that reads ahead and may take writes, and a bus."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache, partial

from memwalk.simcore.storage.device import Asked, Parts, expect_blocks
from memwalk.simcore.storage.disk.arm import Arm, Pass
from memwalk.simcore.storage.disk.drive import Drive
from memwalk.simcore.storage.disk.geometry import Geometry, Place
from memwalk.simcore.storage.disk.read_ahead import DriveReadAhead
from memwalk.simcore.storage.disk.segments import Segments
from memwalk.simcore.storage.disk.write_buffer import WriteBuffer


class Disk:
    """One disk; `memwalk.simcore.storage.device.StorageDevice` says what its methods do.

    Reading ahead gives way to any command that needs the arm. A buffered write goes to the medium in the background, in order, as
    soon as the arm is free; a command that needs the arm before waits for it, which counts as seek.
    """

    def __init__(self, geometry: Geometry, drive: Drive) -> None:
        """Begin with head 0 over cylinder 0, an empty buffer and the index mark under the head at time 0."""
        self.geometry = geometry
        self.drive = drive
        self.blocks = geometry.blocks
        self.parts = Parts()
        self.comes_ps = 0
        self._arm = Arm(geometry, drive)
        self._segments = Segments(drive.segments, drive.segment_blocks)
        self._ahead = DriveReadAhead(geometry, drive.read_ahead_blocks)
        self._buffered = WriteBuffer(drive.write_segments, drive.segment_blocks)
        self._after_write = False
        self._locate = lru_cache(maxsize=1024)(geometry.locate)  # requests that wait are asked about again and again
        self._least_reach = [lru_cache(maxsize=None)(partial(drive.reach_ps, other_head=False, write=write)) for write in (False, True)]
        self._bus_is_slower = drive.bus_ps > min(map(geometry.sector_ps, geometry.zones))
        """Than the medium somewhere: what it has not carried before a pause it carries meanwhile."""
        self._followed_ps = -1  # when a stream was followed last: many requests ask for their way at the same time

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:
        """Serve ``blocks`` blocks from ``block`` on, started at ``start_ps``; returns when that is done, in ps, and sets `parts`.

        Raises ValueError for blocks that the disk does not have.
        """
        end = block + blocks
        expect_blocks(block, blocks, self.blocks, "a disk")
        if not write:
            end_ps = self._read(start_ps, block, end)
        elif blocks <= self._buffered.capacity:
            end_ps = self._write_to_buffer(start_ps, block, end)
        else:
            end_ps = self._write_to_medium(start_ps, block, end)
        self._after_write = write
        self._followed_ps = -1
        return end_ps

    def positioning_ps(self, now_ps: int, request: Asked) -> int:
        """Estimate the time from ``now_ps`` until the first block of a request could begin to move, without moving anything.

        Also with zero latency that is the first block: a drive that begins in the middle takes a turn, and has saved nothing before.
        """
        drive, after_write, block = self.drive, self._after_write, request.block
        if request.write:
            if request.blocks > self._buffered.capacity:
                return self._comes_by_ps(now_ps + drive.write_miss[after_write], block, write=True) - now_ps
            return self._buffered.room_ps(now_ps + drive.write_hit[after_write], block, block + request.blocks) - now_ps
        if self._ahead.block <= block < self._ahead.end:
            if not self._leaves_read_ahead(now_ps, block):
                return max(now_ps + drive.read_hit[after_write], self._ahead.passes_ps(block)) - now_ps
        elif self._segments.end(block) > block:
            return drive.read_hit[after_write]
        return self._comes_by_ps(now_ps + drive.read_miss[after_write], block, write=False) - now_ps

    def positioning_bounds(self, now_ps: int, requests: Sequence[Asked]) -> list[int]:
        """Return of each request a time that `positioning_ps` never falls below: command and seek, or nothing for what may be buffered."""
        (read_ps, read_from), (write_ps, write_from) = (self._seek_begins(now_ps, write=write) for write in (False, True))
        locate, (to_read, to_write) = self._locate, self._least_reach
        edges, capacity = self._segments.edges((self._ahead.block, self._ahead.end)), self._buffered.capacity
        return [
            0
            if (request.blocks <= capacity if request.write else bisect_right(edges, request.block) & 1)
            else write_ps + to_write(abs(locate(request.block).cylinder - write_from))
            if request.write
            else read_ps + to_read(abs(locate(request.block).cylinder - read_from))
            for request in requests
        ]

    def _seek_begins(self, now_ps: int, *, write: bool) -> tuple[int, int]:
        """Return how long after ``now_ps`` the arm would begin to move for a command, and from which cylinder."""
        ready_ps = now_ps + (self.drive.write_miss if write else self.drive.read_miss)[self._after_write]
        self._bring_heads(ready_ps)
        return max(ready_ps, self._arm.free_ps) - now_ps, self._arm.cylinder

    def _comes_by_ps(self, ready_ps: int, block: int, *, write: bool) -> int:
        """Return when ``block`` would come under the head if the drive went there as soon as it is ready."""
        self._bring_heads(ready_ps)
        place = self._locate(block)
        arrival_ps = max(ready_ps, self._arm.free_ps) + self._arm.reach_ps(place, write=write)
        return arrival_ps + self._arm.wait_ps(arrival_ps, place)

    def _bring_heads(self, ready_ps: int) -> None:
        """Put the heads where they are at ``ready_ps`` if nothing needs the arm until then."""
        if self._ahead.end and ready_ps != self._followed_ps:
            self._follow_stream(ready_ps)
            self._followed_ps = ready_ps

    def _read(self, start_ps: int, block: int, end: int) -> int:
        ahead = self._ahead
        held = block
        if ahead.block <= block < ahead.end:
            now_ps = start_ps + self.drive.read_hit[self._after_write]
            reached = ahead.reached(now_ps)
            if block >= reached - self.drive.segment_blocks:  # not overwritten yet
                held = max(block, reached)
                if reached < ahead.end and not self._leaves_read_ahead(start_ps, block):
                    ahead.extend(end)
                    if held < end:
                        read_on = self._read_stream if end <= ahead.end else self._read_into_next_zone
                        return read_on(start_ps, now_ps, block, held, end)
        else:
            held = self._segments.end(block)
        if held < end:
            return self._read_medium(start_ps, block, held, end)
        overhead, bus = self.drive.read_hit[self._after_write], (end - block) * self.drive.bus_ps
        self.parts = Parts(overhead_ps=overhead, bus_ps=bus)
        self.comes_ps = start_ps + overhead
        return self.comes_ps + bus

    def _leaves_read_ahead(self, start_ps: int, block: int) -> bool:
        """Return whether the drive goes to a block that reading ahead would come to later."""
        if not self.drive.leaves_read_ahead:
            return False
        there_ps = self._comes_by_ps(start_ps + self.drive.read_miss[self._after_write], block, write=False)
        return there_ps < self._ahead.passes_ps(block)

    def _read_stream(self, start_ps: int, now_ps: int, block: int, held: int, end: int) -> int:
        """Read blocks of which those from ``held`` on are still to be read ahead: wait until they come by."""
        place = self.geometry.locate(held)
        sector_ps = self.geometry.sector_ps(place.zone)
        begin_ps = max(now_ps, self._ahead.passes_ps(block))
        passed_ps = max(begin_ps, self._ahead.passes_ps(end - 1) + sector_ps)
        free_ps = now_ps + (held - block) * self.drive.bus_ps
        self.comes_ps = begin_ps
        end_ps = self._over_bus_ps(free_ps, self._ahead.passes_ps(held), passed_ps, place, held, end)
        self.parts = Parts(now_ps - start_ps, 0, begin_ps - now_ps, passed_ps - begin_ps, end_ps - passed_ps)
        return end_ps

    def _read_into_next_zone(self, start_ps: int, now_ps: int, block: int, held: int, end: int) -> int:
        """Do the same for blocks of which only the first are read ahead: the stream ends with its zone, and the heads go on from there."""
        begin_ps = max(now_ps, self._ahead.passes_ps(block))
        comes_ps = self._ahead.passes_ps(held)
        self._stop_reading_ahead(now_ps)
        read, end_ps = self._passes(now_ps, comes_ps, self.geometry.locate(held), block, held, end)
        self.parts = Parts(now_ps - start_ps, 0, begin_ps - now_ps, read.end_ps - begin_ps, end_ps - read.end_ps)
        return end_ps

    def _read_medium(self, start_ps: int, block: int, held: int, end: int) -> int:
        """Read blocks of which those from ``held`` on are not in the buffer."""
        overhead = self.drive.read_miss[self._after_write]
        now_ps = start_ps + overhead
        self._stop_reading_ahead(now_ps)
        place = self.geometry.locate(held)
        arrival_ps = max(now_ps, self._arm.free_ps) + self._arm.reach_ps(place, write=False)
        read, end_ps = self._passes(now_ps, arrival_ps, place, block, held, end)
        self.parts = Parts(overhead, arrival_ps - now_ps, read.begin_ps - arrival_ps, read.end_ps - read.begin_ps, end_ps - read.end_ps)
        return end_ps

    def _passes(self, now_ps: int, arrival_ps: int, place: Place, block: int, held: int, end: int) -> tuple[Pass, int]:  # noqa: PLR0917 (called per request)
        """Let the blocks from ``held`` (at ``place``) on pass, where the heads are at ``arrival_ps``; those before are in the buffer.

        Returns how, and when all are over the bus, which is free at ``now_ps``. The stream goes on behind them.
        """
        read = self._arm.transfer(arrival_ps, place, held, end)
        if self.drive.segments:
            self._ahead.follow(read, block, end)
        self.comes_ps = now_ps if held > block else read.begin_ps
        free_ps = now_ps + (held - block) * self.drive.bus_ps
        return read, self._over_bus_ps(free_ps, read.begin_ps, read.end_ps, place, held, end)

    def _write_to_medium(self, start_ps: int, block: int, end: int) -> int:
        """Write so late that the bus brings every block in time."""
        overhead = self.drive.write_miss[self._after_write]
        now_ps = start_ps + overhead
        self._overwrite(now_ps, block, end)
        place = self.geometry.locate(block)
        arrival_ps = max(now_ps, self._arm.free_ps) + self._arm.reach_ps(place, write=True)
        ready_ps = max(arrival_ps, now_ps + self._lead_ps(place, block, end))
        written = self._arm.transfer(ready_ps, place, block, end)
        transfer = written.end_ps - written.begin_ps
        self.parts = Parts(overhead, arrival_ps - now_ps, written.begin_ps - ready_ps, transfer, ready_ps - arrival_ps)
        return written.end_ps

    def _write_to_buffer(self, start_ps: int, block: int, end: int) -> int:
        """Take a write into the buffer; it goes to the medium once the arm is free."""
        overhead, bus = self.drive.write_hit[self._after_write], (end - block) * self.drive.bus_ps
        now_ps = start_ps + overhead
        self._overwrite(now_ps, block, end)
        taken_ps = self._buffered.room_ps(now_ps, block, end)
        place = self.geometry.locate(block)
        arrival_ps = max(taken_ps + self.drive.bus_ps, self._arm.free_ps) + self._arm.reach_ps(place, write=True)
        written = self._arm.transfer(max(arrival_ps, taken_ps + self._lead_ps(place, block, end)), place, block, end)
        self._buffered.take(now_ps, written.end_ps, block, end)
        self.parts = Parts(overhead_ps=overhead, seek_ps=taken_ps - now_ps, bus_ps=bus)
        return taken_ps + bus

    def _lead_ps(self, place: Place, block: int, end: int) -> int:
        """Return how much earlier than the medium the bus has to begin with the blocks from ``block`` (at ``place``) to ``end``."""
        bus_ps = self.drive.bus_ps
        if not self._bus_is_slower:
            return bus_ps
        if end - block <= self.geometry.left_on_track(place, block):  # as most are, which need no cutting
            return bus_ps + (end - block - 1) * max(0, bus_ps - self.geometry.sector_ps(place.zone))
        lead_ps = bus_ps
        begin_ps = self.geometry.time_ps(place.zone, place.position)
        over_ps = begin_ps  # when the bus is done with the blocks so far, if it begins with the medium
        for stretch in self._arm.stretches(begin_ps, place, block, end):
            lead_ps = max(lead_ps, over_ps + bus_ps - stretch.begin_ps)
            over_ps += stretch.blocks * bus_ps
            lead_ps = max(lead_ps, over_ps - (stretch.end_ps - stretch.sector_ps))
        return lead_ps

    def _overwrite(self, now_ps: int, block: int, end: int) -> None:
        """Make way for a write, and hold its blocks for reads to come."""
        self._stop_reading_ahead(now_ps)
        self._segments.drop(block, end)
        self._segments.keep(block, end)

    def _stop_reading_ahead(self, now_ps: int) -> None:
        """Hold what has been read ahead, and leave the heads where they are."""
        if self._ahead.end:
            self._segments.keep(self._ahead.block, self._follow_stream(now_ps))
            self._ahead.stop()

    def _follow_stream(self, now_ps: int) -> int:
        """Put the heads where reading ahead has taken them; returns the block that it has come to."""
        reached = self._ahead.reached(now_ps)
        self._arm.cylinder, self._arm.head = self._ahead.track(reached)
        return reached

    def _over_bus_ps(self, free_ps: int, begin_ps: int, passed_ps: int, place: Place, block: int, end: int) -> int:  # noqa: PLR0917 (called per request)
        """Return when blocks from ``block`` (at ``place``) to ``end`` are over the bus, which is free at ``free_ps``.

        They pass the head from ``begin_ps`` to ``passed_ps``.
        """
        bus_ps, blocks = self.drive.bus_ps, end - block
        if not self._bus_is_slower:
            return max(free_ps + (blocks - 1) * bus_ps, passed_ps) + bus_ps
        sector_ps = self.geometry.sector_ps(place.zone)
        if blocks <= self.geometry.left_on_track(place, block) and passed_ps - begin_ps <= blocks * sector_ps:  # without a pause, as most
            return max(max(free_ps, begin_ps + sector_ps) + (blocks - 1) * bus_ps, passed_ps) + bus_ps
        for stretch in self._arm.stretches(begin_ps, place, block, end):
            free_ps = max(max(free_ps, stretch.begin_ps + stretch.sector_ps) + (stretch.blocks - 1) * bus_ps, stretch.end_ps) + bus_ps
        return free_ps
