"""Stored cycles of a small set of points: what simulation gave when it was last looked at.

A baseline names figures and a scale; its points are those of the figures at that scale. Any change of a kernel, a
machine file or the simulator shows as a difference, and is accepted with ``memwalk check --update``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from memwalk.analysis.experiments.points import Row
from memwalk.analysis.figures.load import Figure, Paper, find_figures
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import write_atomically
from memwalk.simcore.json_text import json_text
from memwalk.simcore.paths import configs
from memwalk.simcore.validation import StrictModel, validate
from memwalk.simcore.yaml_source import Sourced, load


class _File(StrictModel):
    schema_version: int = Field(ge=1, le=1)
    figures: list[str]
    scale: Literal["quick", "paper"]
    points: dict[str, Annotated[int, Field(ge=1)]]


@dataclass(frozen=True)
class Baseline:
    """Cycles by point: ``points`` has a key for every row of the figures' panels (see ``key``)."""

    path: Path
    figures: list[str]
    scale: str
    points: dict[str, int]
    source: Sourced = field(repr=False, compare=False)

    def found(self, papers: Iterable[Paper]) -> list[Figure]:
        """Find its figures. Raises UserError, with its place in the file, for one that no paper has."""
        found: list[Figure] = []
        for index, name in enumerate(self.figures):
            try:
                found += find_figures(name, papers)
            except UserError as error:
                raise self.source.error(("figures", index), str(error)) from None
        return found

    def store(self, points: dict[str, int]) -> None:
        """Replace the stored cycles. Raises UserError if the file cannot be written."""
        content = {"schema_version": 1, "figures": self.figures, "scale": self.scale, "points": points}
        write_atomically(self.path, (json_text(content, indent=1) + "\n").encode())


def load_baselines() -> list[Baseline]:
    """Read the baselines that come with memwalk. Raises UserError for a file that is not one, and if there is none."""
    folder = configs() / "baselines"
    baselines = [_load(path) for path in sorted(folder.glob("*.json"))]
    if not baselines:
        raise UserError(f"{folder}: no baseline (*.json) is here, so nothing would be compared; restore the folder")
    return baselines


def key(figure: str, row: Row, axes: Iterable[str]) -> str:
    """Names a row of a figure's panel: figure, panel, series, and its place on the panel's axes."""
    place = (f"{axis.rsplit('.', 1)[-1]}={row.parameters[axis]}" for axis in axes)
    return " / ".join([figure, row.experiment, row.variant, *place])


def _load(path: Path) -> Baseline:
    source = load(path)  # JSON is YAML, and so a mistake has a line
    file = validate(_File, source)
    if not file.figures:
        raise UserError(f"{path}: `figures` is empty; name the figures whose points are stored")
    return Baseline(path, file.figures, file.scale, file.points, source)
