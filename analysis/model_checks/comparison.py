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
    unit: str = ""
    """Of ``expected`` and ``found``."""
    not_swept: str = ""
    """What was chosen, and what was swept without it; empty if the choice was swept, or nothing was chosen."""

    @property
    def status(self) -> Literal["agrees", "drift", "without power", "not swept"]:
        """What came out: both are there and close enough, or they are not, or nothing could have told.

        That is so if whatever was swept would have been close enough, and if what was chosen was not swept.
        """
        if self.not_swept:
            return "not swept"
        if not self._is_close(self.found):
            return "drift"
        return "without power" if self.worst is not None and self._is_close(self.worst) else "agrees"

    @property
    def passed(self) -> bool:
        """Whether it agrees, and could have failed."""
        return self.status == "agrees"

    def difference(self) -> str:
        """Say in words what was expected and what was found, of a comparison that has not passed."""
        if self.not_swept:
            return f"{self.not_swept}; the best there is {self._written(self.expected)}"
        if self.expected is None:
            return f"found {self._written(self.found)}, and nothing was expected"
        near = f" within {self.tolerance:.0%}" if self.tolerance else ""
        if self.status == "without power":
            return f"nothing to choose from: the whole sweep is{near} of {self._written(self.expected)}, the worst is {self.worst}"
        return f"expected {self._written(self.expected)}{near}, found {self._written(self.found)}"

    def _written(self, value: float | None) -> str:
        return "nothing" if value is None else f"{value} {self.unit}".rstrip()

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


def is_best(
    group: str, name: str, values: "pd.Series[float]", chosen: int | str, tolerance: float = TIE, *, unit: str, by: str = "the model"
) -> Check:
    """Compare what was chosen, ``by`` a model or in print, with the best of a sweep of values in a unit.

    A choice that was not swept fails, and so does a sweep of nothing worse.
    """
    best, worst = float(values.min()), float(values.max())
    if chosen in values.index:
        return Check(group, name, best, float(values.loc[chosen]), tolerance, worst, unit)
    swept = ", ".join(map(str, values.index))
    return Check(group, name, best, None, tolerance, worst, unit, f"{by} chooses {chosen}, which the sweep ({swept}) does not have")
