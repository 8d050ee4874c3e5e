"""The device file of a disk, and the rules that its numbers keep."""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator

from memwalk.simcore.storage.device import block_ps
from memwalk.simcore.storage.device_section import DeviceSection
from memwalk.simcore.storage.disk.drive import Drive
from memwalk.simcore.storage.disk.geometry import Geometry, Zone
from memwalk.simcore.storage.disk.model import Disk
from memwalk.simcore.storage.disk.sections import ByCommand, SeekCurve, SeekFormula, ZoneRow
from memwalk.simcore.units import PS_PER_SECOND, Count, Picoseconds, PositiveCount
from memwalk.simcore.validation import mistake_at

_MOST_RPM = 1_000_000
"""No disk comes near; a turn is still some million times as long as a picosecond, in which times are kept."""


class DiskFile(DeviceSection):
    """A disk. ``source`` says where the numbers come from, ``sources`` where single ones do."""

    kind: Literal["disk"]
    rpm: PositiveCount = Field(le=_MOST_RPM)
    heads: PositiveCount = Field(description="Surfaces that hold data")
    cylinders: PositiveCount
    blocks: PositiveCount = Field(description="Capacity in blocks of 512 bytes")
    reserved_blocks: Count = Field(0, description="Room behind the last block that the drive keeps for itself")
    spare_range_cylinders: PositiveCount | None = Field(None, description="Cylinders that share spares; those of a zone if absent")
    serpentine: StrictBool = Field(False, description="Whether every other cylinder of a zone counts its heads down")
    unused_cylinders: list[Count] = Field([], description="Cylinders between zones that hold no blocks")
    zones: list[ZoneRow] = Field(min_length=1)
    seek: Annotated[SeekCurve | SeekFormula, Field(discriminator="model")]
    head_switch: Picoseconds
    write_settle: Picoseconds = Field(description="What a write waits longer than a read once the heads have come to its track")
    bus_per_block: Picoseconds
    overhead: ByCommand = Field(description="Command processing: one time, or one by command")
    segments: Count = Field(description="Runs of blocks that the buffer holds for reads")
    segment_blocks: Count = Field(description="Blocks of a segment, and of the largest write that the buffer takes")
    read_ahead_blocks: Count = Field(description="Blocks behind a read that the drive reads on until a command needs the arm")
    leaves_read_ahead: StrictBool = Field(description="Whether a read of a block to come in the read-ahead goes there if that is quicker")
    write_segments: Count = Field(description="Writes that the buffer holds until they are on the medium; 0: write-through")
    zero_latency: StrictBool = Field(description="Whether a request within a track takes its blocks as they come by")

    @model_validator(mode="after")
    def _zones_join(self) -> "DiskFile":
        unused = set(self.unused_cylinders)
        following = _skip(unused, 0)
        for number, zone in enumerate(self.zones):
            first, last = zone.cylinders
            route = ("zones", number, "cylinders")
            if first < following:
                raise mistake_at(route, f"zones overlap: cylinders up to {following - 1} come before; begin with {following}")
            if first > following:
                raise mistake_at(
                    route, f"zones leave a gap: begin with cylinder {following}, or list those up to {first - 1} as unused_cylinders"
                )
            if inside := sorted(cylinder for cylinder in unused if first <= cylinder <= last):
                raise mistake_at(route, f"cylinder {inside[0]} is in the zone and among unused_cylinders; take it out of one")
            following = _skip(unused, last + 1)
        if following != self.cylinders:
            raise mistake_at(("cylinders",), f"the zones end with cylinder {following - 1}; the number of cylinders is {following}")
        return self

    @model_validator(mode="after")
    def _capacity_closes(self) -> "DiskFile":
        room = 0
        for number, zone in enumerate(self.zones):
            in_zone = self._zone_blocks(zone)
            if in_zone <= 0 or self._range_blocks(zone) <= 0:
                raise mistake_at(("zones", number), "spares or empty sectors leave no room for blocks; lower them")
            room += in_zone
        if room != self.blocks + self.reserved_blocks:
            raise mistake_at(
                ("blocks",), f"the zones hold {room} blocks, which are to be blocks + reserved_blocks; correct one of the three"
            )
        if self.reserved_blocks >= in_zone:
            raise mistake_at(
                ("reserved_blocks",), f"the last zone holds {in_zone} blocks; fewer than that can be reserved behind the last one"
            )
        return self

    @model_validator(mode="after")
    def _seeks_fit(self) -> "DiskFile":
        try:
            one_cylinder = self.seek.times(self.cylinders)(1)
        except ValueError as error:
            raise mistake_at(("seek",), str(error)) from None
        to_cylinder = one_cylinder if self.serpentine or self.heads == 1 else max(one_cylinder, self.head_switch)
        needed = {"track_skew": self.head_switch if self.heads > 1 else 0, "cylinder_skew": to_cylinder}
        for number, zone in enumerate(self.zones):
            for skew, least in needed.items():
                sectors = -(-least * zone.sectors // self.rotation_ps())
                if getattr(zone, skew) < sectors:
                    raise mistake_at(("zones", number, skew), f"the heads are there {sectors} sectors later; a smaller skew costs a turn")
        return self

    @model_validator(mode="after")
    def _buffer_is_large_enough(self) -> "DiskFile":
        if self.read_ahead_blocks > (self.segment_blocks if self.segments else 0):
            raise mistake_at(("read_ahead_blocks",), "no segment holds as many blocks; lower it, or raise segments or segment_blocks")
        if self.write_segments and not self.segment_blocks:
            raise mistake_at(("write_segments",), "segments of 0 blocks take no writes; raise segment_blocks, or write 0")
        return self

    def rotation_ps(self) -> int:
        """Return the time of a turn, to the nearest picosecond."""
        return round(60 * PS_PER_SECOND / self.rpm)

    def on_bus(self, bytes_per_second: int) -> Self:
        """See `DeviceSection.on_bus`."""
        return self.model_copy(update={"bus_per_block": max(self.bus_per_block, block_ps(bytes_per_second))})

    def device(self) -> Disk:
        """Make the disk."""
        geometry = Geometry(self._zones(), self.heads, self.rotation_ps(), self.blocks, serpentine=self.serpentine)
        drive = Drive(
            seek_ps=self.seek.times(self.cylinders),
            head_switch_ps=self.head_switch,
            write_settle_ps=self.write_settle,
            bus_ps=self.bus_per_block,
            read_hit=self.overhead.read_hit.times(),
            read_miss=self.overhead.read_miss.times(),
            write_hit=self.overhead.write_hit.times(),
            write_miss=self.overhead.write_miss.times(),
            segments=self.segments,
            segment_blocks=self.segment_blocks,
            read_ahead_blocks=self.read_ahead_blocks,
            leaves_read_ahead=self.leaves_read_ahead,
            write_segments=self.write_segments,
            zero_latency=self.zero_latency,
        )
        return Disk(geometry, drive)

    def _zones(self) -> list[Zone]:
        """Lay blocks out over the zones."""
        zones: list[Zone] = []
        block = 0
        for row in self.zones:
            zone = Zone(
                block=block,
                blocks=min(self._zone_blocks(row), self.blocks - block),
                cylinder=row.cylinders[0],
                cylinders=row.count(),
                sectors=row.sectors,
                track_skew=row.track_skew,
                cylinder_skew=row.cylinder_skew,
                empty=row.empty,
                spares=row.spares,
                range_blocks=self._range_blocks(row),
            )
            zones.append(zone)
            block += zone.blocks
        return zones

    def _zone_blocks(self, row: ZoneRow) -> int:
        ranges = row.count() // (self.spare_range_cylinders or row.count())
        return row.count() * self.heads * row.sectors - row.empty - ranges * row.spares

    def _range_blocks(self, row: ZoneRow) -> int:
        return (self.spare_range_cylinders or row.count()) * self.heads * row.sectors - row.spares


def _skip(unused: set[int], cylinder: int) -> int:
    """Return the first cylinder from ``cylinder`` on that is in use."""
    while cylinder in unused:
        cylinder += 1
    return cylinder
