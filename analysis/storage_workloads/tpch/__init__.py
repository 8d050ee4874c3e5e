"""Queries of TPC-H on Clotho's storage: the layout's pages by read-ahead, and the processor's time from the kernel `tpch`."""

from memwalk.analysis.storage_workloads.tpch.clotho_tpch import ClothoTpch

__all__ = ["ClothoTpch"]
