"""Result columns of programs that run side by side: taken apart by program."""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from memwalk.analysis.experiments.beside import BESIDE
from memwalk.analysis.storage_workloads.oltp.compound import COMPOUND, QUERY, USERS
from memwalk.analysis.storage_workloads.together import PROGRAMS

_KERNEL = re.compile(rf"(?:workload\.{PROGRAMS}|{BESIDE})\.([^.]+)\.kernel")
"""Where a row says the kernel of a program, which is named there."""


def program_names(row: Mapping[Any, Any]) -> list[str]:
    """List the programs of a row of a result table, of `together`, `compound` or beside a machine; none if it has one workload."""
    if row.get("workload.kernel") == COMPOUND:
        return [USERS, QUERY]
    found = [_KERNEL.fullmatch(str(column)) for column, value in row.items() if not pd.isna(value)]
    return [one[1] for one in found if one is not None]


def by_program(row: Mapping[Any, Any]) -> dict[str, dict[str, Any]]:
    """Return what a row says of each program, by column; empty if it has one workload."""
    return {
        name: {str(column).removeprefix(f"{name}."): value for column, value in row.items() if str(column).startswith(f"{name}.")}
        for name in program_names(row)
    }
