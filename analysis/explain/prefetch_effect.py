"""What software prefetching did for a run: how its lines came, what it removed of the waits for lines, and what is left."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memwalk.analysis.causes import SLOTS_ENDED
from memwalk.analysis.experiments.results import parameter_columns
from memwalk.analysis.explain.operations import counted_operations

ISSUED, USELESS, DROPPED = "prefetches_issued", "prefetches_useless", "prefetches_dropped"
LATE, UNUSED = "prefetches_late", "prefetches_unused"
WAITS, WALKS = "slots_dcache", "slots_dtlb"


@dataclass(frozen=True)
class PrefetchEffect:
    """Prefetching in one point. All numbers are per operation; a run that does not count operations is one."""

    issued: float
    """Software prefetches; 0 if the program has none."""
    brought: float
    """Lines that they brought."""
    late: float
    """Of these, still on their way at their first use."""
    unused: float
    """Of these, gone from the first cache before any use."""
    dropped: float
    """Prefetches that brought nothing, as no TLB had the translation."""
    cycles: float
    waits: float
    """Cycles in which the oldest instruction waited for a line."""
    walks: float
    """The same for a translation."""
    without: str | None
    """The variant without prefetches that did the same, if the table has one."""
    waits_without: float
    """Its waits; 0 if there is none."""

    def sentence(self) -> str:
        """Says in one sentence what prefetching removed and what is left; for a run without prefetches, what it could remove."""
        share = self.waits / self.cycles if self.cycles else 0.0
        left = f"{self.waits:,.1f} of {self.cycles:,.1f} cycles ({share:.0%})"
        if not self.issued:
            walks = f", and page walks ({self.walks:,.1f}) where prefetches do them" if self.walks else ""
            return f"Nothing is prefetched by the program: waits for lines take {left}. Prefetching can remove these{walks}."
        came = self._came()
        if self.without is None:
            return f"{came}; waits for lines take {left}."
        gone = 1 - self.waits / self.waits_without if self.waits_without else 0.0
        change = (
            f"{gone:.0%} of {self.without}'s waits for lines are gone"
            if gone >= 0
            else f"waits are {-gone:.0%} longer than {self.without}'s"
        )
        return f"{came}; {change}, and what is left takes {left}."

    def _came(self) -> str:
        """Says how many lines came, and which prefetches were in vain."""
        if not self.brought:
            dropped = f", {self.dropped:,.2f} are dropped on TLB misses" if self.dropped else ""
            return f"None of {self.issued:,.2f} prefetches brings a line{dropped}"
        late, unused = (f"{count / self.brought:.1%}" for count in (self.late, self.unused))
        dropped = f", and {self.dropped:,.2f} more are dropped on TLB misses" if self.dropped else ""
        return f"Prefetches bring {self.brought:,.2f} lines, of which {late} come late and {unused} leave unused{dropped}"


def prefetch_effect(row: Mapping[Any, Any], results: pd.DataFrame) -> PrefetchEffect | None:
    """Find out what prefetching did for a point: a row of a result table; None if its table does not tell.

    It is compared with the variant without prefetches, if there is exactly one that has a point of the same experiment, and of the
    same values of everything that varies within variants.
    """
    if any(_missing(row, name) for name in (ISSUED, LATE, UNUSED, WAITS, WALKS, "slots_total", "cycles")):
        return None
    other = _without(row, results)
    return PrefetchEffect(
        issued=_per_operation(row, row[ISSUED]),
        brought=_per_operation(row, row[ISSUED] - row[USELESS] - row[DROPPED]),
        late=_per_operation(row, row[LATE]),
        unused=_per_operation(row, row[UNUSED]),
        dropped=_per_operation(row, row[DROPPED]),
        cycles=_per_operation(row, row["cycles"]),
        waits=_waits(row, WAITS),
        walks=_waits(row, WALKS),
        without=None if other is None else str(other["variant"]),
        waits_without=0.0 if other is None else _waits(other, WAITS),
    )


def _without(row: Mapping[Any, Any], results: pd.DataFrame) -> Mapping[Any, Any] | None:
    """Find the point without prefetches to compare with."""
    if not row[ISSUED]:
        return None
    names = parameter_columns(results)
    swept = [name for name in names if (results.groupby("variant")[name].nunique(dropna=False) > 1).any()]
    same = results[(results["experiment"] == row["experiment"]) & (results[ISSUED] == 0)]
    for name in swept:
        value = row[name]
        same = same[same[name].isna() if pd.isna(value) else same[name] == value]
    return same.iloc[0].to_dict() if len(same) == 1 else None


def _waits(row: Mapping[Any, Any], cause: str) -> float:
    ended = 0 if _missing(row, SLOTS_ENDED) else row[SLOTS_ENDED]
    return _per_operation(row, row["cycles"] * row[cause] / (row["slots_total"] + ended))


def _per_operation(row: Mapping[Any, Any], count: float) -> float:
    return float(count / (counted_operations(row) or 1))


def _missing(row: Mapping[Any, Any], name: str) -> bool:
    return name not in row or bool(pd.isna(row[name]))
