"""How a claim's number is measured: small declarative expressions over the result table, or a cost model.

Each expression gives one number for every place of its sweep.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from statistics import fmean, stdev
from typing import Any

from pydantic import Field, model_validator

from memwalk.analysis.claims.study import MeasureError
from memwalk.analysis.claims.tables import Place, Row, Scalar, Tables, Values, Where, mean, pick
from memwalk.analysis.claims.tables import column as number
from memwalk.analysis.cost_models import model as cost_model
from memwalk.simcore.validation import StrictModel


@dataclass(frozen=True)
class Sources:
    """What claims are measured on: the results, and machines by name as plain data."""

    tables: Tables
    machine: Callable[[str], dict[str, Any]]


class Selection(StrictModel):
    """Where in the results to look: one or more panels, and a part of their sweep."""

    panel: str | list[str]
    where: Where = Field(default_factory=dict)

    @property
    def panels(self) -> list[str]:
        """Panels as a list."""
        return [self.panel] if isinstance(self.panel, str) else self.panel

    def read(self, sources: Sources, variant: str, column: str, per: str | None = None) -> Values:
        """Read a column of a series, mean over repetitions, divided by the column ``per`` if given."""
        picked = pick(sources.tables, self.panels, variant, self.where)
        return {place: mean(rows, column, per) for place, rows in picked.items()}


class Value(Selection):
    """A column, divided by the column ``per`` and multiplied by the column ``times`` if these are given."""

    variant: str
    column: str = "cycles"
    per: str | None = None
    times: str | None = None

    def values(self, sources: Sources) -> Values:
        """Read the column at every place."""
        values = self.read(sources, self.variant, self.column, self.per)
        if self.times is None:
            return values
        factors = self.read(sources, self.variant, self.times)
        return {place: value * factors[place] for place, value in values.items()}


class Percent(Selection):
    """One or more columns together, as a part of the column ``per``, in %; with ``rest``, what they leave of it."""

    variant: str
    columns: list[str] = Field(min_length=1)
    per: str
    rest: bool = False

    def values(self, sources: Sources) -> Values:
        """100 x sum of the columns / ``per``."""
        parts = [self.read(sources, self.variant, name, self.per) for name in self.columns]
        sums = {place: 100 * sum(part[place] for part in parts) for place in parts[0]}
        return {place: 100 - share for place, share in sums.items()} if self.rest else sums


class Marginal(Selection):
    """What a column grows along an axis, from each value to the next, for what the column ``per`` grows."""

    variant: str
    axis: str
    column: str
    per: str

    def values(self, sources: Sources) -> Values:
        """Change of ``column`` / change of ``per``, at the greater of the two values of the axis."""
        own, other = (lines_along(self.read(sources, self.variant, name), self.axis) for name in (self.column, self.per))
        result: Values = {}
        for rest, line in own.items():
            steps = zip(itertools.pairwise(line), itertools.pairwise(other[rest]), strict=True)
            for ((_, first), (at, last)), ((_, before), (_, after)) in steps:
                grown = _divided(last - first, after - before, f"change of {self.per} of `{self.variant}` at {self.axis} {at}")
                result[Place(rest.panel, (*rest.axes, (self.axis, at)))] = grown
        return result


class Ratio(Selection):
    """A column of the series ``over``, divided by that of ``of``, place by place: for times, the speedup of ``of``."""

    of: str | list[str]
    over: str
    column: str = "cycles"

    def values(self, sources: Sources) -> Values:
        """Divide at every place that both series have; several ``of`` series are told apart by an axis ``of``."""
        what = f"{self.column} of {self.of}"
        return _ratios(self, sources, self.column, lambda base, mine: _divided(base, mine, what))


class Gained(Ratio):
    """By how much longer the series ``over`` takes than ``of``, in %: a speedup as T(over) / T(of) - 1."""

    def values(self, sources: Sources) -> Values:
        """100 x (column of ``over`` / column of ``of`` - 1)."""
        return {place: 100 * (ratio - 1) for place, ratio in super().values(sources).items()}


class Share(Selection):
    """Part of the time of ``variant`` that goes to ``cause``, or to several together, in %."""

    variant: str
    cause: str | list[str]

    def values(self, sources: Sources) -> Values:
        """100 x slots of the causes / all slots."""
        causes = [self.cause] if isinstance(self.cause, str) else self.cause
        columns = [f"slots_{cause}" for cause in causes]
        part = Percent(panel=self.panel, where=self.where, variant=self.variant, columns=columns, per="slots_total")
        return part.values(sources)


class Reduced(Selection):
    """By how much the column of series ``of`` is below that of ``over``, in %; that of ``of`` may be zero."""

    of: str | list[str]
    over: str
    column: str

    def values(self, sources: Sources) -> Values:
        """100 x (1 - column of ``of`` / column of ``over``)."""
        what = f"{self.column} of `{self.over}`"
        left = _ratios(self, sources, self.column, lambda base, mine: _divided(mine, base, what))
        return {place: 100 * (1 - value) for place, value in left.items()}


class StallRemoved(Selection):
    """Part of the stalls of series ``over`` for ``cause`` that series ``of`` does not have, in %."""

    of: str | list[str]
    over: str
    cause: str

    def values(self, sources: Sources) -> Values:
        """100 x (1 - slots of ``of`` / slots of ``over``)."""
        column = f"slots_{self.cause}"
        reduced = Reduced(panel=self.panel, where=self.where, of=self.of, over=self.over, column=column)
        return reduced.values(sources)


class Least(Value):
    """The least value of a column in the selection."""

    def values(self, sources: Sources) -> Values:
        """One number."""
        return {Place("", ()): min(super().values(sources).values())}


class Spread(Selection):
    """Standard deviation of a column over repetitions, relative to their mean, in %."""

    variant: str
    column: str = "cycles"

    def values(self, sources: Sources) -> Values:
        """100 x sample standard deviation / mean. Raises MeasureError where there are fewer than two repetitions."""
        result: Values = {}
        for place, rows in pick(sources.tables, self.panels, self.variant, self.where).items():
            if len(rows) < 2:
                raise MeasureError(f"`{self.variant}` has one run at {place}; a spread needs two or more repetitions")
            runs = [number(row, self.column) for row in rows]
            result[place] = 100 * _divided(stdev(runs), fmean(runs), f"mean {self.column} of `{self.variant}`")
        return result


class Growth(Selection):
    """How many times a column grows along an axis, from its first to its last value."""

    variant: str
    axis: str
    column: str = "cycles"

    def values(self, sources: Sources) -> Values:
        """Last over first, for every place of the other axes."""
        own = self.read(sources, self.variant, self.column)
        result: Values = {}
        for rest, line in lines_along(own, self.axis).items():
            result[rest] = _divided(line[-1][1], line[0][1], f"{self.column} of `{self.variant}`")
        return result


class ArgMin(Selection):
    """The value of ``axis`` at which a column is least; the smaller one of equals."""

    variant: str
    axis: str
    column: str = "cycles"

    def values(self, sources: Sources) -> Values:
        """One number for the whole selection."""
        own = self.read(sources, self.variant, self.column)
        best = min(own, key=lambda place: (own[place], place.value(self.axis)))
        return {Place("", ()): float(best.value(self.axis))}


class FirstFaster(Selection):
    """The least value of ``axis`` from which on every series in ``of`` takes no longer than ``over``."""

    of: list[str]
    over: str
    axis: str
    column: str = "cycles"

    def values(self, sources: Sources) -> Values:
        """One number; infinity if ``over`` is faster to the end."""
        ratio = Ratio(panel=self.panel, where=self.where, of=self.of, over=self.over, column=self.column).values(sources)
        slower = [place.value(self.axis) for place, speedup in ratio.items() if speedup < 1]
        after = [value for value in sorted({p.value(self.axis) for p in ratio}) if not slower or value > max(slower)]
        return {Place("", ()): float(after[0]) if after else float("inf")}


class LastFaster(Selection):
    """The greatest value of ``axis`` up to which ``of`` takes at most ``times`` as long as ``over``."""

    of: str
    over: str
    axis: str
    column: str = "cycles"
    times: float = Field(1.0, gt=0)

    def values(self, sources: Sources) -> Values:
        """One number; infinity if it is so to the end, 0 if it is not so at the beginning."""
        ratio = Ratio(panel=self.panel, where=self.where, of=self.of, over=self.over, column=self.column).values(sources)
        axis = sorted({place.value(self.axis) for place in ratio})
        slower = min((place.value(self.axis) for place, speedup in ratio.items() if speedup * self.times < 1), default=None)
        before = [value for value in axis if slower is not None and value < slower]
        return {Place("", ()): float("inf") if slower is None else float(before[-1]) if before else 0.0}


class Modelled(StrictModel):
    """A cost model; a list of values of a parameter makes a sweep, and so does a list of cases.

    ``machine`` gives the parameters of its memory.
    """

    name: str
    machine: str | None = None
    given: dict[str, Scalar | list[Scalar]] | list[dict[str, Scalar]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> "Modelled":
        parameters = cost_model(self.name).parameters
        for case in self._cases().values():
            unknown = [name for name in case if name not in parameters]
            if unknown:
                raise ValueError(f"cost model `{self.name}` has no `{unknown[0]}`; it takes {', '.join(parameters)}")
        return self

    def values(self, sources: Sources) -> Values:
        """Evaluate the model at every combination of the given values."""
        facts = memory_facts(sources.machine(self.machine)) if self.machine else {}
        function = cost_model(self.name)
        return {place: function(facts | case) for place, case in self._cases().items()}

    def _cases(self) -> dict[Place, dict[str, Scalar]]:
        """Parameters by place, whose axes are the parameters that vary."""
        if isinstance(self.given, list):
            return {Place("", tuple(case.items())): case for case in self.given}
        swept = {name: value for name, value in self.given.items() if isinstance(value, list)}
        fixed = {name: value for name, value in self.given.items() if not isinstance(value, list)}
        combinations = (tuple(zip(swept, values, strict=True)) for values in itertools.product(*swept.values()))
        return {Place("", axes): fixed | dict(axes) for axes in combinations}


class Fact(StrictModel):
    """A number of a machine file, such as ``caches.0.mshrs``."""

    machine: str
    path: str

    def values(self, sources: Sources) -> Values:
        """One number."""
        try:
            found = reduce(
                lambda part, step: part[int(step)] if isinstance(part, list) else part[step],
                self.path.split("."),
                sources.machine(self.machine),
            )
        except (KeyError, IndexError, ValueError, TypeError):
            raise MeasureError(f"machine `{self.machine}` has no `{self.path}`") from None
        if not isinstance(found, int | float):
            raise MeasureError(f"`{self.path}` of machine `{self.machine}` is not a number")
        return {Place("", ()): float(found)}


class Measure(StrictModel):
    """Exactly one way of measuring; ``together`` joins the sweeps of several, ``average`` makes one number of a sweep."""

    value: Value | None = None
    percent: Percent | None = None
    marginal: Marginal | None = None
    speedup: Ratio | None = None
    gained: Gained | None = None
    share: Share | None = None
    stall_removed: StallRemoved | None = None
    reduced: Reduced | None = None
    growth: Growth | None = None
    least: Least | None = None
    spread: Spread | None = None
    argmin: ArgMin | None = None
    first_faster: FirstFaster | None = None
    last_faster: LastFaster | None = None
    model: Modelled | None = None
    fact: Fact | None = None
    together: list["Measure"] | None = None
    average: "Measure | None" = None

    @model_validator(mode="after")
    def _one(self) -> "Measure":
        if len(self.model_fields_set) != 1:
            raise ValueError(f"give exactly one of {', '.join(type(self).model_fields)}")
        return self

    def values(self, sources: Sources) -> Values:
        """Measure at every place. Raises MeasureError if the measure does not fit the results."""
        if self.together is not None:
            parts = enumerate(part.values(sources) for part in self.together)
            return {Place(place.panel, (*place.axes, ("part", number))): value for number, part in parts for place, value in part.items()}
        if self.average is not None:
            return {Place("", ()): fmean(self.average.values(sources).values())}
        (name,) = self.model_fields_set
        chosen = getattr(self, name)
        result: Values = chosen.values(sources)
        return result


def memory_facts(machine: dict[str, Any]) -> dict[str, int]:
    """Take from a machine what cost models need: T1, T_next, T_tlb in cycles, TLB entries and page size.

    Raises MeasureError for a memory whose latency is no single number.
    """
    if machine["memory"]["model"] != "fixed":
        raise MeasureError(f"cost models need one memory latency, but {machine['name']} simulates its DRAM")
    return {
        "full": machine["memory"]["latency_cycles"],
        "next": machine["memory"]["interval_cycles"],
        "tlb": machine["dtlb"]["walk_latency_cycles"],
        "entries": machine["dtlb"]["levels"][-1]["entries"],
        "page_bytes": machine["dtlb"]["page_bytes"],
    }


def tree_facts(row: Row) -> dict[str, Any]:
    """Take from a point's workload what cost models need: its tree and its keys."""
    return {
        "kind": row["workload.tree.kind"],
        "node_lines": int(row["workload.tree.node_lines"]),
        "line_words": int(row["workload.line_bytes"] // row["workload.word_bytes"]),
        "jump_pointers": row["workload.tree.jump_pointers"],
        "keys": int(row["workload.keys"]),
    }


def lines_along(values: Values, axis: str) -> dict[Place, list[tuple[Any, float]]]:
    """Arrange the values as lines along ``axis``, in ascending order of it; one line for each place of the other axes.

    Panels are put together, so that a sweep may be spread over several of them.
    """
    lines: dict[Place, list[tuple[Any, float]]] = {}
    for place, value in values.items():
        at = place.value(axis)
        if at is None:
            raise MeasureError(f"panel `{place.panel}` has no axis `{axis}`")
        rest = Place("", place.without(axis).axes)
        lines.setdefault(rest, []).append((at, value))
    return {rest: sorted(line) for rest, line in lines.items()}


def _ratios(pair: "Ratio | Reduced", sources: Sources, column: str, combine: Callable[[float, float], float]) -> Values:
    """Combine series ``over`` with every series ``of``, place by place; a list of them adds an axis ``of``."""
    base = pair.read(sources, pair.over, column)
    result: Values = {}
    for variant in [pair.of] if isinstance(pair.of, str) else pair.of:
        mine = pair.read(sources, variant, column)
        for place, value in mine.items():
            if place not in base:
                raise MeasureError(f"`{pair.over}` has no point to compare with `{variant}` at {place}")
            key = place if isinstance(pair.of, str) else Place(place.panel, (*place.axes, ("of", variant)))
            result[key] = combine(base[place], value)
    return result


def _divided(numerator: float, denominator: float, what: str) -> float:
    if denominator == 0:
        raise MeasureError(f"{what} is zero, so there is no ratio to it")
    return numerator / denominator
