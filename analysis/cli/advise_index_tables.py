"""What `memwalk advise index` prints: a table of what was ranked, or all of it as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from memwalk.analysis.cli import console

if TYPE_CHECKING:
    from memwalk.analysis.advice.indexes.rank import IndexAdvice
    from memwalk.analysis.advice.indexes.task import IndexTask

_COLUMNS = [
    "index",
    "page KB",
    "simulated us",
    "operations/s",
    "predicted us",
    "page reads",
    "predicted",
    "processor us",
    "pages",
    "in memory %",
]


def print_ranked(task: IndexTask, ranked: Sequence[IndexAdvice], reasons: Sequence[str]) -> None:
    """Print a row for each index and page size, and below the table the reasons."""
    from memwalk.simcore.units import in_units

    popular = f" (skew {task.skew:g})" if task.skew else ""
    of = f"{task.keys:,} keys of {task.key_bytes} bytes{popular} with {in_units(task.memory_bytes)} of memory"
    name = task.machine["name"]
    where = f"{task.cores} cores of {name}" if task.cores > 1 else name
    console.print_table(f"An operation on an index of {of}, on {where} with {task.device.name}", _COLUMNS, [_row(one) for one in ranked])
    for reason in reasons:
        typer.echo(reason)


def tree(task: IndexTask, ranked: Sequence[IndexAdvice], reasons: Sequence[str]) -> dict[str, Any]:
    """Return what was asked, what was found, and the reasons."""
    return {
        "machine": task.machine["name"],
        "storage": task.device.name,
        "keys": task.keys,
        "memory_bytes": task.memory_bytes,
        "key_bytes": task.key_bytes,
        "page_sizes": list(task.page_sizes),
        "scan_range": task.scan_range if task.mix["scan"] else None,
        "sample": task.sample,
        "cores": task.cores,
        "optimistic": task.optimistic,
        "skew": task.skew,
        "mix": dict(task.mix),
        "simulated": {"keys": task.simulated_keys},
        "indexes": [asdict(one) for one in ranked],
        "reasons": list(reasons),
    }


def _row(one: IndexAdvice) -> list[Any]:
    return [
        one.index,
        one.page_bytes >> 10,
        one.simulated_seconds * 1e6,
        one.operations_per_second,
        one.predicted_seconds * 1e6,
        one.simulated_page_reads,
        one.predicted_page_reads,
        one.processor_seconds * 1e6,
        one.pages,
        100 * one.held,
    ]
