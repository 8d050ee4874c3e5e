"""Values of an axis that are one value, written in two ways: in two units, or with and without a default."""

import math
from collections.abc import Sequence

from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.settings import Axis
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import dotted


def refuse_equal_values(rows: Sequence[Row], axes: Sequence[Axis]) -> None:
    """Raise UserError for two values of an axis which no rows tell apart.

    ``rows`` are all of an experiment, in their order: those of one variant behind the other, the last axis fastest. What no row has as a
    parameter is left alone: it is for other rules to say what it is for.
    """
    for number, axis in enumerate(axes):
        stride = math.prod(len(other) for other in axes[number + 1 :])
        rows_of: list[list[Row]] = [[] for _ in axis]
        for at, row in enumerate(rows):
            rows_of[at // stride % len(axis)].append(row)
        first_with: dict[tuple[str, ...], Setting] = {}
        for setting, its_rows in zip(axis, rows_of, strict=True):
            first = first_with.setdefault(tuple(row.point.id for row in its_rows), setting)
            if first is not setting and _is_parameter(path := dotted(setting.route), its_rows):
                equal = f"`{first.value.data}` and `{setting.value.data}`, which are one value, so that two rows are the same"
                raise setting.value.error((), f"{path} has {equal}; keep one")


def _is_parameter(path: str, rows: Sequence[Row]) -> bool:
    """Tell whether some of the rows have it as a parameter, or something in it."""
    return any(parameter == path or parameter.startswith(f"{path}.") for row in rows for parameter in row.parameters)
