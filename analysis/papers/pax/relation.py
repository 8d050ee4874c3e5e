"""One relation in memory: sections 2.2 and 3.3, Figures 7 to 10, point queries."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    all_of,
    falling,
    growth,
    less,
    marginal,
    much_less,
    never_rising,
    ratio,
    reduced,
    rising,
    series,
    share,
    similar,
    speedup,
    stable,
)
from memwalk.analysis.papers.pax.layouts import (
    DEGREE,
    DSM,
    L1_MISSES,
    L2_MISSES,
    MEMORY_STALLS,
    NSM,
    PAX,
    PROJECTED,
    SELECTIVITY,
    STALLS,
    TESTED,
    at,
    measure,
    per_record,
    risen,
)

DEGREES = ("degree-2", "degree-4", "degree-8", "degree-16", "degree-32", "degree-64")


def one_percent(study: Study) -> pd.DataFrame:
    """Give Figure 7's selection of 1%."""
    return at(study["selection"], SELECTIVITY, 0.01)


# Sections 2.2, 3.3 and 6.2: DSM for few of sixteen attributes, and for more


@measure("pax-dsm-crossover-fraction-6-2")
def _(study: Study) -> Holds:
    return _crossover(study, NSM, PAX)


@measure("pax-dsm-crossover-fraction")
def _(study: Study) -> Holds:
    return _crossover(study, NSM)


def _crossover(study: Study, *layouts: str) -> Holds:
    """DSM is faster for less than a tenth of the attributes, and slower for more."""
    narrow = study["narrow"]
    few = narrow[narrow[PROJECTED] < narrow[DEGREE] / 10]
    more = narrow[narrow[PROJECTED] > narrow[DEGREE] / 10]
    good = all_of(less(series(few, DSM), series(few, layout)) for layout in layouts)
    return good & all_of(less(series(more, layout), series(more, DSM)) for layout in layouts)


@measure("pax-table1-locality")
def _(study: Study) -> Holds:
    one = at(study["narrow"], PROJECTED, 1)
    shared = all_of(less(per_record(one, layout, L2_MISSES), 1.0) for layout in (PAX, DSM))
    return shared & less(1.0, per_record(one, NSM, L2_MISSES))


@measure("pax-table1-reconstruction")
def _(study: Study) -> Holds:
    nsm, pax, dsm = (risen(per_record(study["narrow"], layout), PROJECTED) for layout in (NSM, PAX, DSM))
    return much_less(nsm, dsm) & much_less(pax, dsm)


# Figure 7: stalls, and where time goes


@measure("pax-nsm-pred-miss")
def _(study: Study) -> pd.Series[float]:
    return per_record(study["testing"], NSM, L2_MISSES)


@measure("pax-pax-pred-miss")
def _(study: Study) -> pd.Series[float]:
    return series(study["testing"], PAX, "records", per=L2_MISSES)


@measure("pax-l2-miss-saving")
def _(study: Study) -> pd.Series[float]:
    return reduced(study["testing"], PAX, over=NSM, column=L2_MISSES)


@measure("pax-miss-factor-4")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["testing"], PAX, over=NSM, column=L2_MISSES)


@measure("pax-l2-penalty-reduction")
def _(study: Study) -> pd.Series[float]:
    return reduced(one_percent(study), PAX, over=NSM, column=MEMORY_STALLS)


@measure("pax-stall-reduction", "pax-abs-stall-saving")
def _(study: Study) -> pd.Series[float]:
    return reduced(one_percent(study), PAX, over=NSM, column=STALLS)


@measure("pax-mem-share-nsm")
def _(study: Study) -> pd.Series[float]:
    return share(one_percent(study), NSM, "dcache", "icache", "dtlb")


@measure("pax-mem-share-pax")
def _(study: Study) -> pd.Series[float]:
    return share(one_percent(study), PAX, "dcache", "icache", "dtlb")


@measure("pax-both-levels")
def _(study: Study) -> Holds:
    columns = (L1_MISSES, L2_MISSES, MEMORY_STALLS)
    return all_of(less(series(study["selection"], PAX, column), series(study["selection"], NSM, column)) for column in columns)


@measure("pax-l2-inst-misses")
def _(study: Study) -> Holds:
    return less(series(study["selection"], PAX, "L2_code_misses"), series(study["selection"], NSM, "L2_code_misses"))


