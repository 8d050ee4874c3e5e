"""Which rows a request makes the sled pass over, in which order, and how many blocks each pass moves."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memwalk.simcore.storage.device import Run
from memwalk.simcore.storage.mems.geometry import MemsGeometry


class Pass(NamedTuple):
    """The sled passes over a row with as many cells active as it moves blocks."""

    cylinder: int
    row: int
    blocks: int


class _Sweep:
    """Rows of one cylinder that are passed in one direction."""

    def __init__(self, cylinder: int, *, up: bool) -> None:
        self.cylinder = cylinder
        self.up = up
        self.rows: dict[int, int] = {}

    def takes(self, rows: Sequence[tuple[int, int]], cells: int) -> bool:
        return all(self.rows.get(row, 0) + blocks <= cells for row, blocks in rows)

    def add(self, rows: Sequence[tuple[int, int]]) -> None:
        for row, blocks in rows:
            self.rows[row] = self.rows.get(row, 0) + blocks


def plan(geometry: MemsGeometry, runs: Iterable[Run], *, bidirectional: bool) -> list[Pass]:
    """Plan the passes for runs of blocks.

    Blocks of one equivalence class share a pass as far as cells can be active together. Sweeps go the way of the first track in
    them, which is that of the blocks; a sled that cannot read on the way down sweeps up only.
    """
    sweeps: list[_Sweep] = []
    for block, blocks in runs:
        for cylinder, up, rows in _tracks(geometry, block, blocks):
            fitting = (sweep for sweep in sweeps if sweep.cylinder == cylinder and sweep.takes(rows, geometry.cells))
            sweep = next(fitting, None)
            if sweep is None:
                sweep = _Sweep(cylinder, up=up or not bidirectional)
                sweeps.append(sweep)
            sweep.add(rows)
    return [Pass(sweep.cylinder, row, sweep.rows[row]) for sweep in sweeps for row in sorted(sweep.rows, reverse=not sweep.up)]


def _tracks(geometry: MemsGeometry, block: int, blocks: int) -> Iterator[tuple[int, bool, list[tuple[int, int]]]]:
    """Cut a run at the ends of tracks: the cylinder, whether the track runs up, and the rows with their numbers of blocks."""
    end = block + blocks
    while block < end:
        place = geometry.locate(block)
        up = geometry.runs_up(place)
        track_end = min(end, (block // geometry.track_blocks + 1) * geometry.track_blocks)
        row, cell = place.row, place.cell
        rows = []
        while block < track_end:
            taken = min(geometry.cells - cell, track_end - block)
            rows.append((row, taken))
            block += taken
            row, cell = row + (1 if up else -1), 0
        yield place.cylinder, up, rows
