"""A database in Clotho's A-pages, of which the pool keeps the columns that queries need."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import batched
from typing import NamedTuple

from analysis.storage_workloads.oltp.database import Touch
from analysis.storage_workloads.oltp.whole_pages import IndexFiles, PageQueries, WholePages
from simcore.storage.pool import BufferPool, Schema
from workloads.clotho import APageFormat, Csm, TwoDimensional, split_by_length
from workloads.tables import Dsm, PageFormat, Table
from workloads.tpcc import Access, Action, Index, Statement, Visit


class _Group(NamedTuple):
    """Columns of a table that share A-pages."""

    file: Csm
    columns: frozenset[str]
