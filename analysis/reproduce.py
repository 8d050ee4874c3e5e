"""Reproduces figures: all their points once, then per figure the tables, plots and claims."""

import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from memwalk.analysis.claims.study import MeasureError, Study, panel
from memwalk.analysis.claims.verdict import Outcome, judge
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.manifest import COMPLETED, UNFINISHED, Identity, claim_folder, write_manifest
from memwalk.analysis.experiments.points import Row, distinct_points
from memwalk.analysis.experiments.refused import told_where_written
from memwalk.analysis.experiments.results import phase_slots, table
from memwalk.analysis.experiments.runner import Progress, finish_points, processes
from memwalk.analysis.experiments.schema import FULL_SCALE, Experiment, scale_settings
from memwalk.analysis.experiments.session import write_tables
from memwalk.analysis.experiments.store import POINTS, PointStore
from memwalk.analysis.figures.draw import draw, image
from memwalk.analysis.figures.image_kinds import IMAGES
from memwalk.analysis.figures.load import Figure
from memwalk.analysis.figures.tables import Printed, printed
from memwalk.analysis.papers import measures
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import write_atomically
from memwalk.simcore.machine import load_machine

CLAIMS = "claims.json"


@dataclass(frozen=True)
class Reproduced:
    """A figure, what its claims came to, its tables, and where its files are."""

    figure: Figure
    outcomes: list[Outcome]
    tables: list[Printed]
    folder: Path


def reproduce(
    figures: Sequence[Figure],
    scale: str,
    out: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> list[Reproduced]:
    """Run the figures' points, each once, and writes ``<out>/<figure id>/``.

    A folder gets ``claims.json`` and ``manifest.json``, and a figure with experiments ``results.parquet``,
    ``breakdown.parquet``, ``figure.png`` and ``figure.svg``. Finished points are kept in ``<out>/points``, so an
    interrupted run goes on where it was. Raises UserError for a mistake in a figure file or a folder that cannot be
    written, holds other results or has another run write into it.
    """
    started = time.monotonic()
    rows = {figure.id: figure_rows(figure, scale) for figure in figures}
    complete = {f.id: claim_folder(out / f.id, Identity.of(f.id, rows[f.id])) for f in figures}

    def note(figure: Figure, end_reason: str) -> None:
        mine = rows[figure.id]
        identity = Identity.of(figure.id, mine)
        write_manifest(out / figure.id, identity, mine, end_reason, time.monotonic() - started)

    workers = processes(jobs)
    everything = [row for mine in rows.values() for row in mine]
    store = PointStore(out / POINTS)
    with store.open() if everything else nullcontext():  # until the figures are written: those of two runs would be mixed
        with told_where_written(everything):
            statistics = finish_points(distinct_points(everything), store, workers, scheduler, progress) if everything else {}
        reproduced = []
        for figure in figures:
            folder, mine = out / figure.id, rows[figure.id]
            if not complete[figure.id]:
                note(figure, UNFINISHED)
            reproduced.append(Reproduced(figure, *_write_figure(figure, scale, folder, mine, statistics), folder))
            if not complete[figure.id]:
                note(figure, COMPLETED)
    return reproduced


def figure_rows(figure: Figure, scale: str) -> list[Row]:
    """List the rows of all panels of a figure; a panel without that scale runs as written."""
    return [row for experiment in figure.experiments for row in expand(experiment, _scale_of(experiment, scale))]


def figure_study(figure: Figure, scale: str, rows: Sequence[Row], statistics: dict[str, Statistics]) -> Study:
    """Gather what the measures of a figure's claims are given."""
    panels = {}
    if rows:
        frame = pd.concat([table(rows, statistics), phase_slots(rows, statistics)], axis="columns")
        for experiment in figure.experiments:
            panels[experiment.name] = panel(frame[frame["experiment"] == experiment.name], axes(experiment, scale))
    return Study(panels, machine_facts)


def axes(experiment: Experiment, scale: str) -> list[str]:
    """List the columns that an experiment's grid varies at a scale; repetitions are not among them."""
    settings = scale_settings(experiment, _scale_of(experiment, scale))
    added = [path for path, value in settings.data.items() if isinstance(value, list)] if settings else []
    return [path for path in dict.fromkeys([*experiment.body.grid, *added]) if path not in experiment.body.repetitions]


@cache
def machine_facts(name: str) -> dict[str, Any]:
    """Read a machine of ours as plain data."""
    return load_machine(name).native()


def claims_json(outcomes: Sequence[Outcome]) -> bytes:
    """Write the content of a ``claims.json``."""
    return (json.dumps([outcome.json() for outcome in outcomes], indent=1, allow_nan=False) + "\n").encode()


def _scale_of(experiment: Experiment, scale: str) -> str:
    return scale if experiment.has_scale(scale) else FULL_SCALE


def _write_figure(
    figure: Figure, scale: str, folder: Path, rows: list[Row], statistics: dict[str, Statistics]
) -> tuple[list[Outcome], list[Printed]]:
    study, plots = figure_study(figure, scale, rows, statistics), figure.file.plots
    functions = measures(figure.paper)
    small = scale != FULL_SCALE  # even of figures without a small scale: they are read beside those that have one
    try:
        outcomes = [judge(claim, figure.id, study, functions.get(claim.id), small=small) for claim in figure.file.claims]
        tables = printed(figure.file.tables, outcomes, study)
        drawn = draw(f"{figure.file.title}\n{figure.file.where}", plots, study) if plots else None
    except MeasureError as error:
        raise UserError(f"{figure.path}: {error}") from None
    if rows:
        write_tables(folder, rows, statistics)
    if drawn is not None:
        for kind in IMAGES:
            write_atomically(folder / f"figure.{kind}", image(drawn, kind))
    write_atomically(folder / CLAIMS, claims_json(outcomes))
    return outcomes, tables
