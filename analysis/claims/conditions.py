"""Claims without a number: one series before another, a flat curve, a trend, steps, a model met.

A condition is judged by ratios that should be at most 1; how far they lie above it decides.
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator

from memwalk.analysis.claims.measures import Measure, Selection, Sources, lines_along, memory_facts, tree_facts
from memwalk.analysis.claims.study import MeasureError
from memwalk.analysis.claims.tables import mean, pick
from memwalk.analysis.cost_models import model as cost_model
from memwalk.simcore.validation import StrictModel

TIE = 0.03
"""Two series closer than this are equal: the tolerance of an order."""


@dataclass(frozen=True)
class Judged:
    """How a condition came out: the ratios it looked at, and whether they hold with and without the tolerance."""

    ratios: Sequence[float]
    agrees: bool
    strict: bool


def _at_most_one(ratios: Sequence[float], tie: float) -> Judged:
    return Judged(ratios, all(r <= 1 + tie for r in ratios), all(r <= 1 + min(tie, 0) for r in ratios))


def _equal(ratios: Sequence[float], tie: float, strict_tie: float) -> Judged:
    def within(tolerance: float) -> bool:
        return all(1 - tolerance <= r <= 1 + tolerance for r in ratios)

    return Judged(ratios, within(tie), within(strict_tie))


class Order(Selection):
    """Series in the order of a column at every place: ``A < B``, ``A ~ B`` (equal but for ties), or ``A << B``.

    ``<<`` asks for less than the fraction ``much`` of B.
    """

    relations: list[str] = Field(min_length=1)
    column: str = "cycles"
    much: float = 0.5
    tie: float = TIE

    @model_validator(mode="after")
    def _readable(self) -> "Order":
        for relation in self.relations:
            _parse(relation)
        return self

    def judge(self, sources: Sources) -> Judged:
        """Look at left / right at every place."""
        parts: list[Judged] = []
        for relation in self.relations:
            left, sign, right = _parse(relation)
            one = self.read(sources, left, self.column)
            other = self.read(sources, right, self.column)
            ratios = [_ratio(value, other[place]) for place, value in one.items() if place in other]
            if not ratios:
                raise MeasureError(f"`{left}` and `{right}` have no place in common")
            if sign == "~":
                parts.append(_equal(ratios, self.tie, TIE))
            else:
                bound = self.much if sign == "<<" else 1.0
                held = _at_most_one([r / bound for r in ratios], self.tie)
                parts.append(Judged(ratios, held.agrees, held.strict))
        return _all(parts)


class AlongAxis(Selection):
    """A column of each series along ``axis``: one line for every place of the other axes."""

    variants: list[str]
    axis: str
    column: str = "cycles"
    tie: float = TIE

    def lines(self, sources: Sources) -> Iterator[list[float]]:
        """Give the values of every line, in the order of the axis."""
        for variant in self.variants:
            own = self.read(sources, variant, self.column)
            for line in lines_along(own, self.axis).values():
                yield [value for _, value in line]


class Flat(AlongAxis):
    """Along ``axis``, a column of each series changes by no more than a tie."""

    def judge(self, sources: Sources) -> Judged:
        """Look at greatest / least of each line."""
        return _at_most_one([_ratio(max(line), min(line)) for line in self.lines(sources)], self.tie)


class NotDegraded(AlongAxis):
    """Along ``axis``, a column of each series never rises above its first value."""

    def judge(self, sources: Sources) -> Judged:
        """Look at every value over the first of its line."""
        ratios = [_ratio(value, line[0]) for line in self.lines(sources) for value in line[1:]]
        return _at_most_one(ratios, self.tie)


class Trend(StrictModel):
    """What is measured falls, or rises, as ``axis`` grows, from each value to the next."""

    measure: Measure
    axis: str
    direction: Literal["falling", "rising"]
    tie: float = TIE

    def judge(self, sources: Sources) -> Judged:
        """Look at each value over the one before (or, for a rise, the one after)."""
        ratios = []
        for line in lines_along(self.measure.values(sources), self.axis).values():
            for (_, earlier), (_, later) in itertools.pairwise(line):
                ratios.append(_ratio(later, earlier) if self.direction == "falling" else _ratio(earlier, later))
        return _at_most_one(ratios, self.tie)


class Steps(Selection):
    """A column along ``axis`` moves in steps where ``by`` changes, with it, and rises less than any step in between."""

    variants: list[str]
    axis: str
    by: str
    column: str = "cycles"

    def judge(self, sources: Sources) -> Judged:
        """Look at moves against a step, at falls between steps, and at rises between steps over the least step."""
        ratios: list[float] = []
        for variant in self.variants:
            rises, steps = [], []
            for change, of_by in self._changes(variant, sources):
                if of_by == 1:
                    rises.append(change)
                else:
                    steps.append(change if of_by > 1 else 1 / change)
            if not steps:
                raise MeasureError(f"`{self.by}` of `{variant}` never changes along `{self.axis}`")
            ratios += [1 / step for step in steps] + [1 / rise for rise in rises] + [r / min(steps) for r in rises]
        return _at_most_one(ratios, TIE)

    def _changes(self, variant: str, sources: Sources) -> list[tuple[float, float]]:
        def line(column: str) -> list[float]:
            own = self.read(sources, variant, column)
            (only,) = lines_along(own, self.axis).values()
            return [value for _, value in only]

        costs, heights = line(self.column), line(self.by)
        return [(costs[i + 1] / costs[i], heights[i + 1] / heights[i]) for i in range(len(costs) - 1)]


class Compared(StrictModel):
    """One measure against another, matched by axes: ``left`` at most ``times`` x ``right`` or, with ``equal``, as much.

    A ``right`` of one number goes with all places; ``number`` is such a one as it stands. A negative ``tie`` asks for more than a
    tie's difference.
    """

    left: Measure
    right: Measure | None = None
    number: float | None = None
    times: float = 1
    equal: bool = False
    tie: float = TIE

    @model_validator(mode="after")
    def _one(self) -> "Compared":
        if (self.right is None) == (self.number is None):
            raise ValueError("give exactly one of right and number")
        return self

    def judge(self, sources: Sources) -> Judged:
        """Look at left / (times x right) at every place they share."""
        one = self.left.values(sources)
        right = {place.axes: value for place, value in self.right.values(sources).items()} if self.right is not None else {}
        single = right.get((), self.number)
        ratios = [
            _ratio(value, self.times * right.get(place.axes, single or 0))
            for place, value in one.items()
            if place.axes in right or single is not None
        ]
        if not ratios:
            raise MeasureError("the two measures have no place in common")
        return _equal(ratios, self.tie, TIE) if self.equal else _at_most_one(ratios, self.tie)


class MatchesModel(Selection):
    """A column of each series is what a cost model of searches says, with each point's own tree."""

    variants: list[str]
    model: str
    machine: str
    column: str = "cycles"
    per: str | None = None
    tie: float

    @model_validator(mode="after")
    def _known(self) -> "MatchesModel":
        cost_model(self.model)
        return self

    def judge(self, sources: Sources) -> Judged:
        """Look at simulated / modelled at every place."""
        facts = memory_facts(sources.machine(self.machine))
        ratios = []
        for variant in self.variants:
            for rows in pick(sources.tables, self.panels, variant, self.where).values():
                modelled = cost_model(self.model)(facts | tree_facts(rows[0]))
                ratios.append(_ratio(mean(rows, self.column, self.per), modelled))
        return _equal(ratios, self.tie, TIE)


