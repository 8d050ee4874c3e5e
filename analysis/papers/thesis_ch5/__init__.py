"""Chapter 5 of Chen's thesis (2005): inspector joins."""

from memwalk.analysis.papers.thesis_ch5.filters import measure

__all__ = ["measure"]
