"""What is particular to the papers: a module for each, with a measure for every claim that can be simulated.

The module of ``configs/papers/thesis-ch2`` is ``thesis_ch2``; its ``measure`` holds the functions by the ids of the claims.
"""

from __future__ import annotations

import importlib
import importlib.util

from memwalk.analysis.claims.registry import Measures

__all__ = ["measures"]


def measures(paper: str) -> Measures:
    """Find the measures of a paper by its id; none if it has no module here."""
    module = f"{__name__}.{paper.replace('-', '_').replace('.', '_')}"
    if importlib.util.find_spec(module) is None:
        return Measures()
    found: Measures = importlib.import_module(module).measure
    return found