class Condition(StrictModel):
    """Exactly one kind of condition."""

    order: Order | None = None
    flat: Flat | None = None
    not_degraded: NotDegraded | None = None
    trend: Trend | None = None
    steps: Steps | None = None
    compared: Compared | None = None
    matches_model: MatchesModel | None = None

    @model_validator(mode="after")
    def _one(self) -> "Condition":
        if len(self.model_fields_set) != 1:
            raise ValueError(f"give exactly one of {', '.join(type(self).model_fields)}")
        return self

    def judge(self, sources: Sources) -> Judged:
        """Judges the one condition. Raises MeasureError if it does not fit the results."""
        (name,) = self.model_fields_set
        result: Judged = getattr(self, name).judge(sources)
        return result


def judge_all(conditions: Sequence[Condition], sources: Sources) -> Judged:
    """Judges conditions that must all hold."""
    return _all([condition.judge(sources) for condition in conditions])


def _all(parts: Sequence[Judged]) -> Judged:
    ratios = [ratio for part in parts for ratio in part.ratios]
    return Judged(ratios, all(part.agrees for part in parts), all(part.strict for part in parts))


def _parse(relation: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"(.+?) (<<|<|~) (.+)", relation)
    if match is None:
        raise ValueError(f"`{relation}` is not a relation; write `A < B`, `A << B` or `A ~ B`")
    return match[1], match[2], match[3]


def _ratio(numerator: float, denominator: float) -> float:
    if denominator == 0:
        return 1.0 if numerator == 0 else math.inf
    return numerator / denominator
