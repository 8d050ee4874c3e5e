"""Where blocks lie on a disk: zones, tracks, skews, and when a block passes the head.

Every zone is a stream: its blocks pass the head one after another, with a pause of the skew at each change of track. The *stream
position* of a block, counted in sectors from the zone's start, pauses included, says all there is to know about time: its remainder
by the sectors of a track is the block's angle, and the difference of two positions is the time to stream from one block to the
other. So nothing here loops over sectors or tracks.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.units import PS_PER_SECOND


class Zone(NamedTuple):
    """Cylinders next to each other whose tracks have the same number of sectors. Skews are in sectors."""

    block: int
    """The first block."""
    blocks: int
    cylinder: int
    """The first cylinder."""
    cylinders: int
    sectors: int
    """Sectors per track."""
    track_skew: int
    """Pause at a change of heads."""
    cylinder_skew: int
    """Pause at a change of cylinders."""
    empty: int
    """Sectors at the zone's start that hold no blocks."""
    spares: int
    """Sectors at the end of each spare range that hold no blocks."""
    range_blocks: int
    """Blocks of a spare range; what is left at the zone's end has no spares."""


class Place(NamedTuple):
    """A block on the disk, with its stream position in sectors."""

    zone: Zone
    cylinder: int
    head: int
    sector: int
    position: int


class Geometry:
    """Blocks, tracks and angles of a disk whose zones hold ``blocks`` blocks or more."""

    def __init__(self, zones: Sequence[Zone], heads: int, rotation_ps: int, blocks: int, *, serpentine: bool = False) -> None:
        """Take the zones in order of blocks; ``serpentine``: every other cylinder of a zone counts its heads down."""
        self.zones = tuple(zones)
        self.heads = heads
        self.rotation_ps = rotation_ps
        self.blocks = blocks
        self.serpentine = serpentine
        self._first_blocks = [zone.block for zone in zones]

    def locate(self, block: int) -> Place:
        """Find a block. Blocks are counted along a track, then head by head, then cylinder by cylinder."""
        zone = self.zones[bisect_right(self._first_blocks, block) - 1]
        first, _, cylinder, _, sectors, track_skew, cylinder_skew, empty, spares, range_blocks = zone
        index = block - first
        index += empty + spares * (index // range_blocks)
        track = index // sectors
        turn = track // self.heads
        head = track - turn * self.heads
        if self.serpentine and turn & 1:
            head = self.heads - 1 - head
        position = index + track_skew * (track - turn) + cylinder_skew * turn
        return Place(zone, cylinder + turn, head, index - track * sectors, position)

    def left_on_track(self, place: Place, block: int) -> int:
        """Return how many blocks pass one right behind the other from ``block`` (at ``place``) on."""
        zone = place.zone
        in_range = zone.range_blocks - (block - zone.block) % zone.range_blocks
        on_track = zone.sectors - place.sector
        return in_range if in_range < on_track else on_track

    def block_at(self, cylinder: int, head: int, sector: int) -> int | None:
        """Return the block at a physical place: the inverse of `locate`. None if the sector holds no block."""
        for zone in self.zones:
            if 0 <= cylinder - zone.cylinder < zone.cylinders:
                turn = cylinder - zone.cylinder
                head = self.heads - 1 - head if self.serpentine and turn & 1 else head
                index = (turn * self.heads + head) * zone.sectors + sector
                block = _blocks_before(zone, index)
                is_block = block < zone.blocks and _blocks_before(zone, index + 1) > block
                return zone.block + block if is_block else None
        return None

    def reached(self, zone: Zone, position: int) -> int:
        """Return the block that a stream through ``zone`` has come to: those before it have passed the head."""
        turn, rest = divmod(position, self.cylinder_sectors(zone))
        head = min(rest // (zone.sectors + zone.track_skew), self.heads - 1)
        sector = min(rest - head * (zone.sectors + zone.track_skew), zone.sectors)
        index = (turn * self.heads + head) * zone.sectors + sector
        return zone.block + min(_blocks_before(zone, index), zone.blocks)

    def cylinder_sectors(self, zone: Zone) -> int:
        """Return how far the stream position moves on from one cylinder of ``zone`` to the next."""
        return self.heads * zone.sectors + (self.heads - 1) * zone.track_skew + zone.cylinder_skew

    def bytes_per_second(self, zone: Zone) -> float:
        """Return the sequential rate of a zone, skews included."""
        return self.heads * zone.sectors * BLOCK_BYTES * PS_PER_SECOND / self.time_ps(zone, self.cylinder_sectors(zone))

    def time_ps(self, zone: Zone, position: int) -> int:
        """Return the time to stream from the zone's start to a position; its remainder by a rotation is the angle."""
        return -(-position * self.rotation_ps // zone.sectors)

    def sector_ps(self, zone: Zone) -> int:
        """Return the time of a sector under the head, rounded up."""
        return -(-self.rotation_ps // zone.sectors)


def _blocks_before(zone: Zone, index: int) -> int:
    """Count the blocks of the zone's first ``index`` sectors."""
    index -= zone.empty
    if index <= 0:
        return 0
    spare_range, rest = divmod(index, zone.range_blocks + zone.spares)
    return spare_range * zone.range_blocks + min(rest, zone.range_blocks)
