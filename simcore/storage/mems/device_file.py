"""Device files of MEMStores."""

from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from memwalk.simcore.storage.device import block_ps
from memwalk.simcore.storage.device_section import DeviceSection
from memwalk.simcore.storage.mems.geometry import MemsGeometry
from memwalk.simcore.storage.mems.model import Electronics, Memstore
from memwalk.simcore.storage.mems.sled import Sled, settle_ps
from memwalk.simcore.units import (
    Acceleration,
    BitsPerSecond,
    BytesPerSecond,
    Hertz,
    Nanometres,
    Picoseconds,
    PositiveCount,
    Real,
)

_LEAST_ACCELERATION = 1e-3
"""Metres per second squared; a sled with less takes minutes to turn."""
_LEAST_SPRING_FACTOR = 1e-6
"""Below that a sled's swing is so wide that its angles cannot be told apart."""


class MemstoreFile(DeviceSection):
    """A MEMStore. ``source`` says where the numbers come from, ``sources`` where single ones do."""

    kind: Literal["memstore"]
    sled_travel: Nanometres = Field(gt=0, description="Way of the sled from end to end, in X and in Y")
    bit_cell: Nanometres = Field(gt=0, description="Distance of bits, in X and in Y")
    tips: PositiveCount = Field(description="Probe tips")
    active_tips: PositiveCount = Field(description="Tips that can read or write at the same time")
    tips_per_block: PositiveCount = Field(description="Tips over which a block of 512 bytes is spread")
    sector_bits: PositiveCount = Field(description="Bits of a block under one tip, error correction included")
    servo_bits: PositiveCount = Field(description="Bits before and behind them that tell a tip where it is")
    access_rate: BitsPerSecond = Field(gt=0, description="Bits that pass a tip in a second")
    bidirectional: bool = Field(description="Whether tips can be used in both directions of Y")
    acceleration: Acceleration = Field(ge=_LEAST_ACCELERATION, description="Of the actuators, in X and in Y")
    spring_factor: Real = Field(ge=0, lt=1, description="Acceleration of the springs at the end of the travel, by that of the actuators")
    resonance: Hertz = Field(gt=0, description="Resonant frequency of the sled in X")
    settle_time_constants: Real = Field(
        ge=0, le=100, description="Time constants of that resonance that pass before the sled has settled in X"
    )
    command_overhead: Picoseconds = Field(description="Taking a command, unless it waits for another")
    bus: BytesPerSecond = Field(gt=0, description="Bandwidth of the bus")
    idle: Picoseconds = Field(description="Without a request for so long, the sled parks in the middle")
    startup: Picoseconds = Field(description="Starting a parked sled")

    @field_validator("spring_factor")
    @classmethod
    def _swings(cls, spring_factor: float) -> float:
        if 0 < spring_factor < _LEAST_SPRING_FACTOR:
            raise ValueError(f"`{spring_factor}` is too small; write 0 for no springs, or at least {_LEAST_SPRING_FACTOR}")
        return spring_factor

    @field_validator("active_tips")
    @classmethod
    def _whole_groups(cls, active_tips: int, info: ValidationInfo) -> int:
        tips = info.data.get("tips", active_tips)
        if tips % active_tips:
            raise ValueError(f"{tips} tips are no whole number of groups of {active_tips}; `tips` is a multiple of `active_tips`")
        return active_tips

    @field_validator("tips_per_block")
    @classmethod
    def _whole_blocks(cls, tips_per_block: int, info: ValidationInfo) -> int:
        active_tips = info.data.get("active_tips", tips_per_block)
        if active_tips % tips_per_block:
            raise ValueError(
                f"{active_tips} active tips move no whole number of blocks of {tips_per_block}; `active_tips` is a multiple of them"
            )
        return tips_per_block

    @model_validator(mode="after")
    def _holds_a_row(self) -> "MemstoreFile":
        row = self.servo_bits + self.sector_bits + self.servo_bits
        if self._bits < row:
            raise ValueError(f"a travel of {self._bits} bits holds no row of {row}, servo bits included; lengthen `sled_travel`")
        return self

    @property
    def _bits(self) -> int:
        return self.sled_travel // self.bit_cell

    def on_bus(self, bytes_per_second: int) -> Self:
        """See `DeviceSection.on_bus`."""
        return self.model_copy(update={"bus": min(self.bus, bytes_per_second)})

    def geometry(self) -> MemsGeometry:
        """Lay the blocks out: as many cylinders as bits fit into the travel, and as many whole rows."""
        return MemsGeometry(
            cylinders=self._bits,
            tracks=self.tips // self.active_tips,
            rows=(self._bits - self.servo_bits) // (self.servo_bits + self.sector_bits),
            cells=self.active_tips // self.tips_per_block,
            bit_nm=self.bit_cell,
            servo_bits=self.servo_bits,
            sector_bits=self.sector_bits,
        )

    def device(self) -> Memstore:
        """Make the device, its sled parked."""
        sled = Sled(
            travel_nm=self.sled_travel,
            acceleration=self.acceleration,
            spring_factor=self.spring_factor,
            velocity_nm_s=self.access_rate * self.bit_cell,
            settle_ps=settle_ps(self.settle_time_constants, self.resonance),
        )
        electronics = Electronics(
            overhead_ps=self.command_overhead,
            bus_ps=block_ps(self.bus),
            idle_ps=self.idle,
            startup_ps=self.startup,
            bidirectional=self.bidirectional,
        )
        return Memstore(self.geometry(), sled, electronics)
