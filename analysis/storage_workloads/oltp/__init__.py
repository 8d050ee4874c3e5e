"""TPC-C on storage: many users of one database, alone or beside a query that scans (Clotho, sections 7.4 and 7.5)."""

from memwalk.analysis.storage_workloads.oltp.compound import Compound
from memwalk.analysis.storage_workloads.oltp.tpcc import Tpcc

__all__ = ["Compound", "Tpcc"]
