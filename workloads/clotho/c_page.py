"""C-pages: how many A-pages share a frame if only some of their columns are kept (section 4.1, Figure 3).

A frame is a block of header and as many blocks of minipages as an A-page has: so a C-page with all columns of Figure 3 holds 16 blocks
of minipages beneath its header.
"""

from collections.abc import Iterable, Sequence


def a_pages_per_c_page(minipage_blocks: Sequence[int], columns: Iterable[int], frame_blocks: int) -> int:
    """Return how many A-pages' minipages of ``columns`` (numbers from 0) fit into ``frame_blocks`` blocks.

    Raises ValueError if not even those of one do.
    """
    kept = sum(minipage_blocks[column] for column in columns)
    if not 0 < kept <= frame_blocks:
        raise ValueError(f"minipages of {kept} blocks do not fill a frame of {frame_blocks}; keep one column at least, of fewer blocks")
    return frame_blocks // kept
