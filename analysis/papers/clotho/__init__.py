"""Clotho (Shao et al. 2004): pages in memory that are put together of A-pages on storage, which have two dimensions there."""

from memwalk.analysis.papers.clotho import mappings, microbenchmark, transactions
from memwalk.analysis.papers.clotho.layouts import measure

__all__ = ["mappings", "measure", "microbenchmark", "transactions"]
