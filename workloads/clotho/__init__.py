"""Clotho: A-pages on storage, C-pages in memory, and what they take (Shao et al. 2004)."""

from memwalk.workloads.clotho.a_page import APageFormat, split_by_length
from memwalk.workloads.clotho.c_page import a_pages_per_c_page
from memwalk.workloads.clotho.layout import Csm, TwoDimensional
from memwalk.workloads.clotho.space import a_page_records, slotted_records, space_efficiency

__all__ = [
    "APageFormat",
    "Csm",
    "TwoDimensional",
    "a_page_records",
    "a_pages_per_c_page",
    "slotted_records",
    "space_efficiency",
    "split_by_length",
]
