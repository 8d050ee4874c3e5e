"""Kernel `clotho-column`: blocks that lie on tracks next to each other, read in three ways (Clotho, sections 5.2 and 5.4)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from memwalk.analysis.storage_workloads.columns import io_columns, seconds
from memwalk.analysis.storage_workloads.limits import CommandBlocks, Seed, Times
from memwalk.analysis.storage_workloads.one_program import Begun, Columns, OneProgram, Placed
from memwalk.analysis.storage_workloads.placed import two_dimensional
from memwalk.analysis.storage_workloads.room import MisfitError
from memwalk.simcore.storage.device import BLOCK_BYTES
from memwalk.simcore.storage.disk import Disk
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volumes import AtroposVolume, MemstoreVolume, Volume
from memwalk.traces.storage import Client
from memwalk.workloads.programs import clotho, transfers


class ClothoColumn(OneProgram):
    """Reads groups of blocks at random places, a group when the one before has been read."""

    has_data: ClassVar[bool] = False

    kernel: Literal["clotho-column"]
    pattern: Literal["semi-sequential", "random", "sequential"] = Field(
        "semi-sequential", description="one block of each row, in the same column or in any; or consecutive blocks of a row"
    )
    blocks: CommandBlocks = Field(4, description="Blocks of a group")
    groups: Times = Field(1000, description="Groups that are read")
    seed: Seed = 1

    def work(self) -> int:
        """Estimate the work of a run, as `StorageKernel` says."""
        return self.groups * self.blocks

    def place(self, volume: Volume, first_block: int = 0) -> Placed:
        """Find the groups' places, which are all over the volume, as `OneProgram` says.

        Raises UserError if the volume has no rows and columns, or not as many rows on neighbouring tracks as a group has blocks.
        """
        rows = two_dimensional(volume)
        together = self._together(rows)
        return Placed(
            first_block, lambda system: lambda: Begun(self._clients(rows, together), lambda periods: self._columns(periods, system))
        )

    def _columns(self, periods: Mapping[str, Period], system: System) -> Columns:
        """Return the mean time of a group and, for disks, the turns that it waits for its blocks to come by."""
        (period,) = periods.values()
        elapsed, times = seconds(period.elapsed_ps), io_columns(period.served)
        columns = {
            "seconds": elapsed,
            "io_seconds": elapsed,
            "group_blocks": self.blocks,
            "group_ms": 1000 * elapsed / self.groups,
            "MB_per_second": self.groups * self.blocks * BLOCK_BYTES / 1e6 / elapsed,
        }
        device = system.device.device()
        if isinstance(device, Disk):
            columns["group_turns"] = times["io_rotation_seconds"] / seconds(device.geometry.rotation_ps) / self.groups
        return columns | times

    def _clients(self, rows: AtroposVolume | MemstoreVolume, together: int) -> list[Client]:
        groups = clotho.groups(rows, together, self.pattern, blocks=self.blocks, count=self.groups, seed=self.seed)
        return transfers.clients(groups)

    def _together(self, volume: AtroposVolume | MemstoreVolume) -> int:
        """Return the tracks that lie together. Raises UserError if a group needs more."""
        together = volume.depth if isinstance(volume, AtroposVolume) else volume.geometry.tracks
        if self.pattern != "sequential" and self.blocks > together:
            message = f"groups of {self.blocks} blocks: {together} tracks of the volume lie together; read no more blocks"
            raise MisfitError("blocks", message)
        return together
