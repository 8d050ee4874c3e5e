"""What a check is, and what it may be off."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

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
    worst: float | None = None
    """The greatest of a sweep, if ``expected`` is its least."""

    @property
    def status(self) -> Literal["agrees", "drift", "without power"]:
        """What came out: both are there and close enough, or they are not, or whatever was swept would have been close enough."""
        if not self._is_close(self.found):
            return "drift"
        return "without power" if self.worst is not None and self._is_close(self.worst) else "agrees"

    @property
    def passed(self) -> bool:
        """Whether it agrees, and could have failed."""
        return self.status == "agrees"

    def difference(self) -> str:
        """Say in words what was expected and what was found, of a comparison that has not passed."""
        if self.expected is None:
            return f"found {self.found}, and nothing was expected"
        near = f" within {self.tolerance:.0%}" if self.tolerance else ""
        if self.status == "without power":
            return f"nothing to choose from: the whole sweep is{near} of {self.expected}, the worst is {self.worst}"
        return f"expected {self.expected}{near}, found {'nothing' if self.found is None else self.found}"

    def _is_close(self, value: float | None) -> bool:
        if self.expected is None or value is None:
            return False
        return abs(value - self.expected) <= self.tolerance * abs(self.expected)


@dataclass(frozen=True)
class ModelStudy:
    """Panels of a figure run smaller, and what is checked on them."""

    figure: str
    panels: tuple[str, ...]
    overrides: tuple[str, ...]
    look: Callable[[Study], Iterable[Check]]
    variants: tuple[str, ...] = ()
    """Those of the panels that run; all if there are none."""


def is_best(group: str, name: str, values: "pd.Series[float]", chosen: int | str, tolerance: float = TIE) -> Check:
    """Compare what a model chose with the best of a sweep. A choice that was not swept fails, and so does a sweep of nothing worse."""
    found = float(values.loc[chosen]) if chosen in values.index else None
    return Check(group, name, float(values.min()), found, tolerance, float(values.max()))
