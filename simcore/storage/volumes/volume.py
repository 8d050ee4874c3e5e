"""What a volume does: it maps its blocks to blocks of several devices. It has no time."""

from typing import NamedTuple, Protocol


class Part(NamedTuple):
    """The part of a request that one device serves."""

    disk: int
    """Which device, from 0."""
    block: int
    """First block on that device."""
    blocks: int


class Volume(Protocol):
    """Blocks numbered through over the devices of an array."""

    blocks: int
    """Capacity, in blocks."""
    disks: int
    """How many devices there are."""
    row_blocks: int
    """Blocks that all devices read at the same time: a track or a stripe unit of each."""

    def split(self, block: int, blocks: int) -> list[Part]:
        """Cut a request into the parts of its devices, in order of their first blocks in the volume."""
