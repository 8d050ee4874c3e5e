"""What abstract, introduction and summary say of a relation in memory, over all that section 6 varies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from memwalk.analysis.claims import Holds, Study, all_of, gained, less, reduced, rising, series, similar, stable
from memwalk.analysis.papers.pax.layouts import DSM, L2_MISSES, NSM, PAX, PROJECTED, SELECTIVITY, STALLS, TESTED, measure
from memwalk.analysis.papers.pax.relation import DEGREES

PARAMETERS = {"selection": SELECTIVITY, "projectivity": PROJECTED, "predicates": TESTED}
"""Panels in which DSM runs too, by what they vary."""
FIGURE_8 = ("projectivity", "predicates")
"""Those of them that the study shows DSM in."""


def saved(study: Study, *columns: str) -> pd.Series[float]:
    """Give what PAX saves of NSM's columns in all queries of section 6, in %."""
    panels = [study[name] for name in (*PARAMETERS, *DEGREES)]
    return pd.concat([reduced(panel, PAX, over=NSM, column=column) for panel in panels for column in columns])


@measure("pax-sum-l2-miss-and-stall")
def _(study: Study) -> pd.Series[float]:
    return saved(study, L2_MISSES, STALLS)


@measure("pax-intro-l2-miss-reduction")
def _(study: Study) -> pd.Series[float]:
    return saved(study, L2_MISSES)


@measure("pax-sum-range-update-time")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([reduced(study[name], PAX, over=NSM, column="cycles") for name in ("selection", "update")])


@measure("pax-abs-mem-resident-speedup")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([gained(study[name], PAX, over=NSM) for name in ("selection", "update")])


@measure("pax-intro-range-sel-time")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["selection"], PAX, over=NSM, column="cycles")


def _below_dsm(study: Study, column: str) -> Holds:
    return all_of(less(series(study[name], PAX, column), series(study[name], DSM, column)) for name in PARAMETERS)


@measure("pax-sum-dsm")
def _(study: Study) -> Holds:
    return _below_dsm(study, "cycles") & _below_dsm(study, L2_MISSES)


@measure("pax-intro-pax-faster-than-dsm")
def _(study: Study) -> Holds:
    return _below_dsm(study, "cycles")


@measure("pax-dsm-never-better")
def _(study: Study) -> Holds:
    return all_of(less(series(study[name], layout), series(study[name], DSM)) for name in FIGURE_8 for layout in (NSM, PAX))


@measure("pax-intro-dsm-linear")
def _(study: Study) -> Holds:
    return all_of(linear(series(study[name], DSM), along) & stable(series(study[name], PAX), along) for name, along in PARAMETERS.items())


def linear(values: pd.Series[float], along: str) -> Holds:
    """Along the axis the values rise, and are similar to those of the straight line that fits them best."""
    at = values.index.to_numpy(float)
    slope, start = np.polyfit(at, values.to_numpy(), 1)
    return rising(values, along) & similar(values, pd.Series(start + slope * at, index=values.index))
