"""Two kernels that other simulators were run on: small enough for a simulator in Python, large enough to leave every cache."""

from typing import Any

_TREE = {"kind": "b+", "node_lines": 1, "prefetch": False, "jump_pointers": "none"}
_COMMON = {"kernel": "index", "word_bytes": 4, "line_bytes": 64, "keys": 1_000_000, "maturity": "bulkloaded", "caches": "empty", "seed": 1}

KERNELS: dict[str, dict[str, Any]] = {
    "search": {**_COMMON, "operation": "search", "tree": _TREE, "fill": 1.0, "operations": 5000},
    "insert": {**_COMMON, "operation": "insert", "tree": _TREE, "fill": 0.7, "operations": 5000},
}
"""Workloads by name."""
