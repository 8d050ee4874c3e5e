"""Small runs for tests: their rows, their tables, and what the runner tells of them."""

from pathlib import Path
from typing import Any

from files import EXPERIMENT, write_experiment

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Point, Row
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.simcore.engines import native

TABLES = ("results.parquet", "breakdown.parquet")


def small_rows(folder: Path, experiment: str = EXPERIMENT) -> list[Row]:
    return expand(load_experiment(write_experiment(folder, experiment)), "quick")


def tables(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in TABLES]


class Recorder:
    """Notes what the runner tells."""

    def __init__(self) -> None:
        self.finished: list[str] = []
        self.missing: list[str] = []
        self.advanced: list[str] = []
        self.stopped = 0

    def start(self, finished: Any, missing: Any, estimated: Any) -> None:
        assert list(estimated) == [point.id for point in missing]
        self.finished = [point.id for point in finished]
        self.missing = [point.id for point in missing]

    def within(self, point: Point, events: int, steps: int, built: int = 0) -> None:
        assert point.id in self.missing
        assert min(events, built) >= 0 == steps

    def advance(self, point: Point, statistics: native.Statistics) -> None:
        assert statistics["cycles"] > 0
        self.advanced.append(point.id)

    def stop(self) -> None:
        self.stopped += 1
