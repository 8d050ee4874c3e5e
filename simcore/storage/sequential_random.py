"""The simplest device, a page that follows the one before or any other page, and its file."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field, field_validator, model_validator

from memwalk.simcore.storage.device import BLOCK_BYTES, Asked, Parts
from memwalk.simcore.storage.device_section import DeviceSection
from memwalk.simcore.units import Bytes, Picoseconds, PositiveCount

_BLOCKS_OF_32_BIT_NUMBERS = 2**32


@dataclass
class SequentialRandomDevice:
    """A device in two numbers: a block that follows the one served last, and any other block.

    This is the disk of the scan cost model (SEQIO and RDMIO in equations 1, 4 and 10); reads and writes cost the same.
    """

    blocks: int
    page_blocks: int
    """Blocks of the page that the two times are for."""
    sequential_ps: int
    """Time of a page that follows; other sizes cost in proportion."""
    positioning: int
    """What a page elsewhere costs more, in ps."""
    parts: Parts = field(default=Parts(), init=False)
    comes_ps: int = field(default=0, init=False)
    _next_block: int | None = field(default=None, init=False, repr=False)

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:  # noqa: ARG002 (both directions take the same)
        """Serve a run of blocks: the way to the first one unless it follows, then their transfer."""
        seek = self._way_ps(block)
        self._next_block = block + blocks
        self.parts = Parts(seek_ps=seek, transfer_ps=blocks * self.sequential_ps // self.page_blocks)
        self.comes_ps = start_ps + seek
        return self.comes_ps + self.parts.transfer_ps

    def positioning_ps(self, now_ps: int, request: Asked) -> int:  # noqa: ARG002 (at any time)
        """Return the way to a request: nothing if it follows the one served last."""
        return self._way_ps(request.block)

    def _way_ps(self, block: int) -> int:
        return 0 if block == self._next_block else self.positioning


class SequentialRandomFile(DeviceSection):
    """A device whose pages cost one of two times. ``source`` says where the numbers come from, ``sources`` where single ones do."""

    source: str
    kind: Literal["sequential-random"]
    blocks: PositiveCount = Field(
        _BLOCKS_OF_32_BIT_NUMBERS, description="Capacity in blocks of 512 bytes; what block numbers of 32 bits reach if absent"
    )
    page_bytes: Bytes = Field(description="Size of the pages that the two times are for")
    sequential_page: Picoseconds = Field(description="Time of a page that follows the one before")
    random_page: Picoseconds = Field(description="Time of any other page")

    @field_validator("page_bytes")
    @classmethod
    def _whole_blocks(cls, page_bytes: int) -> int:
        if page_bytes == 0 or page_bytes % BLOCK_BYTES:
            raise ValueError(f"{page_bytes} bytes are no whole number of blocks of {BLOCK_BYTES} bytes; write for example 8KiB")
        return page_bytes

    @model_validator(mode="after")
    def _ordered(self) -> "SequentialRandomFile":
        if not 0 < self.sequential_page <= self.random_page:
            raise ValueError("a random page takes no less time than a sequential one, and both take some; exchange or correct them")
        return self

    def device(self) -> SequentialRandomDevice:
        """Make the device: transfers grow with the blocks of a request, the way to it does not."""
        positioning = self.random_page - self.sequential_page
        return SequentialRandomDevice(self.blocks, self.page_bytes // BLOCK_BYTES, self.sequential_page, positioning)
