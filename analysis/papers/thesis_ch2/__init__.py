"""Chapter 2 of Chen's thesis (2005): prefetching B+-trees for main memory."""

from memwalk.analysis.papers.thesis_ch2 import equations, latencies, mature, scans, searches, times, updates
from memwalk.analysis.papers.thesis_ch2.trees import measure

__all__ = ["equations", "latencies", "mature", "measure", "scans", "searches", "times", "updates"]
