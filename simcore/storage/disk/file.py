"""Device files of disks: geometry, arm and buffer as data, with a source for every number."""

from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, model_validator

from simcore.section import Section
from simcore.storage.disk import seek
from simcore.storage.disk.drive import Drive, Overhead
from simcore.storage.disk.geometry import Geometry, Zone
from simcore.storage.disk.model import Disk
from simcore.units import Count, Picoseconds, PositiveCount
from simcore.validation import StrictModel

_MINUTE_PS = 60 * 10**12


class ZoneRow(StrictModel):
    """A zone: its cylinders, and in sectors a track, the skews and what holds no blocks."""

    cylinders: tuple[Count, Count] = Field(description="First and last cylinder")
    sectors: PositiveCount = Field(description="Per track")
    track_skew: Count
    cylinder_skew: Count
    spares: Count = Field(0, description="Sectors without blocks at the end of the zone, or of each spare range")
    empty: Count = Field(0, description="Sectors without blocks at the zone's start")

    @model_validator(mode="after")
    def _possible(self) -> "ZoneRow":
        first, last = self.cylinders
        if last < first:
            raise ValueError(f"the last cylinder {last} comes before the first one {first}; exchange them")
        for name in ("track_skew", "cylinder_skew"):
            skew = getattr(self, name)
            if skew >= self.sectors:
                raise ValueError(f"{name} {skew} is a whole turn or more of {self.sectors} sectors; skews are less than a track")
        return self


class SeekCurve(StrictModel):
    """Measured seek times: points of distance in cylinders and time, with straight lines between."""

    model: Literal["points"]
    points: list[tuple[PositiveCount, Picoseconds]] = Field(min_length=2)
    measured: StrictBool = Field(False, description="Whether the points are as a drive gave them, noise included: then times may fall")

    @model_validator(mode="after")
    def _rises(self) -> "SeekCurve":
        for (near, soon), (far, late) in pairwise(self.points):
            if far <= near:
                raise ValueError(f"distance {far} follows {near}; points are in order of distance")
            if late < soon and not self.measured:
                raise ValueError(
                    f"a seek over {far} cylinders takes less than one over {near}; a seek curve never falls (unless `measured: true`)"
                )
        return self

    def time(self, cylinders: int) -> seek.SeekTime:  # noqa: ARG002 (the points say it all)
        """Make the curve."""
        return seek.curve(self.points)


class SeekFormula(StrictModel):
    """Seek times from a data sheet."""

    model: Literal["formula"]
    track_to_track: Picoseconds
    average: Picoseconds
    full_stroke: Picoseconds

    @model_validator(mode="after")
    def _rises(self) -> "SeekFormula":
        if not 0 < self.track_to_track <= self.average <= self.full_stroke:
            raise ValueError("a seek curve never falls: track_to_track <= average <= full_stroke; correct one of them")
        return self

    def time(self, cylinders: int) -> seek.SeekTime:
        """Make the curve for a disk of so many cylinders. Raises ValueError if it would fall."""
        return seek.formula(self.track_to_track, self.average, self.full_stroke, cylinders)


def _for_both(value: Any) -> Any:
    """Take one time for commands after reads and after writes alike."""
    return value if isinstance(value, dict) else {"after_read": value, "after_write": value}


class OverheadTimes(StrictModel):
    """Time over a command by what the command before it was."""

    after_read: Picoseconds
    after_write: Picoseconds

    def drive(self) -> Overhead:
        """Return it as the drive takes it."""
        return Overhead(self.after_read, self.after_write)


_ByBefore = Annotated[OverheadTimes, BeforeValidator(_for_both)]


def _for_all(value: Any) -> Any:
    """Take one time for all commands."""
    return value if isinstance(value, dict) else dict.fromkeys(Overheads.model_fields, value)


class Overheads(StrictModel):
    """Time over a command by what it asks for."""

    read_hit: _ByBefore = Field(description="The buffer has the blocks")
    read_miss: _ByBefore
    write_hit: _ByBefore = Field(description="The buffer takes the blocks")
    write_miss: _ByBefore = Field(description="The command ends with the blocks on the medium")


