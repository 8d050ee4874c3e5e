"""A bus that several devices share, such as one Ultra160 SCSI channel."""

from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.units import PS_PER_SECOND


class Bus:
    """Carries one transfer at a time, in the order in which devices ask for it.

    A device's own times include its transfer over an idle bus. What is added here is waiting while others transfer.
    """

    def __init__(self, bytes_per_second: int) -> None:
        """Make an idle bus. Raises ValueError if it has no bandwidth."""
        if bytes_per_second <= 0:
            raise ValueError(f"a bus of {bytes_per_second} bytes per second carries nothing; give its bandwidth, such as 160_000_000")
        self.bytes_per_second = bytes_per_second
        self._free_ps = 0

    def transfer_ps(self, blocks: int) -> int:
        """Return the time that ``blocks`` blocks take, to the picosecond below."""
        return blocks * BLOCK_BYTES * PS_PER_SECOND // self.bytes_per_second

    def carry(self, earliest_ps: int, blocks: int) -> int:
        """Take the bus for ``blocks`` blocks, from ``earliest_ps`` or when it is free; returns when it begins."""
        begin = max(earliest_ps, self._free_ps)
        self._free_ps = begin + self.transfer_ps(blocks)
        return begin
