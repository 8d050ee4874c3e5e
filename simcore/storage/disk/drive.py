"""The parameters of a disk drive besides its geometry."""

from dataclasses import dataclass
from typing import NamedTuple

from memwalk.simcore.storage.disk.seek import SeekTime


class Overhead(NamedTuple):
    """Time in ps that the drive takes over a command, by what the command before it was."""

    after_read: int
    after_write: int


@dataclass(frozen=True, slots=True)
class Drive:
    """What a drive's times depend on; times in ps."""

    seek_ps: SeekTime
    head_switch_ps: int
    write_settle_ps: int
    """What a write waits longer than a read once the arm moved or the heads were switched to reach its first block. Inside a
    request nothing settles, also where the skews would leave no time for it."""
    bus_ps: int
    """Time of a block on the bus."""
    read_hit: Overhead
    read_miss: Overhead
    write_hit: Overhead
    """Of writes that the buffer takes."""
    write_miss: Overhead
    """Of writes that end on the medium."""
    segments: int
    """Runs of blocks that the buffer holds for reads; 0: it holds none."""
    segment_blocks: int
    read_ahead_blocks: int
    """Blocks behind a read that the drive goes on to read until a command needs the arm."""
    leaves_read_ahead: bool
    """Whether a read of a block that reading ahead would come to goes there at once where that is quicker; else it always waits."""
    write_segments: int
    """Writes that the buffer holds until they are on the medium; 0: a write ends on the medium."""
    zero_latency: bool
    """Whether a request within a track may take its blocks in the order in which they come by."""

    def reach_ps(self, cylinders: int, *, other_head: bool, write: bool) -> int:
        """Return the time to reach a track so many cylinders away: the longer of seek and head switch; a write settles then."""
        moved = self.seek_ps(cylinders) if cylinders else 0
        if other_head and moved < self.head_switch_ps:
            moved = self.head_switch_ps
        return moved + self.write_settle_ps if write and moved else moved