@measure("pax-comp-time")
def _(study: Study) -> Holds:
    return less(series(one_percent(study), PAX, "slots_busy"), series(one_percent(study), NSM, "slots_busy"))


@measure("pax-retire3-nsm")
def _(study: Study) -> pd.Series[float]:
    return 100 * series(one_percent(study), NSM, "retired_3", per="cycles")


@measure("pax-retire01-nsm")
def _(study: Study) -> pd.Series[float]:
    none, one = (series(one_percent(study), NSM, column, per="cycles") for column in ("retired_0", "retired_1"))
    return 100 * (none + one)


# Figure 8: attributes projected and tested


@measure("pax-fig8-converge")
def _(study: Study) -> Holds:
    return falling(speedup(study["projectivity"], PAX, over=NSM), along=PROJECTED)


@measure("pax-fig8-pax-faster-all")
def _(study: Study) -> Holds:
    return less(series(study["projectivity"], PAX), series(study["projectivity"], NSM))


@measure("pax-fig8-predicates")
def _(study: Study) -> Holds:
    return less(series(study["predicates"], PAX), series(study["predicates"], NSM))


@measure("pax-fig8-dsm-factor")
def _(study: Study) -> pd.Series[float]:
    most = [at(study["projectivity"], PROJECTED, 7), at(study["predicates"], TESTED, 7)]
    return pd.concat([speedup(panel, [NSM, PAX], over=DSM) for panel in most])


@measure("pax-dsm-deteriorates")
def _(study: Study) -> Holds:
    def judged(panel: pd.DataFrame, along: str) -> Holds:
        dsm = series(panel, DSM)
        rapidly = rising(dsm, along) & much_less(1.0, growth(dsm, along))
        return rapidly & all_of(stable(series(panel, layout), along) for layout in (NSM, PAX))

    return judged(study["projectivity"], PROJECTED) & judged(study["predicates"], TESTED)


@measure("pax-dsm-join-time")
def _(study: Study) -> Holds:
    joining = series(study["projectivity"], DSM) - series(study["projectivity"], PAX)
    return rising(joining, along=PROJECTED)


# Figure 9: selectivity


def further_misses(study: Study, layout: str) -> pd.Series[float]:
    """Count further second-level data misses per further record that qualifies, from each selectivity to the next."""
    selection = study["selection"]
    return marginal(series(selection, layout, L2_MISSES), series(selection, layout, "returned"), along=SELECTIVITY)


@measure("pax-fig9-insensitive")
def _(study: Study) -> Holds:
    nsm, pax = (per_record(study["selection"], layout, L2_MISSES) for layout in (NSM, PAX))
    return stable(pax, SELECTIVITY) & rising(nsm, SELECTIVITY) & much_less(risen(pax, SELECTIVITY), risen(nsm, SELECTIVITY))


@measure("pax-fig9-nsm-extra-miss")
def _(study: Study) -> pd.Series[float]:
    return further_misses(study, NSM)


@measure("pax-fig9-pax-decreasing")
def _(study: Study) -> Holds:
    return falling(further_misses(study, PAX), along=SELECTIVITY)


# Figure 10: attributes of the relation


@measure("pax-fig10-converge")
def _(study: Study) -> Holds:
    degrees, widest = study.joined(*DEGREES), study["degree-64"]
    faster = less(series(degrees, PAX), series(degrees, NSM)) & never_rising(speedup(degrees, PAX, over=NSM), along=DEGREE)
    end = similar(series(widest, PAX), series(widest, NSM))
    return faster & end & less(series(widest, PAX, L2_MISSES), series(widest, NSM, L2_MISSES))


# Section 7.5: point queries


@measure("pax-point-query")
def _(study: Study) -> pd.Series[float]:
    return ratio(series(study["point"], PAX), series(study["point"], NSM))


@measure("pax-point-query-misses")
def _(study: Study) -> Holds:
    nsm, pax = (series(study["point"], layout, L2_MISSES, per="operations") for layout in (NSM, PAX))
    attributes = nsm.index.max() - nsm.index.min()
    return less(nsm.iloc[-1:], pax.iloc[-1:]) & similar(risen(pax, PROJECTED), float(attributes))
