"""What the measures of a figure are given: the results of its panels as tidy tables, and machines by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memwalk.analysis.cost_models.memory import MissCosts, miss_costs
from memwalk.simcore.validation import nearest


class MeasureError(ValueError):
    """A measure that does not fit the results: an unknown panel, series or column, or a place that is missing."""


@dataclass(frozen=True)
class Study:
    """The panels of a figure by name, and how to find a machine by its name as plain data.

    A panel is a table with a row per point and the columns of ``results.parquet``. The axes of its sweep are its index, too,
    under the same names, so that pandas aligns series by them. Make one with `panel`.
    """

    panels: Mapping[str, pd.DataFrame]
    machine: Callable[[str], dict[str, Any]]

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Give a panel. Raises MeasureError with the nearest name if there is none."""
        if name not in self.panels:
            raise MeasureError(f"there is no panel `{name}`; {nearest(name, self.panels)}")
        return self.panels[name]

    def joined(self, *names: str) -> pd.DataFrame:
        """Give several panels as one: a sweep that is spread over them. Their axes must be the same."""
        frames = [self[name] for name in names]
        if len({tuple(frame.index.names) for frame in frames}) > 1:
            raise MeasureError(f"panels {', '.join(names)} do not have the same axes")
        return pd.concat(frames)

    def costs(self, machine: str) -> MissCosts:
        """Take T1, T_next and T_tlb of a machine, in cycles, for cost models. Raises MeasureError without one memory latency."""
        try:
            return miss_costs(self.machine(machine))
        except ValueError as error:
            raise MeasureError(str(error)) from None


def panel(rows: pd.DataFrame | Sequence[Mapping[str, Any]], axes: Iterable[str]) -> pd.DataFrame:
    """Make a panel of rows: its index are the axes, its columns those of which some row has a value."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    frame = frame.dropna(axis="columns", how="all")
    names = list(axes)
    if names:
        return frame.set_index(names, drop=False)
    return frame.set_index(pd.Index([0] * len(frame)))
