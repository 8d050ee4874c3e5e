"""What a buffer pool counts."""

from dataclasses import dataclass


@dataclass(slots=True)
class PoolStatistics:
    """What the pool did, counted."""

    fixes: int = 0
    misses: int = 0
    """Fixes that had to have something read; a fix that waits for a read already on its way is none."""
    blocks_read: int = 0
    blocks_written: int = 0
    evictions: int = 0
    dirty_evictions: int = 0
    invalidations: int = 0
    """Copies given up because another one was written."""
