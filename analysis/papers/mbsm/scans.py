"""Times of scans: Figures 3, 5(b), 7(a), 7(c) and 7(d), and what sections 1 and 7 sum up."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    all_of,
    least_at,
    less,
    only,
    ratio,
    reduced,
    series,
    similar,
    slightly_less,
    up_to_where,
)
from memwalk.analysis.claims.orders import SLIGHT
from memwalk.analysis.papers.mbsm.layouts import BLOCK, DSM, MBSM, NSM, PAX, RUN, WHOLE, at, measure

TIME, PAGES = "io_seconds", "pages_read"

# Figure 3: one reading-block of four is read.


@measure("mbsm-fig3-seq-10000-blocks")
def _(study: Study) -> pd.Series[float]:
    return series(study["reading"], "in sequence", TIME)


@measure("mbsm-fig3-one-page-block")
def _(study: Study) -> Holds:
    page = at(study["reading"], BLOCK, 1)
    return slightly_less(series(page, "interleaved", TIME), series(page, "all", TIME))


@measure("mbsm-fig3-drop-after-track")
def _(study: Study) -> float:
    reading = study["reading"]
    clearly_faster = (1 + SLIGHT) * series(reading, "interleaved", TIME) <= series(reading, "all", TIME)
    return up_to_where(~clearly_faster, BLOCK)


@measure("mbsm-fig3-monotone")
def _(study: Study) -> Holds:
    interleaved = series(study["reading"], "interleaved", TIME)
    means = [float(interleaved[(interleaved.index >= least) & (interleaved.index <= most)].mean()) for least, most in LONGER_THAN_A_TRACK]
    return all_of(less(later, earlier) for earlier, later in pairwise(means))


LONGER_THAN_A_TRACK = ((24, 40), (44, 64), (68, 100))
"""Ranges of reading-blocks in pages: within them, times go up and down by a turn of the platter."""


# Figure 5(b): columns of a relation without fragmentation.


@measure("mbsm-fig5b-like-dsm-at-first")
def _(study: Study) -> Holds:
    queries = study["queries"]
    of_dsm = ratio(series(queries, MBSM, TIME), series(queries, DSM, TIME))
    return similar(float(of_dsm["1"]), 1.0) & less(float(of_dsm["8"]), float(of_dsm["1"]))


# Section 6.2: TPC-H.


@measure("mbsm-fig6b-7a-order")
def _(study: Study) -> Holds:
    return all_of(
        less(series(study[panel], one, column), series(study[panel], other, column))
        for panel in ("queries", "average")
        for column in (PAGES, TIME)
        for one in (DSM, MBSM)
        for other in WHOLE
    )


@measure("mbsm-avg-scan-70pct-less", "mbsm-avg-scan-70pct-less-conclusion")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([reduced(study["average"], MBSM, over=whole, column=TIME) for whole in WHOLE])


@measure("mbsm-scan-comparable-to-dsm")
def _(study: Study) -> Holds:
    mean = {layout: only(study["average"], layout, TIME) for layout in (NSM, DSM, PAX, MBSM)}
    ahead = all_of(less(mean[one], mean[other]) for one in (MBSM, DSM) for other in WHOLE)
    return similar(mean[MBSM], mean[DSM]) & similar(mean[PAX], mean[NSM]) & ahead


CHEETAH, ATLAS = "Cheetah X15", "Atlas 10K II"


@measure("mbsm-fig7d-best-r30")
def _(study: Study) -> float:
    return least_at(series(study["run-length"], CHEETAH, TIME), RUN)


@measure("mbsm-fig7d-quantum-larger-r")
def _(study: Study) -> Holds:
    best = {disk: least_at(series(study["run-length"], disk, TIME), RUN) for disk in (CHEETAH, ATLAS)}
    return less(best[CHEETAH], best[ATLAS]) & less(best[ATLAS], float("inf"))