class DiskFile(Section):
    """A disk. ``source`` says where the numbers come from, ``sources`` where single ones do."""

    schema_version: Literal[1]
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
    description: str
    kind: Literal["disk"]
    rpm: PositiveCount
    heads: PositiveCount
    cylinders: PositiveCount
    blocks: PositiveCount = Field(description="Capacity in blocks of 512 B")
    reserved_blocks: Count = Field(0, description="Room behind the last block that the drive keeps to itself")
    spare_range_cylinders: PositiveCount | None = Field(None, description="Cylinders that share spares; default: a zone's")
    serpentine: StrictBool = Field(False, description="Whether every other cylinder of a zone counts its heads down")
    unused_cylinders: list[Count] = Field([], description="Cylinders between zones that hold no blocks")
    zones: list[ZoneRow] = Field(min_length=1)
    seek: Annotated[SeekCurve | SeekFormula, Field(discriminator="model")]
    head_switch: Picoseconds
    write_settle: Picoseconds
    bus_per_block: Picoseconds
    overhead: Annotated[Overheads, BeforeValidator(_for_all)] = Field(description="Command processing; one time, or by kind")
    segments: Count
    segment_blocks: Count
    read_ahead_blocks: Count
    leaves_read_ahead: StrictBool = Field(description="Whether a read of a block to come in the read-ahead goes there if that is quicker")
    write_segments: Count = Field(description="Writes the buffer takes before they are on the medium; 0: write-through")
    zero_latency: StrictBool

    @model_validator(mode="after")
    def _zones_join(self) -> "DiskFile":
        unused = set(self.unused_cylinders)
        expected = 0
        for number, zone in enumerate(self.zones):
            while expected in unused:
                expected += 1
            first, last = zone.cylinders
            if first < expected:
                raise ValueError(f"zones.{number} begins with cylinder {first}, but the one before ends with {expected - 1}; zones overlap")
            if first > expected:
                raise ValueError(f"cylinders {expected} to {first - 1} are in no zone; close the gap or list them as unused_cylinders")
            expected = last + 1
        if expected != self.cylinders:
            raise ValueError(f"the zones end with cylinder {expected - 1}, but the last of {self.cylinders} is {self.cylinders - 1}")
        return self

    @model_validator(mode="after")
    def _capacity_closes(self) -> "DiskFile":
        held = sum(zone.blocks for zone in self._zones())
        if held != self.blocks + self.reserved_blocks:
            raise ValueError(
                f"the zones hold {held} blocks, but blocks + reserved_blocks is {self.blocks + self.reserved_blocks}; they must be the same"
            )
        return self

    @model_validator(mode="after")
    def _buffer_is_large_enough(self) -> "DiskFile":
        if self.read_ahead_blocks > (self.segment_blocks if self.segments else 0):
            raise ValueError("read_ahead_blocks is more than a segment holds; raise segments or segment_blocks")
        return self

    def facts(self) -> dict[str, Any]:
        """Return what the disk's times depend on: counts, and times in ps."""
        return self.model_dump(exclude={"schema_version", "description", "source", "sources"})

    def device(self) -> Disk:
        """Make the disk."""
        geometry = Geometry(self._zones(), self.heads, round(_MINUTE_PS / self.rpm), self.blocks, serpentine=self.serpentine)
        return Disk(
            geometry,
            Drive(
                seek_ps=self.seek.time(self.cylinders),
                head_switch_ps=self.head_switch,
                write_settle_ps=self.write_settle,
                bus_ps=self.bus_per_block,
                read_hit=self.overhead.read_hit.drive(),
                read_miss=self.overhead.read_miss.drive(),
                write_hit=self.overhead.write_hit.drive(),
                write_miss=self.overhead.write_miss.drive(),
                segments=self.segments,
                segment_blocks=self.segment_blocks,
                read_ahead_blocks=self.read_ahead_blocks,
                leaves_read_ahead=self.leaves_read_ahead,
                write_segments=self.write_segments,
                zero_latency=self.zero_latency,
            ),
        )

    def _zones(self) -> list[Zone]:
        """Lay the zones out: where each one's blocks begin."""
        rows = [(*self._room(row), row) for row in self.zones]
        firsts = accumulate((blocks for blocks, _, _ in rows), initial=0)
        return [
            Zone(
                block=first,
                blocks=blocks,
                cylinder=row.cylinders[0],
                cylinders=row.cylinders[1] - row.cylinders[0] + 1,
                sectors=row.sectors,
                track_skew=row.track_skew,
                cylinder_skew=row.cylinder_skew,
                empty=row.empty,
                spares=row.spares,
                range_blocks=range_blocks,
            )
            for first, (blocks, range_blocks, row) in zip(firsts, rows, strict=False)
        ]

    def _room(self, row: ZoneRow) -> tuple[int, int]:
        """Return the blocks of a zone, and those of a spare range in it."""
        cylinders = row.cylinders[1] - row.cylinders[0] + 1
        in_range = self.spare_range_cylinders or cylinders
        cylinder_sectors = self.heads * row.sectors
        blocks = cylinders * cylinder_sectors - row.empty - row.spares * (cylinders // in_range)
        return blocks, in_range * cylinder_sectors - row.spares
