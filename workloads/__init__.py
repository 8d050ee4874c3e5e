"""What is done to the hardware: kernels that leave traces, and tables as they lie on storage.

The kernels are Rust (`workloads/src`); Python names them through `simcore.engines.native`. `workloads.tables` is Python and
knows sizes and addresses only.
"""
