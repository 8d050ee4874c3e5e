"""Workloads with pages on storage that run beside others, and their points run in this process."""

from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.simulation import simulate
from memwalk.simcore.engines import native

SEARCH = (
    "kernel: disk-index, structure: array, operation: search, page_bytes: 8KiB, key_bytes: 4B, keys: 100000, operations: 300, "
    "pool_frames: 20, caches: empty"
)
JOIN = (
    "kernel: hash-join, algorithm: group, build_tuples: 3000, probe_tuples: 6000, tuple_bytes: 60, page_bytes: 8KiB, "
    "pages_asked_ahead: 20, output: stored, partitions: 4, threads: 4"
)


def run(one: Point) -> native.Statistics:
    """Run a point."""
    return simulate(one.machine, one.workload, one.observe, one.run, neighbours=one.neighbours)
