"""Values of an axis that rows do not tell apart: one value, written in two ways, or two files of one name."""

import math
from collections.abc import Sequence

from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.settings import Axis
from memwalk.analysis.experiments.storage import STORAGE
from memwalk.simcore.dbms import PART
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import dotted

_OF_FILES = ("machine", PART, STORAGE)
"""Roots of paths whose values may name files, of which a row has the names."""


def refuse_equal_values(rows: Sequence[Row], axes: Sequence[Axis]) -> None:
    """Raise UserError for two values of an axis which no rows tell apart, or of which no parameter of theirs says which one it is.

    ``rows`` are all of an experiment, in their order: those of one variant behind the other, the last axis fastest. What no row has as a
    parameter is left alone: it is for other rules to say what it is for.
    """
    shown = [repr(row.parameters) for row in rows]
    for number, axis in enumerate(axes):
        stride = math.prod(len(other) for other in axes[number + 1 :])
        rows_of: list[list[Row]] = [[] for _ in axis]
        shown_of: list[list[str]] = [[] for _ in axis]
        for at, row in enumerate(rows):
            rows_of[at // stride % len(axis)].append(row)
            shown_of[at // stride % len(axis)].append(shown[at])
        first_with: dict[tuple[str, ...], Setting] = {}
        first_shown: dict[tuple[str, ...], Setting] = {}
        for setting, its_rows, its_shown in zip(axis, rows_of, shown_of, strict=True):
            first = first_with.setdefault(tuple(row.point.id for row in its_rows), setting)
            if first is not setting and _is_parameter(path := dotted(setting.route), its_rows):
                equal = f"`{first.value.data}` and `{setting.value.data}`, which are one value, so that two rows are the same"
                raise setting.value.error((), f"{path} has {equal}; keep one")
            alike = first_shown.setdefault(tuple(its_shown), setting)
            if alike is not first and setting.route[0] in _OF_FILES:
                values = f"`{alike.value.data}` and `{setting.value.data}`, whose rows nobody could tell apart"
                remedy = "results say a file's name without its folder; give one another name"
                raise setting.value.error((), f"{dotted(setting.route)} has {values}: {remedy}")


def _is_parameter(path: str, rows: Sequence[Row]) -> bool:
    """Tell whether some of the rows have it as a parameter, or something in it."""
    return any(parameter == path or parameter.startswith(f"{path}.") for row in rows for parameter in row.parameters)
