"""A run into a results folder: points, tables, manifest; resumed or left alone if it was there before."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from memwalk.analysis.experiments.manifest import (
    BREAKDOWN,
    COMPLETED,
    FAILED,
    INTERRUPTED,
    RESULTS,
    UNFINISHED,
    USAGE,
    Identity,
    claim_folder,
    write_manifest,
)
from memwalk.analysis.experiments.points import Row, distinct_points
from memwalk.analysis.experiments.results import breakdown_table, parquet_bytes, table, usage_table
from memwalk.analysis.experiments.runner import Progress, run_points
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import write_atomically

POINTS = "points"


def run_rows(
    name: str,
    rows: Sequence[Row],
    folder: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Statistics]:
    """Run an experiment's rows into ``folder`` and returns the statistics by point id.

    Writes ``points/<point id>.json`` as points finish, then ``results.parquet``, ``breakdown.parquet``, ``usage.parquet``
    if bytes are observed, and ``manifest.json``. A folder of the same configuration is resumed; a complete one is left as it is.

    Raises UserError if the folder cannot be written or holds the results of another configuration.
    """
    identity = Identity.of(name, rows)
    complete = claim_folder(folder, identity)
    started = time.monotonic()

    def note(end_reason: str) -> None:
        write_manifest(folder, identity, rows, end_reason, time.monotonic() - started)

    if not complete:
        note(UNFINISHED)
    try:
        statistics = run_points(distinct_points(rows), folder / POINTS, jobs, scheduler, progress)
        write_tables(folder, rows, statistics)
    except BaseException as error:
        with contextlib.suppress(UserError):  # the first error is the one to tell
            note(INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED)
        raise
    if not complete:
        note(COMPLETED)
    return statistics


def write_tables(folder: Path, rows: Sequence[Row], statistics: dict[str, Statistics]) -> None:
    """Write the result tables that are not there yet; those that are there are never overwritten."""
    makers = [(RESULTS, table), (BREAKDOWN, breakdown_table)]
    if any(row.point.observe for row in rows):
        makers.append((USAGE, usage_table))
    for name, make in makers:
        if not (folder / name).exists():
            write_atomically(folder / name, parquet_bytes(make(rows, statistics)))
