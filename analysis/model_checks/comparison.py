"""What a check is, and what it may be off."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import TIE

MODEL_TOLERANCE = 0.15
"""What a cost model, which counts memory accesses alone, may differ from simulation."""


@dataclass(frozen=True)
class Check:
    """One comparison: ``found`` should be ``expected`` within ``tolerance`` (a fraction; 0 is exact)."""

    group: str
    name: str
    expected: float | None
    found: float | None
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether both are there and close enough."""
        if self.expected is None or self.found is None:
            return False
        return abs(self.found - self.expected) <= self.tolerance * abs(self.expected)

    def difference(self) -> str:
        """Say in words what was expected and what was found, of a comparison that has failed."""
        if self.expected is None:
            return f"found {self.found}, and nothing was expected"
        near = f" within {self.tolerance:.0%}" if self.tolerance else ""
        return f"expected {self.expected}{near}, found {'nothing' if self.found is None else self.found}"


@dataclass(frozen=True)
class ModelStudy:
    """Panels of a figure run smaller, and what is checked on them."""

    figure: str
    panels: tuple[str, ...]
    overrides: tuple[str, ...]
    look: Callable[[Study], Iterable[Check]]
    variants: tuple[str, ...] = ()
    """Those of the panels that run; all if there are none."""


def is_best(group: str, name: str, values: "pd.Series[float]", chosen: int, tolerance: float = TIE) -> Check:
    """Compare what a model chose with the best of a sweep; a choice that was not swept fails."""
    found = float(values.loc[chosen]) if chosen in values.index else None
    return Check(group, name, float(values.min()), found, tolerance)
