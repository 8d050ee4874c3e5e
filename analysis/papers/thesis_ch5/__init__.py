"""Chapter 5 of Chen's thesis (2005): inspector joins."""

from memwalk.analysis.papers.thesis_ch5 import duplicates, filters, interference, misses, nearly_sorted, partitions, processors, totals
from memwalk.analysis.papers.thesis_ch5.register import measure

__all__ = ["duplicates", "filters", "interference", "measure", "misses", "nearly_sorted", "partitions", "processors", "totals"]
