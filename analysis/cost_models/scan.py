"""Parameters of range scans with jump-pointer arrays: equations 2.8 to 2.11 and section 2.3.4."""

from __future__ import annotations

import math

from memwalk.analysis.cost_models.layout import NodeLayout
from memwalk.analysis.cost_models.memory import MissCosts


def prefetch_distance(node_lines: int, costs: MissCosts) -> int:
    """Distance d = ceil(B / w), in leaves to prefetch ahead (equation 2.8).

    The equation as printed can be read as a floor; sections 2.4.3 and 2.4.9 and equation 2.11 use the ceiling, and so
    does this function (see docs/decisions/010-thesis-readings.md).
    """
    return math.ceil(costs.full / (costs.next * _positive("node_lines", node_lines)))


def prefetch_distance_unrounded(node_lines: int, costs: MissCosts) -> float:
    """B / w, leaves, with B to one decimal as the text has it: the prefetch distance before its ceiling (2.4.9)."""
    return round(costs.full / costs.next, 1) / _positive("node_lines", node_lines)


def chunk_lines(line_words: int, costs: MissCosts) -> int:
    """Chunk size c = ceil(B / m), in lines of a chunk of an external jump-pointer array (equation 2.9); m = ``line_words`` / 2."""
    return math.ceil(costs.full / (costs.next * (_positive("line_words", line_words, 2) // 2)))


def chunk_line_pointers(line_words: int) -> int:
    """2m: leaf pointers in a line of a full chunk (section 2.3.4)."""
    return line_words


def jump_pointer_overhead(layout: NodeLayout) -> float:
    """Space of a full external jump-pointer array over that of the leaves, 1 / (2f) (section 2.3.4)."""
    return 1 / layout.words


def chunk_slots(chunk_lines: int, line_words: int) -> int:
    """Leaf pointers in a full chunk: all its words but the pointers to the next and the previous chunk."""
    return chunk_lines * line_words - 2


def chunk_fill_after_split_percent(chunk_lines: int, line_words: int) -> float:
    """Fill of the two chunks that a full chunk and one more pointer are split into, in % (section 2.3.4)."""
    slots = chunk_slots(chunk_lines, line_words)
    return 100 * (slots + 1) / (2 * slots)


def _positive(name: str, value: int, least: int = 1) -> int:
    if value < least:
        raise ValueError(f"{name} is {value}; it is {least} at least")
    return value
