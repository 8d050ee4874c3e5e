"""Where blocks lie on a MEMStore's media sled, and which of them can be moved at the same time.

Every tip reaches a square of its own, and all tips are at the same place (x, y) of their squares. A block is spread over as many
tips as it needs, its *cell*. The cells that are active together read a *row* in passing; a *track* is the rows that one sweep of the
sled along Y passes with the same tips, and a *cylinder* is the tracks of all groups of tips at one X.

The terms and the order of blocks are DiskSim's (its streaming layout), the equivalence classes those of Clotho, section 5.4.
"""

from dataclasses import dataclass
from typing import NamedTuple


class Place(NamedTuple):
    """Where a block lies: ``row`` counts along Y whichever way its track runs."""

    cylinder: int
    track: int
    """Within the cylinder: which group of tips."""
    row: int
    cell: int
    """Within the row."""


@dataclass(frozen=True)
class MemsGeometry:
    """Numbers of cylinders, tracks in each, rows in each of those and cells in each of those, and lengths in nm."""

    cylinders: int
    tracks: int
    rows: int
    cells: int
    bit_nm: int
    """Distance of bits, in X and in Y."""
    servo_bits: int
    """Bits before and behind every row that tell a tip where it is."""
    sector_bits: int
    """Bits of a row that one tip reads."""

    @property
    def track_blocks(self) -> int:
        """Blocks of a track."""
        return self.rows * self.cells

    @property
    def blocks(self) -> int:
        """Blocks of the device."""
        return self.cylinders * self.tracks * self.track_blocks

    @property
    def row_bits(self) -> int:
        """Bits that pass a tip while it reads a row: servo bits, then the row's."""
        return self.servo_bits + self.sector_bits

    def locate(self, block: int) -> Place:
        """Find a block. Tracks run up and down by turns, so that the sled only turns around between them."""
        track, index = divmod(block, self.track_blocks)
        row, cell = divmod(index, self.cells)
        cylinder, group = divmod(track, self.tracks)
        return Place(cylinder, group, self._turned(track, row), cell)

    def block_at(self, place: Place) -> int:
        """Return the block that lies at ``place``: the inverse of `locate`."""
        track = place.cylinder * self.tracks + place.track
        return track * self.track_blocks + self._turned(track, place.row) * self.cells + place.cell

    def runs_up(self, place: Place) -> bool:
        """Tell whether the blocks of a place's track are in order of rising Y."""
        return (place.cylinder * self.tracks + place.track) % 2 == 0

    def parallel_blocks(self, block: int) -> list[int]:
        """List the blocks at the same place of their squares as ``block``: its equivalence class, in order of blocks.

        The device can move any of them at once, as many as it has active cells.
        """
        place = self.locate(block)
        return [
            self.block_at(place._replace(track=track, cell=cell))
            for track in range(self.tracks)
            for cell in range(self.cells)
        ]  # fmt: skip

    def x_nm(self, cylinder: int) -> int:
        """Return a cylinder's X; the middle of the sled is 0."""
        return cylinder * self.bit_nm - (self.cylinders - 1) * self.bit_nm // 2

    def entry_nm(self, row: int, direction: int) -> int:
        """Return the Y at which a pass over a row begins, with its servo bits: below the row going up (1), above it going down (-1)."""
        bits = row * self.row_bits if direction > 0 else (row + 1) * self.row_bits + self.servo_bits
        return bits * self.bit_nm - (self.rows * self.row_bits + self.servo_bits) * self.bit_nm // 2

    def exit_nm(self, row: int, direction: int) -> int:
        """Return the Y at which a pass over a row ends, where the next row's begins."""
        return self.entry_nm(row, direction) + direction * self.row_bits * self.bit_nm

    def _turned(self, track: int, row: int) -> int:
        return self.rows - 1 - row if track % 2 else row
