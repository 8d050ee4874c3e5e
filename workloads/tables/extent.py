"""Blocks in a row."""

from collections.abc import Iterable
from typing import NamedTuple


class Extent(NamedTuple):
    """``blocks`` blocks from number ``block`` on."""

    block: int
    blocks: int

    @property
    def end(self) -> int:
        """The first block behind it."""
        return self.block + self.blocks


def joined(extents: Iterable[Extent]) -> list[Extent]:
    """Join each extent with the one before it if it begins where that one ends."""
    result: list[Extent] = []
    for extent in extents:
        if result and result[-1].end == extent.block:
            result[-1] = Extent(result[-1].block, result[-1].blocks + extent.blocks)
        else:
            result.append(extent)
    return result
