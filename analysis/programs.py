"""Result columns of programs that run side by side: taken apart by program."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from memwalk.analysis.storage_workloads.together import PROGRAMS

_BEFORE, _BEHIND = f"workload.{PROGRAMS}.", ".kernel"
"""What stands before and behind a program's name where a row says its kernel."""


def program_names(row: Mapping[Any, Any]) -> list[str]:
    """List the programs of a row of a result table; none if it has one workload."""
    kernels = [str(name) for name, value in row.items() if str(name).startswith(_BEFORE) and not pd.isna(value)]
    return [name.removeprefix(_BEFORE).removesuffix(_BEHIND) for name in kernels if name.endswith(_BEHIND) and name.count(".") == 3]


def by_program(row: Mapping[Any, Any]) -> dict[str, dict[str, Any]]:
    """Return what a row says of each program, by column; empty if it has one workload."""
    return {
        name: {str(column).removeprefix(f"{name}."): value for column, value in row.items() if str(column).startswith(f"{name}.")}
        for name in program_names(row)
    }
