"""Chapter 2 of Chen's thesis: prefetching B+-trees."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Measures, Study, all_of, less, series, speedup

measure = Measures()


@measure("bt-fig2.13a-pb-over-b-cold")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["cold"], "p8B+", over="B+")


@measure("bt-fig2.13-order")
def _(study: Study) -> Holds:
    pairs = (("CSB+", "B+"), ("p8B+", "B+"), ("p5CSB+", "CSB+"))
    return all_of(less(series(study[name], a), series(study[name], b)) for name in ("cold", "warm") for a, b in pairs)
