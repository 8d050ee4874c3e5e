"""Insertions into an index in pages, and deletions from it, by any number of threads."""

from __future__ import annotations

from typing import Any

INSERTIONS: dict[str, Any] = {
    "kernel": "disk-index",
    "operation": "insert",
    "structure": "array",
    "page_bytes": 4096,
    "keys": 100_000,
    "fill": 0.97,
    "operations": 4000,
    "upward_moves": "through-buffer",
    "caches": "empty",
}
DELETIONS = INSERTIONS | {"operation": "delete", "structure": "slotted"}
SCANS_AND_INSERTIONS = INSERTIONS | {"operation": "scan-and-insert", "insert_share": 0.5, "range": 300, "reuse_buffer": True}
DISK_FIRST = {"structure": "disk-first", "nonleaf_lines": 1, "leaf_lines": 6}
