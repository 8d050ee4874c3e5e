"""Chapter 3 of Chen's thesis (2005): fractal prefetching B+-trees."""

from memwalk.analysis.papers.thesis_ch3 import arithmetic, disks, itanium2, scans, searches, space, updates, widths
from memwalk.analysis.papers.thesis_ch3.register import measure

__all__ = ["arithmetic", "disks", "itanium2", "measure", "scans", "searches", "space", "updates", "widths"]
