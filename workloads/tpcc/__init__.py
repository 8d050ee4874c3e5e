"""TPC-C: its tables, the indexes its statements use, and the accesses of its transactions. Nothing here takes time."""

from memwalk.workloads.tpcc.access import Access, Action, IndexVisit, Statement, Visit
from memwalk.workloads.tpcc.index import Index, indexes
from memwalk.workloads.tpcc.schema import DISTRICTS, tables
from memwalk.workloads.tpcc.transactions import MIX, Terminals, Transaction

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
