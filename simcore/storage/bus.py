"""A bus that several devices share, such as one Ultra160 SCSI channel."""

from collections.abc import Hashable

from memwalk.simcore.storage.calendar import Calendar
from memwalk.simcore.storage.device import block_ps


class Bus:
    """Carries one block at a time, of whoever asks for it first.

    A device's own times include its transfer over an idle bus: one that is faster by itself moves no faster than the bus (see
    `System.devices`). What is added here is waiting while others transfer. What is read is claimed at its end, when it is known what
    the bus has carried meanwhile: it has gone over in what was left since it has come, but for the last block.
    """

    def __init__(self, bytes_per_second: int) -> None:
        """Make an idle bus. Raises ValueError if it has no bandwidth."""
        if bytes_per_second <= 0:
            raise ValueError(f"a bus of {bytes_per_second} bytes per second carries nothing; give its bandwidth, such as 160_000_000")
        self._block_ps = block_ps(bytes_per_second)
        self._taken = Calendar()
        self._reading: dict[Hashable, int] = {}  # who reads, and since when, in order of time

    def transfer_ps(self, blocks: int) -> int:
        """Return the time that ``blocks`` blocks take."""
        return blocks * self._block_ps

    def carry(self, now_ps: int, blocks: int) -> int:
        """Take the bus for ``blocks`` blocks as soon as it is free from now on; returns when it begins."""
        self._forget(now_ps)
        flow_ps = self.transfer_ps(blocks)
        return self._taken.take(now_ps, flow_ps) - flow_ps

    def read(self, who: Hashable, now_ps: int) -> None:
        """Note that somebody begins to read now, who will `bring` what he has read."""
        self._reading[who] = now_ps

    def bring(self, who: Hashable, now_ps: int, blocks: int, comes_ps: int) -> int:
        """Carry what somebody has read, of which blocks have come since ``comes_ps``; returns how long from now on that takes."""
        begin_ps = max(self._reading.pop(who), comes_ps)
        last_ps = max(begin_ps, now_ps - self.transfer_ps(1))
        flow_ps = self.transfer_ps(blocks)
        late_ps = self._taken.fill(begin_ps, last_ps, flow_ps - self.transfer_ps(1))
        end_ps = self._taken.take(last_ps, late_ps + self.transfer_ps(1))
        self._forget(now_ps)
        return end_ps - now_ps

    def _forget(self, now_ps: int) -> None:
        """Drop what nobody will ask about any more who reads or begins now."""
        self._taken.forget(next(iter(self._reading.values()), now_ps))
