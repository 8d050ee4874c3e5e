"""Published claims, how each is measured, and whether it holds.

A claim stands in a figure file, ``configs/papers/<paper>/<figure>.yaml``: what was published, where, of which class. Its measure
is a function of the same id in ``memwalk/analysis/papers/<paper>.py``. It is given a `Study`, the result tables of the figure's
panels, and returns a number, a pandas Series of numbers over a sweep, or, for a statement without a number, `Holds`::

    measure = Measures()

    # class: result, unit: x, published: {low: 1.43, high: 1.64}
    # A number: the Series has one value per place of the sweep; its least and greatest are compared with the two ends.
    @measure("bt-fig2.13a-pb-over-b-cold")
    def _(study: Study) -> pd.Series[float]:
        return speedup(study["cold"], "p8B+", over="B+")

    # The same in full. A panel is a tidy DataFrame, `series` reads a column of one variant, and pandas aligns by the axes.
    @measure("bt-fig2.13a-pb-over-b-cold")
    def _(study: Study) -> pd.Series[float]:
        cold = study["cold"]
        return series(cold, "B+") / series(cold, "p8B+")

    # A part of a sweep: plain pandas, here scans of at least 1000 tupleIDs.
    @measure("bt-fig2.17a-wide-scan-speedup")
    def _(study: Study) -> pd.Series[float]:
        scans = study["range"]
        return speedup(scans[scans["workload.range"] >= 1000], "p8B+", over="B+")

    # class: order, no `published`: a statement, which holds at every place or not at all.
    @measure("bt-fig2.13-order")
    def _(study: Study) -> Holds:
        pairs = [("CSB+", "B+"), ("p8B+", "B+"), ("p5CSB+", "CSB+")]
        return all_of(less(series(study[name], a), series(study[name], b)) for name in ("cold", "warm") for a, b in pairs)

    # class: arithmetic. Cost models are plain functions of memwalk.analysis.cost_models; machines come from the study.
    @measure("bt-wopt-analytic-sim")
    def _(study: Study) -> float:
        return optimal_width("b+", keys=10_000_000, costs=study.costs("thesis-simulator"), widest=20)

`sweep` has what is computed from panels (`speedup`, `gained`, `reduced`, `share`, `growth`, `least_at`, `from_where_on`, ...), `orders`
the statements and what their words mean (`less`, `alike`, `slightly_less`, `much_less`, `falling`, `flat`, ...), `rule` when a
number agrees. A claim that says what another says is given the same function, ``@measure("one", "other")``, and in YAML
``repeats: one``. docs/figures-and-claims.md is the reader's side of all this.
"""

from memwalk.analysis.claims.claim import Claim
from memwalk.analysis.claims.orders import (
    MAGNITUDE,
    Holds,
    alike,
    all_of,
    at_most,
    clearly_less,
    differ,
    exactly,
    falling,
    flat,
    in_order,
    less,
    much_less,
    never_falling,
    never_rising,
    no_more,
    not_worse,
    rising,
    similar,
    slightly_less,
    stable,
    steps,
)
from memwalk.analysis.claims.registry import Measures
from memwalk.analysis.claims.rule import Published
from memwalk.analysis.claims.study import MeasureError, Study, panel
from memwalk.analysis.claims.sweep import (
    from_where_on,
    gained,
    greatest,
    growth,
    least_at,
    lines,
    marginal,
    only,
    ratio,
    reduced,
    rows,
    series,
    share,
    smallest,
    speedup,
    up_to_where,
)
from memwalk.analysis.claims.verdict import Outcome, judge

__all__ = [
    "MAGNITUDE",
    "Claim",
    "Holds",
    "MeasureError",
    "Measures",
    "Outcome",
    "Published",
    "Study",
    "alike",
    "all_of",
    "at_most",
    "clearly_less",
    "differ",
    "exactly",
    "falling",
    "flat",
    "from_where_on",
    "gained",
    "greatest",
    "growth",
    "in_order",
    "judge",
    "least_at",
    "less",
    "lines",
    "marginal",
    "much_less",
    "never_falling",
    "never_rising",
    "no_more",
    "not_worse",
    "only",
    "panel",
    "ratio",
    "reduced",
    "rising",
    "rows",
    "series",
    "share",
    "similar",
    "slightly_less",
    "smallest",
    "speedup",
    "stable",
    "steps",
    "up_to_where",
]
