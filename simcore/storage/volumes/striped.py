"""Plain striping (RAID-0): units of equal size go round the disks."""

from memwalk.simcore.storage.device import expect_blocks
from memwalk.simcore.storage.volumes.volume import Part


class StripedVolume:
    """Unit ``u`` of the volume is unit ``u // disks`` of disk ``u % disks``; what is left over behind whole units is not used.

    One disk is a stripe too: the volume is then that disk.
    """

    def __init__(self, disks: int, unit_blocks: int, disk_blocks: int) -> None:
        """Stripe ``disks`` disks of ``disk_blocks`` blocks. Raises ValueError if not even one unit fits on each."""
        if disks < 1 or not 1 <= unit_blocks <= disk_blocks:
            raise ValueError(f"{disks} disks of {disk_blocks} blocks hold no units of {unit_blocks} blocks; give 1 of each at least")
        self.disks = disks
        self.unit_blocks = unit_blocks
        self.row_blocks = disks * unit_blocks
        self.blocks = disks * (disk_blocks // unit_blocks) * unit_blocks

    def split(self, block: int, blocks: int) -> list[Part]:
        """Cut a request: one part for each disk, as a disk's units of consecutive stripes follow each other.

        Raises ValueError for blocks that the volume does not have.
        """
        expect_blocks(block, blocks, self.blocks, "a volume")
        unit_blocks, disks = self.unit_blocks, self.disks
        first, offset = divmod(block, unit_blocks)
        last, end = divmod(block + blocks - 1, unit_blocks)
        parts = []
        for unit in range(first, min(first + disks, last + 1)):
            stripe, disk = divmod(unit, disks)
            begin = stripe * unit_blocks + (offset if unit == first else 0)
            final = last - (last - unit) % disks
            stop = final // disks * unit_blocks + (end + 1 if final == last else unit_blocks)
            parts.append(Part(disk, begin, stop - begin))
        return parts
