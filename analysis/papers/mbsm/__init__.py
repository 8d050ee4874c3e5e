"""MBSM, a multi-resolution block storage model (Zhou and Ross 2003): super-blocks of pages that share the columns of a table."""

from memwalk.analysis.papers.mbsm import comparison, records, scans, space, super_blocks
from memwalk.analysis.papers.mbsm.layouts import measure

__all__ = ["comparison", "measure", "records", "scans", "space", "super_blocks"]
