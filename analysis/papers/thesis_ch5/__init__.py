"""Chapter 5 of Chen's thesis (2005): inspector joins."""

from memwalk.analysis.papers.thesis_ch5 import filters, misses, partitions
from memwalk.analysis.papers.thesis_ch5.register import measure

__all__ = ["filters", "measure", "misses", "partitions"]
