"""MBSM, the multi-resolution block storage model (Zhou and Ross, "A Multi-resolution Block Storage Model for Database Design").

Records are spread over the pages of a super-block, values of few columns in each page. Pages with the same columns of many
super-blocks lie in one run, and the runs of these super-blocks make a mega-block.
"""

from memwalk.workloads.mbsm.construct import construct, super_block_of
from memwalk.workloads.mbsm.mega_block import Mbsm
from memwalk.workloads.mbsm.query import Affinities, Query
from memwalk.workloads.mbsm.super_block import Share, SuperBlock

__all__ = ["Affinities", "Mbsm", "Query", "Share", "SuperBlock", "construct", "super_block_of"]
