"""Kernels that leave traces (Rust, `workloads/src`). Python only knows their names."""

KERNELS = {
    "index": "searches, insertions, deletions or scans on a B+-tree or CSB+-tree, with and without prefetching",
    "pointer-array": "visits lines through an array of pointers, prefetching ahead: measures the time of the next line",
    "pointer-chase": "follows a chain of pointers from line to line: measures the time of a miss, and of a TLB miss",
}
"""What each kernel does, by the name that an experiment's ``workload.kernel`` gives."""
