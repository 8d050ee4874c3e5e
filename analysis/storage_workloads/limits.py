"""The most that storage workloads may ask for: more would take days or memory that no host has, and stands for nothing that exists."""

from typing import Annotated, TypeAlias

from pydantic import Field

from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.units import PS_PER_SECOND, Bytes, Count, PositiveCount, Real
from memwalk.workloads.tables.page import PAGE_8K

_MOST_TIMES = 100_000_000
"""An hour of simulation and more."""
LONGEST_PS = 7 * 86_400 * PS_PER_SECOND
"""A week of simulated time."""
_MOST_AT_ONCE = 65_536
"""Commands in a queue of NVMe."""
_MOST_BLOCKS = 65_536
"""Blocks of a command of SATA and NVMe: 32 MiB."""
_MOST_POOL_BYTES = 64 << 30
"""Frames are kept one by one, of which these are eight million."""
_MOST_ATTRIBUTES = 512
"""As many as relations in memory may have."""

Times: TypeAlias = Annotated[PositiveCount, Field(le=_MOST_TIMES)]
"""Requests, records or queries that are served one by one."""
TimesOrNone: TypeAlias = Annotated[Count, Field(le=_MOST_TIMES)]
"""The same, or none."""
AtOnce: TypeAlias = Annotated[PositiveCount, Field(le=_MOST_AT_ONCE)]
"""Requests or clients at the same time."""
RunsAhead: TypeAlias = Annotated[PositiveCount, Field(le=1024)]
"""Runs of pages that are on their way at once; each is a track of a disk at least."""
Pool: TypeAlias = Annotated[Bytes, Field(ge=PAGE_8K.bytes, le=_MOST_POOL_BYTES)]
"""Memory for pages of 8 KiB, one at least."""
CommandBlocks: TypeAlias = Annotated[PositiveCount, Field(le=_MOST_BLOCKS)]
"""Blocks of a request."""
CommandBytes: TypeAlias = Annotated[Bytes, Field(le=_MOST_BLOCKS * BLOCK_BYTES)]
"""Bytes of a request, or of a page."""
Attributes: TypeAlias = Annotated[PositiveCount, Field(le=_MOST_ATTRIBUTES)]
"""Attributes of a relation."""
ValueBytes: TypeAlias = Annotated[Bytes, Field(gt=0, le=_MOST_BLOCKS * BLOCK_BYTES)]
"""Bytes of a value."""
Records: TypeAlias = Annotated[PositiveCount, Field(le=10**13, description="Records of the table")]
"""Records of a relation, which are only counted: the volume has room for them or has not."""
ScaleFactor: TypeAlias = Annotated[Real, Field(ge=0.001, le=1_000_000)]
"""Size of TPC-H; 1 is 1 GB. With the least every table has records; the most is a petabyte."""
SampleScaleFactor: TypeAlias = Annotated[Real, Field(ge=0.001, le=4)]
"""The same for what the processor is simulated on: as the kernel ``tpch`` takes it."""
Seed: TypeAlias = Annotated[Count, Field(description="Seed of all random choices")]
"""Any number: each gives other choices."""
