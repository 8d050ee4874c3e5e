"""The DBMS profile as pydantic models: the keys of ``simcore/src/profile.rs``, with units and sources."""

from typing import Literal

from pydantic import Field

from memwalk.simcore.section import Section
from memwalk.simcore.units import Bytes, Count32, Cycles, PositiveCount32


class Routine(Section):
    """Code that runs whenever it is called. Keys left out take the profile's, or the simulator's, defaults."""

    instructions: PositiveCount32
    code_bytes: Bytes = Field(description="Code that a run fetches, each line once")
    mispredicts_per_1000: Count32 = Field(description="Branches predicted wrongly in a thousand instructions")
    dependent_per_1000: Count32 = Field(description="Instructions in a thousand that cannot run in the cycle of the one before")
    data_bytes: Bytes | None = Field(None, description="Private data that a run reads, always the same; default: none")


class ClockTick(Section):
    """The interrupt of the system clock."""

    period_cycles: Cycles = Field(description="From one interrupt to the next")
    routine: Routine


class Dbms(Section):
    """A host DBMS as part of a machine."""

    name: str
    calls: dict[str, Routine] = Field(description="The routine behind each call of a kernel, by the call's name")
    clock_tick: ClockTick | None = Field(None, description="Default: none")


class DbmsFile(Dbms):
    """A DBMS profile in a file of its own. Every number in it needs a source."""

    schema_version: Literal[1] = Field(exclude=True)
    description: str = Field(exclude=True)
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
