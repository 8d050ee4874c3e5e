"""Cost models that figure files name: evaluated over lists of parameters, or at simulated points."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import TypeAlias

import pandas as pd
from pydantic import Field, model_validator

from memwalk.analysis.cost_models import MissCosts, model
from memwalk.analysis.cost_models.points import node_layout
from memwalk.simcore.validation import StrictModel

Scalar: TypeAlias = str | int | float | bool


class Modelled(StrictModel):
    """A cost model; a list of values of a parameter makes a sweep, and so does a list of cases."""

    name: str
    given: dict[str, Scalar | list[Scalar]] | list[dict[str, Scalar]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Modelled:
        parameters = model(self.name).parameters
        for case in self._cases():
            unknown = [name for name in case if name not in parameters]
            if unknown:
                raise ValueError(f"cost model `{self.name}` has no `{unknown[0]}`; it takes {', '.join(parameters)}")
        return self

    def table(self) -> pd.DataFrame:
        """Evaluate the model for every case: a column for each parameter, and ``value``."""
        return pd.DataFrame([case | {"value": model(self.name)(case)} for case in self._cases()])

    def _cases(self) -> list[dict[str, Scalar]]:
        if isinstance(self.given, list):
            return self.given
        listed = {name: value if isinstance(value, list) else [value] for name, value in self.given.items()}
        return [dict(zip(listed, values, strict=True)) for values in itertools.product(*listed.values())]


def at_points(name: str, points: pd.DataFrame, costs: MissCosts) -> pd.Series[float]:
    """Evaluate a cost model of searches for the tree and the keys of each point, with a machine's costs of misses."""
    facts = [asdict(costs) | asdict(node_layout(row)) | {"keys": int(row["workload.keys"])} for row in points.to_dict("records")]
    return pd.Series([model(name)(given) for given in facts], index=points.index)
