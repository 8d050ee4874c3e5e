"""Graduation slots, in which statistics count the time of cores, as cycles and as seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd

_Slots = TypeVar("_Slots", float, "pd.Series[float]")


def cores(found: Mapping[str, Any]) -> int:
    """Return how many cores the slots of a run are of."""
    return len(found.get("cores", [found]))


def all_slots(machine: Mapping[str, Any], found: Mapping[str, Any]) -> int:
    """Return the slots that the cores of a run have from its beginning to its end, those in which one of them has ended included."""
    slots: int = cores(found) * found["cycles"] * machine["core"]["issue_width"]
    return slots


def in_cycles(machine: Mapping[str, Any], slots: _Slots) -> _Slots:
    """Return the cycles that slots of one core take."""
    width: int = machine["core"]["issue_width"]
    return slots / width


def slot_seconds(machine: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """Return what a slot of a run takes, of several cores in the mean."""
    per_second: int = machine["clock_hz"] * machine["core"]["issue_width"] * cores(found)
    return 1 / per_second
