"""The buffer pool: C-pages with schemas of their own, CLOCK replacement, and reading ahead as a policy of the pool."""

from memwalk.simcore.storage.pool.clock import Clock
from memwalk.simcore.storage.pool.page import CPage, Query, Storage
from memwalk.simcore.storage.pool.page_schema import PageSchemas, subsumes
from memwalk.simcore.storage.pool.pool import BufferPool, Steps
from memwalk.simcore.storage.pool.read_ahead import ReadAhead
from memwalk.simcore.storage.pool.statistics import PoolStatistics

__all__ = ["BufferPool", "CPage", "Clock", "PageSchemas", "PoolStatistics", "Query", "ReadAhead", "Steps", "Storage", "subsumes"]
