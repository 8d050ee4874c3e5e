"""Blocks of a MEMStore that are efficient to access together, along rows and along columns (Clotho, section 5.4)."""

from memwalk.simcore.storage.device import Run
from memwalk.simcore.storage.mems import MemsGeometry
from memwalk.simcore.storage.volumes.single import SingleVolume


class MemstoreVolume(SingleVolume):
    """A volume that is one MEMStore, block by block.

    A row of the volume is a track: consecutive blocks move at the device's full rate. A column runs through tracks one after the
    other at the same place of their squares. As many blocks of it as there are tracks in a cylinder form, cell by cell, an
    equivalence class: the device moves them at once, as it does neighbours in a row. A longer column goes on in the next cylinder.
    """

    def __init__(self, geometry: MemsGeometry) -> None:
        """Take the layout of the device's own blocks."""
        super().__init__(geometry.blocks, geometry.track_blocks)
        self.geometry = geometry

    def track(self, lbn: int) -> Run:
        """Return the blocks that share a track with ``lbn``: the unit of sequential access."""
        return Run(lbn - lbn % self.row_blocks, self.row_blocks)

    def semi_sequential(self, lbn: int, count: int) -> list[int]:
        """Return ``count`` blocks of the column of ``lbn``, from there on in order of access.

        Raises ValueError if the column ends before.
        """
        geometry = self.geometry
        place = geometry.locate(lbn)
        first = place.cylinder * geometry.tracks + place.track
        if lbn < 0 or first + count > geometry.cylinders * geometry.tracks:
            raise ValueError(f"the column of block {lbn} has no {count} blocks in a volume of {self.blocks} blocks")
        tracks = (divmod(track, geometry.tracks) for track in range(first, first + count))
        return [geometry.block_at(place._replace(cylinder=cylinder, track=track)) for cylinder, track in tracks]
