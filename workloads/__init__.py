"""What is done to the hardware: kernels that leave traces, and tables as they lie on storage.

The kernels are Rust (`workloads/src`); Python names them through `memwalk.simcore.engines.native`. `memwalk.workloads.tables` is Python and
knows sizes and addresses only. `memwalk.workloads.programs` has programs on them, which say
what they do, and not how long it takes.
"""
