"""Searches: Figures 2.10 to 2.15, section 2.5, and what section 2.6 says of them."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, least_at, less, rows, series, similar, speedup, steps
from memwalk.analysis.cost_models.points import node_layout
from memwalk.analysis.cost_models.search import cold_search_cost
from memwalk.analysis.papers.thesis_ch2.trees import JUMP_POINTERS, KEYS, SIMULATOR, WIDE, WIDE_IT2, WIDTH, measure

# Figures 2.10 and 2.11, section 2.5: node widths.


def _by_width(study: Study, tree: str, column: str = "cycles", per: str | None = None) -> pd.Series[float]:
    """Read a column of searches in a tree by node width; a node of one line, which is not prefetched, is a panel of its own."""
    return series(study.joined("one-line", "wide"), tree, column, per)


@measure("bt-fig2.10-wopt-pb-it2", "bt-fig2.11-wopt-pb")
def _(study: Study) -> float:
    return least_at(_by_width(study, "pB+"), WIDTH)


@measure("bt-fig2.10-wopt-pcsb-it2", "bt-fig2.11-wopt-pcsb")
def _(study: Study) -> float:
    return least_at(_by_width(study, "pCSB+"), WIDTH)


@measure("bt-it2-csb-noprefetch-wopt")
def _(study: Study) -> float:
    return least_at(series(study["widths"], "pCSB+"), WIDTH)


@measure("bt-fig2.11-theory-match")
def _(study: Study) -> Holds:
    return all_of(similar(_by_width(study, tree, per="operations"), _modelled(study, tree)) for tree in ("pB+", "pCSB+"))


def _modelled(study: Study, tree: str) -> pd.Series[float]:
    """Evaluate equations 2.1 to 2.6 for a cold search in each of a tree's points."""
    points, costs = rows(study.joined("one-line", "wide"), tree), study.costs(SIMULATOR)
    modelled = [cold_search_cost(node_layout(row), int(row[KEYS]), costs) for row in points.to_dict("records")]
    return pd.Series(modelled, index=points.index)


@measure("bt-fig2.11-step-shape")
def _(study: Study) -> Holds:
    return all_of(steps(_by_width(study, tree), _by_width(study, tree, "levels"), along=WIDTH) for tree in ("pB+", "pCSB+"))


# Figure 2.12: Itanium 2.


@measure("bt-fig2.12a-pb-over-b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["size"], "p4B+", over="B+")


@measure("bt-fig2.12a-pb-over-csb")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["size"], "p4B+", over="CSB+")


@measure("bt-fig2.12a-pcsb-over-b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["size"], "p4CSB+", over="B+")


@measure("bt-fig2.12b-pb-over-b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["searches"], "p4B+", over="B+")


@measure("bt-fig2.12b-pb-over-csb")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["searches"], "p4B+", over="CSB+")


@measure("bt-fig2.12c-pb-over-b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], "p4B+", over="B+")


@measure("bt-fig2.12c-pb-over-csb")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], "p4B+", over="CSB+")


# Figure 2.13: simulation.


@measure("bt-fig2.13a-pb-over-b-cold")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["cold"], "p8B+", over="B+")


@measure("bt-fig2.13a-pb-over-csb-cold")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["cold"], "p8B+", over="CSB+")


@measure("bt-fig2.13b-pb-over-b-warm")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["warm"], "p8B+", over="B+")


@measure("bt-fig2.13b-pb-over-csb-warm")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["warm"], "p8B+", over="CSB+")


@measure("bt-fig2.13c-pb-over-b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["searches"], "p8B+", over="B+")


@measure("bt-fig2.13c-pb-over-csb")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["searches"], "p8B+", over="CSB+")


@measure("bt-fig2.13d-pb-over-b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], "p8B+", over="B+")


@measure("bt-fig2.13d-pb-over-csb")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["fill"], "p8B+", over="CSB+")


@measure("bt-fig2.13-order")
def _(study: Study) -> Holds:
    faster_than = (("CSB+", "B+"), ("p8B+", "B+"), ("p5CSB+", "B+"), ("p5CSB+", "CSB+"))
    return all_of(less(series(study[name], a), series(study[name], b)) for name in ("cold", "warm") for a, b in faster_than)


@measure("bt-fig2.13-p8-eq-p5csb")
def _(study: Study) -> Holds:
    return all_of(alike(series(study[name], "p8B+"), series(study[name], "p5CSB+")) for name in ("cold", "warm"))


@measure("bt-fig2.13a-step-shape")
def _(study: Study) -> Holds:
    cold = study["cold"]
    return all_of(steps(series(cold, tree), series(cold, tree, "levels"), along=KEYS) for tree in ("B+", "CSB+", "p8B+", "p5CSB+"))


# Figure 2.15: jump-pointer arrays.


@measure("bt-fig2.15-jpa-search-neutral")
def _(study: Study) -> Holds:
    panels = [study[name] for name in ("cold", "warm", "searches", "fill")]
    return all_of(alike(series(panel, tree), series(panel, WIDE)) for panel in panels for tree in JUMP_POINTERS)


# Section 2.6: all searches, on both platforms.


@measure("bt-sum2-search-over-b")
def _(study: Study) -> pd.Series[float]:
    return _all_searches(study, over="B+")


@measure("bt-sum2-search-over-csb")
def _(study: Study) -> pd.Series[float]:
    return _all_searches(study, over="CSB+")


def _all_searches(study: Study, over: str) -> pd.Series[float]:
    simulated = [speedup(study[name], WIDE, over) for name in ("cold", "size", "searches", "fill")]
    return pd.concat(simulated + [speedup(study[name], WIDE_IT2, over) for name in ("it2-size", "it2-searches", "it2-fill")])
