"""Reading ahead: the blocks behind a read go on passing the head until a command needs the arm."""

from memwalk.simcore.storage.disk.arm import Pass
from memwalk.simcore.storage.disk.geometry import Geometry


class DriveReadAhead:
    """The stream that a read leaves behind; it ends with its window, or with the zone.

    The window is what the drive means to read. A read of a block in it moves the window on, unless the stream has come to its end.
    """

    def __init__(self, geometry: Geometry, window: int) -> None:
        """Read nothing yet; ``window`` counts blocks."""
        self.geometry = geometry
        self.window = window
        self.block = 0
        self.end = 0
        """Blocks from ``block`` to ``end`` have been read or are to be read; none if there is no stream."""
        self._read = Pass(0, 0, geometry.zones[0], 0, 0, 0, 0, 0)
        self._read_end = 0
        self._since_ps = 0  # when the stream left the position of the read

    def follow(self, read: Pass, block: int, end: int) -> None:
        """Go on behind the blocks from ``block`` to ``end``, the last of which passed with ``read``."""
        self._read = read
        self._read_end = end
        self._since_ps = read.end_ps + (read.position_ps - read.end_ps) % self.geometry.rotation_ps
        self.block = block
        self.end = min(end + self.window, read.zone.block + read.zone.blocks)

    def extend(self, end: int) -> None:
        """Move the window on to begin with ``end``."""
        zone = self._read.zone
        self.end = max(self.end, min(end + self.window, zone.block + zone.blocks))

    def passes_ps(self, block: int) -> int:
        """Return when the stream comes to ``block``, or came to it; for blocks of the read itself, when that was over."""
        if block < self._read_end:
            return self._read.end_ps
        place = self.geometry.locate(block)
        return self._since_ps + self.geometry.time_ps(place.zone, place.position) - self._read.position_ps

    def reached(self, now_ps: int) -> int:
        """Return the end of what has been read by ``now_ps``."""
        elapsed_ps = now_ps - self._since_ps
        if elapsed_ps <= 0:
            return self._read_end
        read = self._read
        position = (read.position_ps + elapsed_ps) * read.zone.sectors // self.geometry.rotation_ps
        ahead = position - read.position
        reached = self._read_end + ahead if ahead <= read.left else self.geometry.reached(read.zone, position)
        return min(reached, self.end)

    def track(self, block: int) -> tuple[int, int]:
        """Return the cylinder and the head of the track on which a stream is that has come to ``block``."""
        read = self._read
        if block - self._read_end <= read.left:
            return read.cylinder, read.head
        place = self.geometry.locate(block - 1)
        return place.cylinder, place.head

    def stop(self) -> None:
        """End the stream."""
        self.block = self.end = 0
