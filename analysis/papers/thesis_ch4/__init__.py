"""Chapter 4 of Chen's thesis (2005): prefetching hash joins."""

from memwalk.analysis.papers.thesis_ch4 import disks, interference, itanium2, joins, lateness, partitions, repartitioning
from memwalk.analysis.papers.thesis_ch4.algorithms import measure

__all__ = ["disks", "interference", "itanium2", "joins", "lateness", "measure", "partitions", "repartitioning"]
