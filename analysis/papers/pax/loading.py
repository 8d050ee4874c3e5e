"""Loading the TPC-H database: Figure 11 and Table 2."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, falling, flat, gained, growth, less, much_less, ratio, series, similar
from memwalk.analysis.papers.pax.layouts import DSM, NSM, PAX, SIZE, THRESHOLD, at, measure


def exhaustive(study: Study) -> pd.DataFrame:
    """Give loads that reorganize a page whenever a record fits it."""
    return at(study["thresholds"], THRESHOLD, 0.0)


def per_page(panel: pd.DataFrame) -> pd.Series[float]:
    """Count reorganizations of PAX pages."""
    return series(panel, PAX, "reorganizations", per="pages")


def penalty(panel: pd.DataFrame) -> pd.Series[float]:
    """By how much loading takes PAX longer than NSM, in %."""
    return gained(panel, NSM, over=PAX, column="seconds")


def times(panel: pd.DataFrame) -> pd.Series[float]:
    """PAX's time of loading over NSM's."""
    return ratio(series(panel, PAX, "seconds"), series(panel, NSM, "seconds"))


@measure("pax-load-dsm")
def _(study: Study) -> Holds:
    nsm, pax, dsm = (series(study["load"], layout, "seconds") for layout in (NSM, PAX, DSM))
    return less(nsm, pax) & much_less(pax, dsm) & much_less(nsm, dsm)


@measure("pax-load-page-fill")
def _(study: Study) -> pd.Series[float]:
    return series(exhaustive(study), PAX, "fill_at_first_percent")


@measure("pax-table2-reorgs-0", "pax-load-reorgs-text")
def _(study: Study) -> pd.Series[float]:
    return per_page(exhaustive(study))


@measure("pax-load-reorgs-last-record")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(exhaustive(study), PAX, "reorganizations_for_last_record", per="reorganizations")


@measure("pax-load-reorg-5pct-half")
def _(study: Study) -> pd.Series[float]:
    thresholds = study["thresholds"]
    return growth(per_page(thresholds[thresholds[THRESHOLD] <= 0.05]), along=THRESHOLD)


@measure("pax-table2-reorgs-10", "pax-load-reorg-10pct-text")
def _(study: Study) -> pd.Series[float]:
    return per_page(at(study["thresholds"], THRESHOLD, 0.1))


@measure("pax-table2-reorgs-5")
def _(study: Study) -> pd.Series[float]:
    return per_page(at(study["thresholds"], THRESHOLD, 0.05))


@measure("pax-load-penalty-max")
def _(study: Study) -> float:
    return float(penalty(study["load"]).max())


@measure("pax-table2-penalty-0")
def _(study: Study) -> pd.Series[float]:
    return penalty(exhaustive(study))


@measure("pax-table2-penalty-5")
def _(study: Study) -> pd.Series[float]:
    return penalty(at(study["thresholds"], THRESHOLD, 0.05))


@measure("pax-table2-penalty-10")
def _(study: Study) -> pd.Series[float]:
    return penalty(at(study["thresholds"], THRESHOLD, 0.1))


@measure("pax-load-penalty-size-independent")
def _(study: Study) -> Holds:
    by_threshold = times(study["thresholds"])
    return falling(by_threshold, along=THRESHOLD) & similar(by_threshold.iloc[-1], 1.0) & flat(times(study["load"]), along=SIZE)
