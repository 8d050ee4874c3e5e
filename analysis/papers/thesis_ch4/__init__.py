"""Chapter 4 of Chen's thesis (2005): prefetching hash joins."""

from memwalk.analysis.papers.thesis_ch4.joins import measure

__all__ = ["measure"]
