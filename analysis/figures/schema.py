"""The files of a paper: one per figure or table, and one with what the figures share."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from memwalk.analysis.claims.claim import Claim
from memwalk.analysis.experiments.schema import Id
from memwalk.analysis.figures.modelled import Modelled, Scalar
from memwalk.analysis.figures.selection import Where
from memwalk.simcore.units import Real
from memwalk.simcore.validation import StrictModel


class Curve(StrictModel):
    """What a cost model says about the points of a series, drawn as a dashed curve in the series' colour."""

    label: str
    series: str
    model: str
    machine: str


class Lines(StrictModel):
    """Curves of a column against an axis: one per series, and per value of any other open axis."""

    kind: Literal["lines"]
    title: str
    panel: str | list[str]
    series: list[str] = Field(default_factory=list, description="All series of the panels if absent")
    where: Where = Field(default_factory=dict)
    x: str
    y: str = "cycles"
    per: str | None = Field(None, description="Column to divide by")
    percent: bool = False
    normalize_to: str | None = Field(None, description="Series that is 100%")
    log: list[Literal["x", "y"]] = Field(default_factory=list)
    zeros: bool = Field(False, description="Whether some values are 0: a logarithmic y axis is then linear near 0")
    curves: list[Curve] = Field(default_factory=list)

    @model_validator(mode="after")
    def _zeros_on_a_logarithmic_axis(self) -> "Lines":
        if self.zeros and "y" not in self.log:
            raise ValueError("zeros is for a logarithmic y axis, and log has no y; remove it")
        return self


class Bars(StrictModel):
    """Bars of a column side by side, one per series, for each value of the axis ``x`` in the order of the sweep."""

    kind: Literal["bars"]
    title: str
    panel: str
    series: list[str]
    where: Where = Field(default_factory=dict)
    x: str
    y: str
    log: list[Literal["y"]] = Field(default_factory=list)


class Breakdown(StrictModel):
    """Stacked bars, one per series: where the graduation slots go."""

    kind: Literal["breakdown"]
    title: str
    panel: str
    where: Where = Field(default_factory=dict)
    series: list[str]
    normalize_to: str


class ModelLines(StrictModel):
    """What a cost model says along ``x``: a curve per value of ``along``. No simulation."""

    kind: Literal["model-lines"]
    title: str
    model: Modelled
    x: str
    along: str
    y: str = Field(description="Label")
    scale: Real = Field(1.0, description="What the model's numbers are multiplied by")
    log: list[Literal["x", "y"]] = Field(default_factory=list)


class ModelStack(StrictModel):
    """Stacked bars, one per value of ``along``: parts of a cost, each by its cost model. No simulation."""

    kind: Literal["model-stack"]
    title: str
    parts: dict[str, str] = Field(description="Cost model by label, from the bottom up")
    given: dict[str, Scalar | list[Scalar]]
    along: str
    y: str = Field(description="Label")
    scale: Real = 1.0

    @property
    def modelled(self) -> dict[str, Modelled]:
        """The parts as measures, by label."""
        return {label: Modelled(name=name, given=self.given) for label, name in self.parts.items()}

    @model_validator(mode="after")
    def _known(self) -> "ModelStack":
        self.modelled  # noqa: B018 (refuses an unknown model or parameter)
        return self


class Stack(StrictModel):
    """Stacked bars, one per series: columns of the results on top of each other."""

    kind: Literal["stack"]
    title: str
    panel: str
    where: Where = Field(default_factory=dict)
    series: list[str]
    parts: dict[str, str] = Field(description="Column by label, from the bottom up")
    y: str = Field(description="Label")


Plot: TypeAlias = Annotated[Lines | Bars | Breakdown | ModelLines | ModelStack | Stack, Field(discriminator="kind")]


class ClaimTable(StrictModel):
    """A table of the paper whose cells are claims: what was simulated beside what is published."""

    kind: Literal["claims"]
    title: str
    note: str = Field("", description="How to read it; printed below")
    columns: list[str] = Field(description="Headings")
    rows: dict[str, list[str]] = Field(description="Claims by row, one for each column")


class PlacementTable(StrictModel):
    """Parts placed on numbered places, a row per part: two sets of result columns ``<prefix>.<part>.<place>``, beside each other."""

    kind: Literal["placement"]
    title: str
    note: str = Field("", description="How to read it; printed below")
    panel: str
    variant: str
    part: str = Field(description="What a row is, as a heading")
    simulated: str = Field(description="Prefix of the simulated columns")
    published: str = Field(description="Prefix of the published ones")


PrintedTable: TypeAlias = Annotated[ClaimTable | PlacementTable, Field(discriminator="kind")]


class FigureFile(StrictModel):
    """A figure or table of a paper: what is run, drawn and claimed."""

    schema_version: Literal[1]
    id: Id
    title: str
    where: str
    note: str | None = None
    needs: str | None = Field(None, description="What would be needed to simulate it, if it is not simulated")
    experiments: dict[str, dict[str, Any]] = Field(default_factory=dict)
    plots: list[Plot] = Field(default_factory=list)
    tables: list[PrintedTable] = Field(default_factory=list, description="Printed by `memwalk reproduce`")
    claims: list[Claim] = Field(default_factory=list)


class PaperFile(StrictModel):
    """What the figures of a paper share: parts of experiments by name, laid over each other by ``base``."""

    schema_version: Literal[1]
    id: Id
    title: str
    source: str
    bases: dict[str, dict[str, Any]] = Field(default_factory=dict)
