"""Kernels that leave traces. They are Rust (`workloads/src`); Python names them through `simcore.engines.native`."""
