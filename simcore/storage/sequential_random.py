"""The file of the simplest device: what a page costs that follows the one before, and any other page."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from simcore.storage.device import BLOCK_BYTES, SequentialRandomDevice
from simcore.units import Bytes, Picoseconds, PositiveCount
from simcore.validation import StrictModel

_BLOCKS_OF_32_BIT_NUMBERS = 2**32


class SequentialRandomFile(StrictModel):
    """A device whose pages cost one of two times. ``source`` says where the numbers come from."""

    schema_version: Literal[1]
    name: str = Field("", description="The file's name without .yaml (and nothing else)")
    description: str
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

    def facts(self) -> dict[str, Any]:
        """Return what the device's times depend on, as plain numbers (blocks, bytes and picoseconds)."""
        return self.model_dump(include={"kind", "blocks", "page_bytes", "sequential_page", "random_page"})

    def device(self) -> SequentialRandomDevice:
        """Make the device: transfers grow with the blocks of a request, the way to it does not."""
        positioning = self.random_page - self.sequential_page
        return SequentialRandomDevice(self.blocks, self.page_bytes // BLOCK_BYTES, self.sequential_page, positioning)
