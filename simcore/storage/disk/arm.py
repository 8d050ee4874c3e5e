"""The arm over the turning platters: when the blocks of a request pass the head."""

from collections.abc import Iterator
from typing import NamedTuple

from memwalk.simcore.storage.disk.drive import Drive
from memwalk.simcore.storage.disk.geometry import Geometry, Place, Zone


class Pass(NamedTuple):
    """Blocks that have passed the head."""

    begin_ps: int
    """When the first one came under the head."""
    end_ps: int
    """When the last one had passed."""
    zone: Zone
    """The last one's zone."""
    position: int
    """The stream position behind the last one, in sectors."""
    position_ps: int
    """The same as time."""
    left: int
    """Blocks behind it on its track."""
    cylinder: int
    head: int
    """Its track."""


class Stretch(NamedTuple):
    """Blocks that pass the head one right behind the other."""

    begin_ps: int
    """When the first one comes under the head."""
    end_ps: int
    """When the last one has passed."""
    sector_ps: int
    """Time of one."""
    blocks: int


class Arm:
    """Where the heads are, and until when they are at work."""

    def __init__(self, geometry: Geometry, drive: Drive) -> None:
        """Put head 0 over cylinder 0, with the index mark under it at time 0."""
        self.geometry = geometry
        self.drive = drive
        self.cylinder = 0
        self.head = 0
        self.free_ps = 0

    def reach_ps(self, place: Place, *, write: bool) -> int:
        """Return the time to reach the track of ``place`` from where the heads are."""
        return self.drive.reach_ps(abs(place.cylinder - self.cylinder), other_head=place.head != self.head, write=write)

    def wait_ps(self, arrival_ps: int, place: Place) -> int:
        """Return the time from ``arrival_ps`` until ``place`` comes under the head."""
        return (self.geometry.time_ps(place.zone, place.position) - arrival_ps) % self.geometry.rotation_ps

    def stretches(self, begin_ps: int, place: Place, block: int, end: int) -> Iterator[Stretch]:
        """Cut the blocks from ``block`` (at ``place``) to ``end`` into what passes without a pause, the first of it from ``begin_ps``."""
        geometry = self.geometry
        zone, _, _, _, position = place
        sector_ps, start_ps = geometry.sector_ps(zone), geometry.time_ps(zone, position)
        wait_ps = (start_ps - begin_ps) % geometry.rotation_ps
        if wait_ps:  # zero latency has begun in the middle, and comes to the first block last
            missed = min(zone.sectors - wait_ps * zone.sectors // geometry.rotation_ps, end - block)
            if block + missed < end:
                blocks = end - block - missed
                yield Stretch(begin_ps, begin_ps + geometry.time_ps(zone, blocks), sector_ps, blocks)
            begin_ps += wait_ps
            end = block + missed
        while True:
            blocks = min(end - block, geometry.left_on_track(place, block))
            end_ps = begin_ps + geometry.time_ps(zone, position + blocks) - start_ps
            yield Stretch(begin_ps, end_ps, sector_ps, blocks)
            block += blocks
            if block == end:
                return
            before, place = place, geometry.locate(block)
            position, passed_ps = place.position, start_ps
            if place.zone is zone:
                start_ps = geometry.time_ps(zone, position)
                begin_ps += start_ps - passed_ps
            else:
                zone = place.zone
                sector_ps, start_ps = geometry.sector_ps(zone), geometry.time_ps(zone, position)
                begin_ps = self._enters_ps(end_ps, before.cylinder, before.head, place)

    def transfer(self, arrival_ps: int, place: Place, block: int, end: int, *, any_order: bool = True) -> Pass:
        """Let the blocks from ``block`` (at ``place``) to ``end`` pass, on the first one's track from ``arrival_ps`` on.

        Leaves the heads on the last one's track. With zero latency, blocks within one track take at most a turn if they may come in
        ``any_order``, as those of a whole request may.
        """
        zone, self.cylinder, self.head, _, position = place
        if end > zone.block + zone.blocks:
            return self._across_zones(arrival_ps, place, block, end)
        geometry = self.geometry
        rotation_ps = geometry.rotation_ps
        start_ps = geometry.time_ps(zone, position)
        wait_ps = (start_ps - arrival_ps) % rotation_ps
        left = geometry.left_on_track(place, block) - (end - block)
        if left >= 0:
            position += end - block
            position_ps = geometry.time_ps(zone, position)
            pass_ps = position_ps - start_ps
            if any_order and self.drive.zero_latency and wait_ps + pass_ps > rotation_ps:
                wait_ps -= geometry.time_ps(zone, wait_ps * zone.sectors // rotation_ps)  # the next sector begins
                pass_ps = rotation_ps
        else:
            last = geometry.locate(end - 1)
            self.cylinder, self.head, position = last.cylinder, last.head, last.position + 1
            left = geometry.left_on_track(last, end - 1) - 1
            position_ps = geometry.time_ps(zone, position)
            pass_ps = position_ps - start_ps
        begin_ps = arrival_ps + wait_ps
        self.free_ps = begin_ps + pass_ps
        return Pass(begin_ps, self.free_ps, zone, position, position_ps, left, self.cylinder, self.head)

    def _across_zones(self, arrival_ps: int, place: Place, block: int, end: int) -> Pass:
        zone_end = place.zone.block + place.zone.blocks
        begin_ps = self.transfer(arrival_ps, place, block, zone_end, any_order=False).begin_ps
        following = self.geometry.locate(zone_end)
        begins_ps = self._enters_ps(self.free_ps, self.cylinder, self.head, following)
        return self.transfer(begins_ps, following, zone_end, end, any_order=False)._replace(begin_ps=begin_ps)

    def _enters_ps(self, left_ps: int, cylinder: int, head: int, first: Place) -> int:
        """Return when the ``first`` block of a zone comes by, after the heads have left the track before it at ``left_ps``."""
        arrival_ps = left_ps + self.drive.reach_ps(abs(first.cylinder - cylinder), other_head=first.head != head, write=False)
        return arrival_ps + self.wait_ps(arrival_ps, first)
