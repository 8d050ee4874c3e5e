"""Device files of solid-state drives."""

from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator

from memwalk.simcore.storage.device import BLOCK_BYTES, block_ps
from memwalk.simcore.storage.device_section import DeviceSection
from memwalk.simcore.storage.ssd.model import Flash, Ssd
from memwalk.simcore.units import Bytes, BytesPerSecond, Picoseconds, PositiveCount

_MOST = 64
"""Channels, dies on one, planes of one: several times what drives have. The model keeps every plane."""

_MOST_REQUESTS = 1 << 16
"""The longest queue of NVMe. Every request that may be served at once is a process of the simulation."""


class SsdFile(DeviceSection):
    """A solid-state drive. ``source`` says where the numbers come from, ``sources`` where single ones do."""

    kind: Literal["ssd"]
    blocks: PositiveCount = Field(description="Capacity in blocks of 512 bytes")
    channels: PositiveCount = Field(le=_MOST)
    dies: PositiveCount = Field(le=_MOST, description="Per channel")
    planes: PositiveCount = Field(le=_MOST, description="Per die; each reads and programs on its own")
    page: Bytes = Field(gt=0, description="Flash page")
    erase_pages: PositiveCount = Field(description="Pages that are erased together")
    page_read: Picoseconds = Field(description="From a page into its plane's register")
    page_program: Picoseconds = Field(description="From the register into a page")
    erase: Picoseconds
    channel: BytesPerSecond = Field(gt=0, description="Bandwidth of a channel")
    link: BytesPerSecond = Field(gt=0, description="Bandwidth to the host")
    command_overhead: Picoseconds = Field(description="Of every command, in the host's driver and the drive's controller")
    command_interval: Picoseconds = Field(description="Least time between commands")
    write_buffer: Bytes = Field(description="Written data that waits to be programmed and survives a loss of power")
    queue_depth: PositiveCount = Field(le=_MOST_REQUESTS, description="Requests that the drive takes at once")

    @field_validator("page")
    @classmethod
    def _whole_blocks(cls, page: int) -> int:
        if page % BLOCK_BYTES:
            raise ValueError(f"{page} bytes are no whole number of blocks of {BLOCK_BYTES} bytes; write for example 16KiB")
        return page

    @field_validator("write_buffer")
    @classmethod
    def _room_for_two_pages(cls, write_buffer: int, info: ValidationInfo) -> int:
        page = info.data.get("page", 0)
        if write_buffer < 2 * page:
            raise ValueError(f"{write_buffer} bytes do not hold a page that is filled and one that is programmed, of {page} bytes each")
        return write_buffer

    def on_bus(self, bytes_per_second: int) -> Self:
        """See `DeviceSection.on_bus`."""
        return self.model_copy(update={"link": min(self.link, bytes_per_second)})

    def device(self) -> Ssd:
        """Make the drive, idle."""
        return Ssd(
            Flash(
                blocks=self.blocks,
                channels=self.channels,
                dies=self.dies,
                planes=self.planes,
                page_blocks=self.page // BLOCK_BYTES,
                erase_pages=self.erase_pages,
                read_ps=self.page_read,
                program_ps=self.page_program,
                erase_ps=self.erase,
                channel_ps=block_ps(self.channel),
                link_ps=block_ps(self.link),
                overhead_ps=self.command_overhead,
                command_interval_ps=self.command_interval,
                buffer_blocks=self.write_buffer // BLOCK_BYTES,
                queue_depth=self.queue_depth,
            )
        )
