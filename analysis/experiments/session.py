"""A run into a results folder: points, tables, manifest; resumed or left alone if it was there before."""

import contextlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from memwalk.analysis.experiments import simulation
from memwalk.analysis.experiments.manifest import (
    BREAKDOWN,
    COMPLETED,
    CORES,
    CURVES,
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
from memwalk.analysis.experiments.refused import told_where_written
from memwalk.analysis.experiments.results import breakdown_table, cores_table, curve_table, parquet_bytes, table, usage_table
from memwalk.analysis.experiments.runner import Progress, finish_points, processes
from memwalk.analysis.experiments.store import POINTS, PointStore
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import write_atomically
from memwalk.simcore.paths import expect_path

log = logging.getLogger("memwalk")


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

    Writes ``points/<point id>.json`` as points finish, then ``results.parquet``, ``breakdown.parquet`` and ``manifest.json``; also
    ``usage.parquet`` if bytes are observed, ``curves.parquet`` if miss curves are, and ``cores.parquet`` if there are several. A folder of
    the same configuration is resumed; a complete one is left as it is.
    What other code computed, or with other files of machines and devices, is computed again.

    Raises UserError if the folder cannot be written, holds the results of another configuration or has another run write into it.
    """
    expect_path("folder", folder)
    workers = processes(jobs)
    identity = Identity.of(name, rows)
    complete = claim_folder(folder, identity)
    started = time.monotonic()

    def note(end_reason: str) -> None:
        write_manifest(folder, identity, rows, end_reason, time.monotonic() - started)

    store = PointStore(folder / POINTS)
    with store.open():  # before the manifest is written and tables are removed: they may be of a run that still goes on
        if not complete:
            note(UNFINISHED)
        try:
            with told_where_written(rows):
                statistics = finish_points(distinct_points(rows), store, workers, scheduler, progress)
            write_tables(folder, rows, statistics)
        except BaseException as error:
            with contextlib.suppress(UserError):  # the first error is the one to tell
                note(INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED)
            raise
        if not complete:
            note(COMPLETED)
    return statistics


def write_tables(folder: Path, rows: Sequence[Row], statistics: dict[str, Statistics]) -> None:
    """Write the result tables. One that is there and right is left as it is; one that is damaged is made again, with a warning."""
    makers = [(RESULTS, table), (BREAKDOWN, breakdown_table)]
    of_some = [
        (simulation.BYTE_USAGE, USAGE, usage_table),
        (simulation.CURVE, CURVES, curve_table),
        (simulation.CORES, CORES, cores_table),
    ]
    makers += [(name, make) for part, name, make in of_some if any(part in one for one in statistics.values())]
    for name, make in makers:
        path, content = folder / name, parquet_bytes(make(rows, statistics))
        if path.is_file() and path.read_bytes() == content:
            continue
        if path.exists():
            log.warning("%s: does not hold what its points give; it is made again", path)
        write_atomically(path, content)
