"""The sections of a disk's device file: zones, seek times, overheads."""

from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StrictBool, model_validator

from memwalk.simcore.storage.disk import seek
from memwalk.simcore.storage.disk.drive import Overhead
from memwalk.simcore.units import Count, Picoseconds, PositiveCount
from memwalk.simcore.validation import StrictModel, mistake_at

_LEAST_MEASURED = 0.5
"""A measured seek takes at least this part of the longest one over fewer cylinders. The deepest fall in DiskSim 4.0's curves is to
0.71 of it (Atlas 10K); what falls to less than half is a slip of the unit or of a digit."""


class ZoneRow(StrictModel):
    """A zone: its cylinders; in sectors, its tracks, their skews, and what holds no blocks."""

    cylinders: tuple[Count, Count] = Field(description="First and last cylinder")
    sectors: PositiveCount = Field(description="Sectors per track")
    track_skew: Count = Field(description="Sectors that pass while heads are switched")
    cylinder_skew: Count = Field(description="Sectors that pass on the way to the next cylinder")
    spares: Count = Field(0, description="Sectors without blocks at the end of the zone, or of each spare range")
    empty: Count = Field(0, description="Sectors without blocks at the zone's start")

    @model_validator(mode="after")
    def _possible(self) -> "ZoneRow":
        first, last = self.cylinders
        if last < first:
            raise mistake_at(("cylinders",), f"the last cylinder {last} comes before the first one {first}; exchange them")
        for skew in ("track_skew", "cylinder_skew"):
            if getattr(self, skew) >= self.sectors:
                raise mistake_at((skew,), f"a track has {self.sectors} sectors; a skew is shorter than a track")
        return self

    def count(self) -> int:
        """Return the number of cylinders."""
        return self.cylinders[1] - self.cylinders[0] + 1


class SeekCurve(StrictModel):
    """Seek times at single distances, with straight lines between."""

    model: Literal["points"]
    measured: StrictBool = Field(
        False, description="Whether the points are a drive's own, noise and all: then times may fall here and there, but not by half"
    )
    points: list[tuple[PositiveCount, Picoseconds]] = Field(min_length=2, description="Distance in cylinders, from 1 on, and time")

    @model_validator(mode="after")
    def _rises(self) -> "SeekCurve":
        if self.points[0][0] != 1:
            raise mistake_at(("points", 0), "the curve starts elsewhere; begin with distance 1")
        longest = 0
        for number, ((near, soon), (far, late)) in enumerate(pairwise(self.points), start=1):
            longest = max(longest, soon)
            if far <= near:
                raise mistake_at(("points", number), f"distance {far} comes after {near}; put points in order of distance")
            if late < soon and not self.measured:
                raise mistake_at(
                    ("points", number),
                    f"a seek over {far} cylinders takes less time than one over {near}; a seek curve never falls: "
                    "correct it, or say `measured: true` if a drive gave it",
                )
            if late < _LEAST_MEASURED * longest:
                raise mistake_at(
                    ("points", number),
                    f"a seek over {far} cylinders takes less than half the time of one over fewer; no drive is that uneven: correct it",
                )
        return self

    def times(self, cylinders: int) -> seek.SeekTime:
        """Make the curve of a disk of so many cylinders. Raises ValueError for points beyond them."""
        if self.points[-1][0] >= cylinders:
            raise ValueError(f"no seek of {cylinders} cylinders is as long as {self.points[-1][0]}; drop such points")
        return seek.curve(self.points)


class SeekFormula(StrictModel):
    """Seek times from the three of a data sheet; `seek.formula` makes them a curve."""

    model: Literal["formula"]
    track_to_track: Picoseconds
    average: Picoseconds
    full_stroke: Picoseconds

    def times(self, cylinders: int) -> seek.SeekTime:
        """Make the curve of a disk of so many cylinders. Raises ValueError if it would fall."""
        return seek.formula(self.track_to_track, self.average, self.full_stroke, cylinders)


def _by_command_before(value: Any) -> Any:
    return value if isinstance(value, dict) else {"after_read": value, "after_write": value}


class OverheadTimes(StrictModel):
    """Time over a command by what the command before it was."""

    after_read: Picoseconds
    after_write: Picoseconds

    def times(self) -> Overhead:
        """Return it as the drive takes it."""
        return Overhead(self.after_read, self.after_write)


_ByCommandBefore: TypeAlias = Annotated[
    OverheadTimes, BeforeValidator(_by_command_before, json_schema_input_type=OverheadTimes | Picoseconds)
]
"""One time may stand for both."""


class Overheads(StrictModel):
    """Time over a command by what it asks for."""

    read_hit: _ByCommandBefore = Field(description="A read of blocks in the buffer")
    read_miss: _ByCommandBefore = Field(description="Any other read")
    write_hit: _ByCommandBefore = Field(description="A write that the buffer takes")
    write_miss: _ByCommandBefore = Field(description="A write that ends on the medium")


def _by_command(value: Any) -> Any:
    return value if isinstance(value, dict) else dict.fromkeys(Overheads.model_fields, value)


ByCommand: TypeAlias = Annotated[Overheads, BeforeValidator(_by_command, json_schema_input_type=Overheads | Picoseconds)]
"""One time may stand for all commands."""
