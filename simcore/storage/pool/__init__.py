"""The buffer pool: C-pages with schemas of their own, CLOCK replacement, and reading ahead as a policy of the pool."""

from memwalk.simcore.storage.pool.clock import Clock
from memwalk.simcore.storage.pool.page import CPage, PagedFile, Query, Span, Storage
from memwalk.simcore.storage.pool.page_schema import PageSchemas, Schema, subsumes
from memwalk.simcore.storage.pool.pool import BufferPool, Steps
from memwalk.simcore.storage.pool.read_ahead import ReadAhead
from memwalk.simcore.storage.pool.scan import Scan, Stream
from memwalk.simcore.storage.pool.statistics import PoolStatistics
from memwalk.simcore.storage.pool.whole_pages import WHOLE, WholePages

__all__ = [
    "WHOLE",
    "BufferPool",
    "CPage",
    "Clock",
    "PageSchemas",
    "PagedFile",
    "PoolStatistics",
    "Query",
    "ReadAhead",
    "Scan",
    "Schema",
    "Span",
    "Steps",
    "Storage",
    "Stream",
    "WholePages",
    "subsumes",
]
