"""The microbenchmark of Clotho (sections 7.2.1 to 7.2.4): one relation in four layouts, scanned, asked for records, updated, filled."""

from memwalk.analysis.storage_workloads.clotho.column import ClothoColumn
from memwalk.analysis.storage_workloads.clotho.insert import ClothoInsert
from memwalk.analysis.storage_workloads.clotho.point import ClothoPoint
from memwalk.analysis.storage_workloads.clotho.scan import ClothoScan

__all__ = ["ClothoColumn", "ClothoInsert", "ClothoPoint", "ClothoScan"]
