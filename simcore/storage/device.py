"""What a storage device does, and what is said of its requests."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from memwalk.simcore.units import PS_PER_SECOND

BLOCK_BYTES = 512
"""Size of a logical block: what devices number (LBN), move and bound requests by."""

MOST_DEVICES = 1024
"""Devices of one simulation or trace: every device takes memory, and more are a mistake."""


def block_ps(bytes_per_second: int) -> int:
    """Return how long a channel, link or bus of so many bytes per second takes for a block, to the picosecond below."""
    return BLOCK_BYTES * PS_PER_SECOND // bytes_per_second


def expect_blocks(block: int, blocks: int, capacity: int, of: str) -> None:
    """Raise ValueError for a request that is of no blocks, or not all in ``of``, say "a disk", of so many blocks."""
    if not 0 <= block < block + blocks <= capacity:
        raise ValueError(f"blocks {block} to {block + blocks - 1} are not all in {of} of {capacity} blocks")


class Run(NamedTuple):
    """Consecutive blocks, of a device or of a volume."""

    block: int
    """The first one."""
    blocks: int


class Parts(NamedTuple):
    """Where the time of one request went, in ps; the parts sum to the time from its start to its end."""

    overhead_ps: int = 0
    """Command processing."""
    seek_ps: int = 0
    """Moving the arm or the sled, settling, switching heads."""
    rotation_ps: int = 0
    """Waiting for the first block to come by, or for a MEMStore's sled to turn."""
    transfer_ps: int = 0
    """Blocks passing the heads, track switches between them included; flash arrays reading or programming."""
    bus_ps: int = 0
    """Moving over the bus what did not overlap with the parts before."""


PARTS = ("queue_ps", *Parts._fields)
"""Where the response time of a request goes, in this order: the wait in the queue comes before the `Parts`."""
PART_NAMES = tuple(name.removesuffix("_ps") for name in PARTS)
"""The same, as columns of results name them before their unit."""


class Asked(Protocol):
    """What a queue says of a request when it asks a device about it."""

    @property
    def arrival_ps(self) -> int:
        """Return when it came."""

    @property
    def block(self) -> int:
        """Return the first block."""

    @property
    def blocks(self) -> int:
        """Return how many blocks it moves."""

    @property
    def write(self) -> bool:
        """Return whether the request writes."""


class StorageDevice(Protocol):
    """Serves requests in the order in which they come, and remembers between them where it stands.

    Plain objects: nothing here knows SimPy, so a device can be tested and timed alone. Blocks have `BLOCK_BYTES`; times are
    whole picoseconds and never decrease from one request to the next.
    """

    blocks: int
    """Capacity."""
    parts: Parts
    """The parts of the request that was served last."""

    @property
    def comes_ps(self) -> int:
        """Return since when blocks of the read that was served last have come, in ps: from then on they flow over a bus that is free."""

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:
        """Serve ``blocks`` blocks from number ``block`` on, started at ``start_ps``; returns when that is done, in ps."""

    def positioning_ps(self, now_ps: int, request: Asked) -> int:
        """Estimate the time from ``now_ps`` until a request could begin to move: what shortest-positioning-time-first sorts by."""


@runtime_checkable
class BatchDevice(StorageDevice, Protocol):
    """A device that can move blocks at the same time that do not follow each other."""

    def serve_batch(self, start_ps: int, runs: Sequence[Run], *, write: bool) -> int:
        """Serve runs of blocks as one request, started at ``start_ps``; returns when that is done, in ps."""


@runtime_checkable
class AnticipatingDevice(StorageDevice, Protocol):
    """A device that takes the command of a request that waits, and moves for it as soon as the medium is done with the one before."""

    def expect(self, arrival_ps: int) -> None:
        """Say when the request came that is served next; one of which nothing is said comes when it starts."""


def positioning_bounds(device: StorageDevice, now_ps: int, requests: Sequence[Asked]) -> Sequence[int]:
    """Return times that ``positioning_ps`` of the requests never falls below: of the device's method of this name, or 0 without one."""
    bounds: Callable[[int, Sequence[Asked]], Sequence[int]] | None = getattr(device, "positioning_bounds", None)
    return bounds(now_ps, requests) if bounds else [0] * len(requests)


def queue_depth(device: StorageDevice) -> int:
    """Return how many requests a device takes at once: its attribute ``queue_depth``, or one if it has none."""
    return getattr(device, "queue_depth", 1)
