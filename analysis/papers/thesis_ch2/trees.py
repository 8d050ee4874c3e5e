"""What the measures of chapter 2 share: their registry, the trees of each platform, the axes of the sweeps."""

from memwalk.analysis.claims import Measures

measure = Measures()

WIDE, EXTERNAL, INTERNAL = "p8B+", "p8eB+", "p8iB+"
JUMP_POINTERS = (EXTERNAL, INTERNAL)
PREFETCHING = (WIDE, *JUMP_POINTERS)
"""Trees that prefetch, on the simulated platform."""
WIDE_IT2 = "p4B+"
JUMP_POINTERS_IT2 = ("p4eB+", "p4iB+")
PREFETCHING_IT2 = (WIDE_IT2, *JUMP_POINTERS_IT2)
"""Trees that prefetch, on Itanium 2."""

KEYS, OPERATIONS, RANGE, FILL = "workload.keys", "workload.operations", "workload.range", "workload.fill"
WIDTH, DISTANCE, CHUNK = "workload.tree.node_lines", "workload.tree.distance_nodes", "workload.tree.chunk_lines"
LATENCY = "machine.memory.latency_cycles"

SIMULATOR, ITANIUM2 = "thesis-simulator", "itanium2-900"
TEN_MILLION = 10_000_000
