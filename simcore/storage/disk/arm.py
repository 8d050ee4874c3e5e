"""The arm and the turning platter: when a request's blocks pass the head."""

from typing import NamedTuple

from simcore.storage.disk.drive import Drive
from simcore.storage.disk.geometry import Geometry, Place, Zone


class Pass(NamedTuple):
    """A run of blocks that passed the head."""

    begin_ps: int
    """When the first block came under the head."""
    end_ps: int
    """When the last block had passed."""
    zone: Zone
    """The zone of the last block."""
    position: int
    """The stream position behind the last block, in sectors."""
    left: int
    """Sectors behind it on the track."""


class Arm:
    """Where the heads are, and when they are free. Each platter turns past its index mark at time 0."""

    def __init__(self, geometry: Geometry, drive: Drive) -> None:
        """Put the heads over cylinder 0, head 0 selected."""
        self.geometry = geometry
        self.drive = drive
        self.cylinder = 0
        self.head = 0
        self.free_ps = 0

    def move_ps(self, place: Place, *, write: bool) -> int:
        """Return the time to reach the track of ``place``: the longer of seek and head switch, and settling for a write."""
        distance = place.cylinder - self.cylinder
        if distance:
            moved = self.drive.seek_ps(abs(distance))
            if place.head != self.head and moved < self.drive.head_switch_ps:
                moved = self.drive.head_switch_ps
        elif place.head != self.head:
            moved = self.drive.head_switch_ps
        else:
            return 0
        return moved + self.drive.write_settle_ps if write else moved

    def wait_ps(self, arrival_ps: int, place: Place) -> int:
        """Return the time from ``arrival_ps`` until ``place`` comes under the head."""
        return (self.geometry.time_ps(place.zone, place.position) - arrival_ps) % self.geometry.rotation_ps

    def transfer(self, arrival_ps: int, place: Place, block: int, end: int) -> Pass:
        """Let the blocks from ``block`` (at ``place``) to ``end`` pass, with the heads on the first one's track since ``arrival_ps``.

        Leaves the heads on the last block's track. Only within a track may blocks pass in another order than theirs.
        """
        zone, self.cylinder, self.head, sector, position = place
        zone_end = zone.block + zone.blocks
        if end > zone_end:
            return self._across_zones(arrival_ps, place, block, zone_end, end)
        geometry = self.geometry
        rotation_ps = geometry.rotation_ps
        start_ps = geometry.time_ps(zone, position)
        wait_ps = (start_ps - arrival_ps) % rotation_ps
        left = zone.sectors - sector - (end - block)
        if left >= 0:
            last = position + end - block
            pass_ps = geometry.time_ps(zone, last) - start_ps
            if self.drive.zero_latency and wait_ps + pass_ps > rotation_ps:
                wait_ps -= -(-(wait_ps * zone.sectors // rotation_ps) * rotation_ps // zone.sectors)  # to the next sector
                pass_ps = rotation_ps
        else:
            _, self.cylinder, self.head, sector, last = geometry.locate(end - 1)
            last += 1
            left = zone.sectors - sector - 1
            pass_ps = geometry.time_ps(zone, last) - start_ps
        begin_ps = arrival_ps + wait_ps
        self.free_ps = begin_ps + pass_ps
        return Pass(begin_ps, self.free_ps, zone, last, left)

    def _across_zones(self, arrival_ps: int, place: Place, block: int, zone_end: int, end: int) -> Pass:
        begin_ps = self.transfer(arrival_ps, place, block, zone_end).begin_ps
        following = self.geometry.locate(zone_end)
        arrival_ps = self.free_ps + self.move_ps(following, write=False)
        return self.transfer(arrival_ps, following, zone_end, end)._replace(begin_ps=begin_ps)
