"""The measures of a paper: typed functions, each under the id of its claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import pandas as pd

from memwalk.analysis.claims.orders import Holds
from memwalk.analysis.claims.study import Study

Measured: TypeAlias = "pd.Series[float] | float | Holds"
"""Numbers over a sweep, one number, or a statement without a number."""
MeasureFunction: TypeAlias = Callable[[Study], Measured]


class Measures(Mapping[str, MeasureFunction]):
    """Measures by claim; a call makes the decorator that adds one."""

    def __init__(self) -> None:
        self._functions: dict[str, MeasureFunction] = {}

    def __call__(self, *claims: str) -> Callable[[MeasureFunction], MeasureFunction]:
        """Register the function that follows as the measure of these claims (one, or several that say the same).

        Raises ValueError for a claim that has one already.
        """

        def register(function: MeasureFunction) -> MeasureFunction:
            for claim in claims:
                if claim in self._functions:
                    raise ValueError(f"claim `{claim}` has two measures; give it one")
                self._functions[claim] = function
            return function

        return register

    def __getitem__(self, claim: str) -> MeasureFunction:
        return self._functions[claim]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)
