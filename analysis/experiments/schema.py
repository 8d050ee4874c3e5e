"""The experiment file: machines x workload x variants x grid x repetitions."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema, field_validator, model_validator

from memwalk.analysis.experiments import beside, resolve
from memwalk.analysis.experiments.simulation import Observation
from memwalk.analysis.experiments.storage import StorageSetting
from memwalk.simcore.errors import UserError
from memwalk.simcore.paths import expect_path
from memwalk.simcore.validation import StrictModel, mistake_at, nearest, validate, wrong_key
from memwalk.simcore.yaml_source import Sourced, load

FULL_SCALE = "paper"
"""The scale at which an experiment runs exactly as written."""


_ID = r"^[a-z0-9][a-z0-9.-]*$"


def _id(text: str) -> str:
    if not re.fullmatch(_ID, text):
        remedy = "write small letters, digits, dots and hyphens, a letter or digit first, such as fig-2.13"
        raise ValueError(f"`{text}` is no id; {remedy}")
    return text


Id: TypeAlias = Annotated[str, AfterValidator(_id), WithJsonSchema({"type": "string", "pattern": _ID})]
"""What an experiment, a figure or a paper is called, also as a folder of results."""


class ExperimentBody(StrictModel):
    """What an experiment varies; figure files hold these under ``experiments``."""

    title: str = ""
    machine: str | None = Field(None, description="A machine's name, or a path relative to this file; workloads on storage can do without")
    machines: list[str] | None = Field(
        None, description="Several, in place of `machine`: each variant runs on all, in one pass", min_length=1
    )
    dbms: str | None = Field(None, description="The host DBMS that the workload calls: a profile's name or path; default: none")
    storage: str | dict[str, Any] | None = Field(None, description="What pages come from: a device's name or path, or a system of devices")
    beside: dict[str, Any] | None = Field(
        None,
        description="What runs beside a workload of the machine, on its storage or on other cores of the machine, by name; default: none",
    )
    observe: list[Observation] = Field(
        [],
        description="What else to find out in the same pass: bytes (fetched against used, by site), counts (hits and misses without time), "
        "curve (misses by capacity)",
    )
    workload: dict[str, Any] = Field({}, description="Base values")
    variants: dict[str, dict[str, Any]] = Field({}, description="Named bundles of overrides: the series of a plot")
    grid: dict[str, list[Any]] = Field({}, description="Values per dotted path; cartesian product, the last path fastest")
    repetitions: dict[str, list[Any]] = Field({}, description="Like grid, but averaged in plots")
    scales: dict[str, dict[str, Any]] = Field({}, description="Overrides per scale; a list replaces a grid axis")

    @field_validator("observe")
    @classmethod
    def _each_once(cls, observe: list[Observation]) -> list[Observation]:
        for number, one in enumerate(observe):
            if one in observe[:number]:
                raise mistake_at((number,), f"`{one}` is observed anyway; name it once")
        return observe

    @field_validator("scales")
    @classmethod
    def _none_is_full(cls, scales: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        if FULL_SCALE in scales:
            remedy = "write its values there, or name the scale otherwise"
            raise wrong_key(FULL_SCALE, f"`{FULL_SCALE}` is the experiment as written; {remedy}")
        return scales

    @model_validator(mode="after")
    def _runs_on_something(self) -> "ExperimentBody":
        if self.machine is not None and self.machines is not None:
            raise ValueError("`machine` and `machines` exclude each other; put all into `machines`")
        if self.machine is None and self.machines is None and self.storage is None:
            raise ValueError("`machine` is missing; only workloads on storage can do without, and they need `storage`")
        return self


class ExperimentFile(ExperimentBody):
    """An experiment in a file of its own."""

    schema_version: Literal[1]
    id: Id


@dataclass(frozen=True)
class Experiment:
    """A checked experiment, with the text it came from. ``name`` is its id, or the panel of a figure."""

    name: str
    body: ExperimentBody
    source: Sourced
    folder: Path
    """Where relative paths of machines and DBMS profiles start."""

    def has_scale(self, scale: str) -> bool:
        """Says whether ``expand`` takes this scale."""
        return scale == FULL_SCALE or scale in self.body.scales


def load_experiment(path: Path) -> Experiment:
    """Read an experiment file. Raises UserError, one line per mistake, with file, line and column."""
    expect_path("path", path)
    source = load(path)
    file = validate(ExperimentFile, source)
    return Experiment(file.id, file, source, path.parent)


def panel_experiment(source: Sourced, name: str, folder: Path) -> Experiment:
    """Take an experiment out of a figure file: ``source`` is the part below ``experiments.<name>``."""
    return Experiment(name, validate(ExperimentBody, source), source, folder)


def scale_settings(experiment: Experiment, scale: str) -> Sourced | None:
    """Return the overrides of a scale; None for an experiment as written. Raises UserError for an unknown scale."""
    if scale in experiment.body.scales:
        return experiment.source.below(("scales", scale))
    if scale == FULL_SCALE:
        return None
    remedy = nearest(scale, [*experiment.body.scales, FULL_SCALE])
    raise UserError(f"{experiment.source.spot(()).value}: {experiment.name} has no scale `{scale}`; {remedy}")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an experiment file, for editors.

    The base workload may leave values to variants and grid, so nothing in it is required.
    """
    schema = ExperimentFile.model_json_schema()
    workload, programs = resolve.ADAPTER.json_schema(ref_template="#/$defs/{model}"), beside.json_schema()
    storage = StorageSetting.model_json_schema()
    definitions = workload.pop("$defs") | programs.pop("$defs") | {"StorageSetting": storage}
    for definition in definitions.values():
        if definition is storage or "kernel" in definition["properties"]:
            definition.pop("required", None)
    schema["$defs"] = schema.get("$defs", {}) | definitions
    schema["properties"]["workload"] = {"anyOf": workload["oneOf"], "description": "Base values"}
    said = schema["properties"][beside.BESIDE]["description"]
    schema["properties"][beside.BESIDE] = {"anyOf": [programs, {"type": "null"}], "description": said}
    name = {"type": "string", "description": "A device's name, or a path relative to this file"}
    schema["properties"]["storage"] = {"anyOf": [name, {"$ref": "#/$defs/StorageSetting"}]}
    return schema
