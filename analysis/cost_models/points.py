"""The tree of a simulated point, as cost models of searches take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memwalk.analysis.cost_models.layout import NodeLayout


def node_layout(row: Mapping[Any, Any]) -> NodeLayout:
    """Read the node layout of a row of results."""
    words = int(row["workload.line_bytes"] // row["workload.word_bytes"])
    return NodeLayout(row["workload.tree.kind"], int(row["workload.tree.node_lines"]), words, row["workload.tree.jump_pointers"])
