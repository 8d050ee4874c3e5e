"""What a kernel asks storage for: which settings a run depends on hinges on that, and is asked before it runs."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias


class Traffic(NamedTuple):
    """What a run may do; most read and write, and ask the volume where its rows are."""

    reads: bool = True
    writes: bool = True
    asks_for_rows: bool = True
    """Whether it asks the volume which blocks lie side by side: one that says itself which blocks it wants does not."""
    asks_ahead: bool = False
    """Whether a kernel of a machine asks for pages ahead of their use."""


TrafficOf: TypeAlias = Callable[[Mapping[str, Any]], Traffic]
"""Tells it of a resolved workload."""


def always(*, reads: bool = True, writes: bool = True, asks_for_rows: bool = True) -> TrafficOf:
    """Make what tells the same of every workload."""
    same = Traffic(reads, writes, asks_for_rows)
    return lambda _workload: same


def updating(key: str, value: Any, *, asks_for_rows: bool = True) -> TrafficOf:
    """Make what tells that a workload reads, and writes if its ``key`` is ``value``."""
    return lambda workload: Traffic(writes=workload[key] == value, asks_for_rows=asks_for_rows)
