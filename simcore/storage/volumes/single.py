"""The simplest volume: one device, block by block."""

from memwalk.simcore.storage.device import expect_blocks
from memwalk.simcore.storage.volumes.volume import Part


class SingleVolume:
    """A volume whose blocks are those of its one device, which reads ``row_blocks`` of them well at once."""

    disks = 1

    def __init__(self, blocks: int, row_blocks: int) -> None:
        """Take a device of ``blocks`` blocks; ``row_blocks`` are a track, or whatever stands for one."""
        self.blocks = blocks
        self.row_blocks = row_blocks

    def split(self, block: int, blocks: int) -> list[Part]:
        """Return the request as it is. Raises ValueError for blocks that the volume does not have."""
        expect_blocks(block, blocks, self.blocks, "a volume")
        return [Part(0, block, blocks)]
