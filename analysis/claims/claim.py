"""A published statement as a figure file has it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from memwalk.analysis.claims.rule import Published, RangeKind
from memwalk.simcore.validation import StrictModel

Platform: TypeAlias = Literal["analytic", "simulation", "itanium2", "pentium2-xeon", "ultrasparc-iii", "prototype", "disk", "mems"]

ClaimClass: TypeAlias = Annotated[
    Literal["result", "order", "arithmetic", "input", "calibration"],
    Field(
        description="result: measured by the authors, simulated here. order: an order, shape or crossover that they measured. "
        "arithmetic: equations, sizes, counts of a deterministic algorithm. input: a setting read back, or a definition. "
        "calibration: a number was chosen so that it holds."
    ),
]

HEADLINE: tuple[ClaimClass, ...] = ("result", "order")
"""The classes that the headline counts."""


class Claim(StrictModel):
    """A published statement; the function that measures it has its id (`memwalk.analysis.papers`)."""

    id: str
    class_: ClaimClass = Field(alias="class")
    where: str
    platform: Platform
    metric: str = Field(description="What is measured and how, in our words")
    unit: str | None = None
    published: Published | Literal["unknown"] | None = Field(
        None, description="The range; `unknown` if it cannot be read; nothing for a statement without a number"
    )
    range: RangeKind = Field("sweep", description="`loose` if no sweep produced the range: to lie inside is enough then")
    needs: str | None = Field(None, description="What would be needed to simulate it, if it is not simulated")
    repeats: str | list[str] = Field(default_factory=list, description="What says the same, or implies it: shown and not counted")
    calibrates: str | None = Field(None, description="The numbers that were chosen so that it holds (class calibration)")
    deviation: str | None = Field(None, description="Paragraph of docs/fidelity.md about a miss")
    note: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Claim:
        if (self.class_ == "calibration") != (self.calibrates is not None):
            raise ValueError("`calibrates` goes with `class: calibration`, and says which numbers were chosen")
        if self.range == "loose" and (not isinstance(self.published, Published) or self.published.low == self.published.high):
            raise ValueError("`range: loose` goes with a published range of two ends, or one that is open")
        return self

    @property
    def repeated(self) -> list[str]:
        """The claims that this one repeats."""
        return [self.repeats] if isinstance(self.repeats, str) else self.repeats
