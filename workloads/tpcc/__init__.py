"""TPC-C: its tables, the indexes its statements use, and the accesses of its transactions. Nothing here takes time."""

from workloads.tpcc.access import Access, Action, IndexVisit, Statement, Visit
from workloads.tpcc.index import Index, indexes
from workloads.tpcc.schema import DISTRICTS, tables
from workloads.tpcc.transactions import MIX, Terminals, Transaction

__all__ = [
    "DISTRICTS",
    "MIX",
    "Access",
    "Action",
    "Index",
    "IndexVisit",
    "Statement",
    "Terminals",
    "Transaction",
    "Visit",
    "indexes",
    "tables",
]
