"""Atropos: an array whose blocks are efficient to access in two dimensions (Clotho, sections 5.1 to 5.3).

Stripe units are whole tracks, so that consecutive blocks move at the full rate of the disks. A *quadrangle* is as many adjacent
tracks of one disk as the array is deep. Its tracks are rotated against each other just so far that when a block of one has been
read, the block in the same column of the next comes by as soon as the disk can be ready for it: *semi-sequential* access.
"""

from typing import NamedTuple

from memwalk.simcore.storage.device import Run, expect_blocks
from memwalk.simcore.storage.disk import Disk, Geometry
from memwalk.simcore.storage.volumes.volume import Part

_ROUNDING_PS = 2
"""The times at which blocks come by are rounded to whole picoseconds, twice."""


class Step(NamedTuple):
    """From the end of a block until the disk is ready for one on the next track, in ps: command, head switch, settling."""

    head_ps: int
    """To the next track of the cylinder."""
    cylinder_ps: int
    """To the first track of the next cylinder."""


def read_step(disk: Disk) -> Step:
    """Return the step between reads of one block each: the block's way over the bus, the next command, the way to its track."""
    drive = disk.drive
    command_ps = drive.bus_ps + drive.read_miss.after_read
    return Step(command_ps + drive.head_switch_ps, command_ps + max(drive.head_switch_ps, drive.seek_ps(1)))


def write_step(disk: Disk) -> Step:
    """Return the step between writes to the medium: the next command, the way to its track, settling."""
    drive = disk.drive
    command_ps = drive.write_miss.after_write + drive.write_settle_ps
    return Step(command_ps + drive.head_switch_ps, command_ps + max(drive.head_switch_ps, drive.seek_ps(1)))


class AtroposVolume:
    """Rows of one stripe unit per disk; ``depth`` rows make one quadrangle on each disk.

    The blocks of a column are ``row_blocks`` apart. From one row of quadrangles to the next, a column moves on by one disk, so
    that a column longer than the quadrangles are deep is read from several disks at the same time. Only the outermost zone is used.
    """

    def __init__(self, geometry: Geometry, disks: int, depth: int, step: Step) -> None:
        """Lay the volume out over disks that are alike.

        Raises ValueError if the zone has no quadrangle that deep, or keeps spare sectors among its blocks: they would be in the way
        of blocks that come by at regular times.
        """
        zone = geometry.zones[0]
        tracks = zone.blocks // zone.sectors
        if zone.spares or zone.empty:
            raise ValueError("the outermost zone has spare sectors; Atropos needs tracks that hold nothing but blocks")
        if disks < 1 or not 1 <= depth <= tracks:
            raise ValueError(f"{disks} disks of {tracks} tracks have no quadrangles of {depth} tracks; give 1 disk and 1 track at least")
        self.disks = disks
        self.depth = depth
        self.track_blocks = zone.sectors
        self.row_blocks = disks * zone.sectors
        self.blocks = tracks // depth * depth * self.row_blocks
        self._heads = geometry.heads
        self._first_block = zone.block
        self._head_shift = _sectors(step.head_ps, geometry.rotation_ps, zone.sectors) - zone.track_skew
        self._cylinder_shift = _sectors(step.cylinder_ps, geometry.rotation_ps, zone.sectors) - zone.cylinder_skew

    def split(self, block: int, blocks: int) -> list[Part]:
        """Cut a request into the parts of its disks; what follows on a disk is one part, and so is a whole track.

        Raises ValueError for blocks that the volume does not have.
        """
        expect_blocks(block, blocks, self.blocks, "a volume")
        parts: list[Part] = []
        latest: dict[int, int] = {}
        end = block + blocks
        while block < end:
            unit_end = min(end, (block // self.track_blocks + 1) * self.track_blocks)
            for part in self._unit_parts(block, unit_end - block):
                before = latest.get(part.disk)
                if before is not None and parts[before].block + parts[before].blocks == part.block:
                    parts[before] = parts[before]._replace(blocks=parts[before].blocks + part.blocks)
                else:
                    latest[part.disk] = len(parts)
                    parts.append(part)
            block = unit_end
        return parts

    def track(self, lbn: int) -> Run:
        """Return the blocks of the volume that share a track with ``lbn``: the unit of sequential access."""
        return Run(lbn - lbn % self.track_blocks, self.track_blocks)

    def semi_sequential(self, lbn: int, count: int) -> list[int]:
        """Return ``count`` blocks of the column of ``lbn``, from there on in order of access.

        Raises ValueError if the column ends before.
        """
        column = list(range(lbn, lbn + count * self.row_blocks, self.row_blocks))
        if column and not 0 <= lbn <= column[-1] < self.blocks:
            raise ValueError(f"the column of block {lbn} has no {count} blocks in a volume of {self.blocks} blocks")
        return column

    def _unit_parts(self, block: int, blocks: int) -> list[Part]:
        """Map blocks of one stripe unit: one part, or two if they run over the end of the track that is rotated."""
        row, unit_offset = divmod(block, self.row_blocks)
        unit, column = divmod(unit_offset, self.track_blocks)
        quadrangle, depth = divmod(row, self.depth)
        disk = (unit + quadrangle) % self.disks
        track_block = self._first_block + row * self.track_blocks
        if blocks == self.track_blocks:
            return [Part(disk, track_block, blocks)]
        sector = (column + self._rotation(quadrangle, depth)) % self.track_blocks
        to_end = self.track_blocks - sector
        if blocks <= to_end:
            return [Part(disk, track_block + sector, blocks)]
        return [Part(disk, track_block + sector, to_end), Part(disk, track_block, blocks - to_end)]

    def _rotation(self, quadrangle: int, depth: int) -> int:
        """Return by how many sectors a track of a quadrangle is rotated against its first one."""
        first = quadrangle * self.depth
        cylinders = (first + depth) // self._heads - first // self._heads
        return (depth - cylinders) * self._head_shift + cylinders * self._cylinder_shift


def _sectors(step_ps: int, rotation_ps: int, sectors: int) -> int:
    """Return how many sectors behind a block's start the next one of its column may start: the block itself, then the step."""
    return 1 - -(step_ps + _ROUNDING_PS) * sectors // rotation_ps
