"""The join phase in memory: Figures 4.1 and 4.11 to 4.15."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import (
    Holds,
    Study,
    all_of,
    clearly_less,
    falling,
    greatest,
    growth,
    in_order,
    least_at,
    less,
    much_less,
    no_more,
    ratio,
    rising,
    series,
    share,
    similar,
    smallest,
)
from memwalk.analysis.papers.thesis_ch4.algorithms import ALL, GROUP, PIPELINED, PREFETCHING, measure
from memwalk.analysis.papers.thesis_ch4.sweeps import DISTANCE, GROUP_SIZE, PROBE, PROBING, SHARE, SIZE, TUNED, panels, sizes, speedups

LATENCY = "machine.memory.latency_cycles"


@measure("hj-sim-join-prefetch-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, PREFETCHING, over="GRACE")


@measure("hj-sim-join-simple-vs-grace")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, ("simple",), over="GRACE")


@measure("hj-sim-join-prefetch-vs-simple")
def _(study: Study) -> pd.Series[float]:
    return speedups(study, PREFETCHING, over="simple")


@measure("hj-sim-join-trend-tuple-size")
def _(study: Study) -> Holds:
    return all_of(falling(series(sizes(study), one), along=SIZE) for one in ALL)


@measure("hj-sim-join-trend-matches")
def _(study: Study) -> Holds:
    def steeper(one: str) -> Holds:
        """Compare what the whole sweeps add: tuples that match once more, and a larger share of tuples that match."""
        by_share, by_probes = series(study["share"], one), series(study["matches"], one)
        return much_less(growth(by_share, along=SHARE) - 1, float((growth(by_probes, along=PROBE) - 1).iloc[0]))

    def rise(one: str) -> Holds:
        return rising(series(study["matches"], one), along=PROBE) & rising(series(study["share"], one), along=SHARE)

    return all_of(rise(one) & steeper(one) for one in ALL)


@measure("hj-intro-group-beats-swp")
def _(study: Study) -> Holds:
    return all_of(no_more(series(panel, GROUP), series(panel, PIPELINED)) for panel in panels(study))


# Figures 4.1 and 4.12: the point of 100 bytes.


@measure("hj-fig4.1-join-dcache-stall")
def _(study: Study) -> pd.Series[float]:
    return share(study["join"], "GRACE", "dcache")


@measure("hj-fig4.12-busy-order")
def _(study: Study) -> Holds:
    return in_order(*(series(study["join"], one, "slots_busy") for one in ("GRACE", GROUP, PIPELINED)))


@measure("hj-fig4.12-remaining-misses")
def _(study: Study) -> Holds:
    def waited(one: str, *levels: str) -> pd.Series[float]:
        found = [series(study["join"], one, f"slots_dcache_{level}") for level in levels]
        return sum(found[1:], found[0])

    def hidden(one: str) -> Holds:
        stalls = {name: series(study["join"], name, "slots_dcache") for name in (one, "GRACE")}
        return much_less(stalls[one], stalls["GRACE"]) & less(waited(one, "memory"), waited(one, "L2", "L3"))

    return all_of(hidden(one) for one in PREFETCHING)


@measure("hj-fig4.12-other-stalls-rise")
def _(study: Study) -> Holds:
    def others(one: str) -> pd.Series[float]:
        return series(study["join"], one, "slots_other") + series(study["join"], one, "slots_branch")

    return all_of(less(others("GRACE"), others(one)) for one in PREFETCHING)


# Figures 4.13 and 4.15: tuning, of the loop that probes.


@measure("hj-sim-optimal-G", "hj-fig4.15-g-1000", "hj-it2-optimal-G")
def _(study: Study) -> float:
    return least_at(series(study["group"], "by G", PROBING), GROUP_SIZE)


@measure("hj-sim-optimal-D", "hj-fig4.15-d-1000", "hj-it2-optimal-D")
def _(study: Study) -> float:
    return least_at(series(study["distance"], "by D", PROBING), DISTANCE)


@measure("hj-sim-tuning-flat", "hj-it2-tuning-flat")
def _(study: Study) -> Holds:
    def best_half(panel: str, variant: str) -> Holds:
        """Compare the best half of the values with the best."""
        times = series(study[panel], variant, PROBING).sort_values()
        best = times.iloc[: (len(times) + 1) // 2]
        return similar(best, float(times.iloc[0]))

    groups = series(study["group"], "by G", PROBING)
    smallest_group = series(smallest(study["group"], GROUP_SIZE), "by G", PROBING)
    flat = all_of(best_half(panel, variant) for panel, variant, _ in TUNED)
    return flat & clearly_less(float(groups.min()), smallest_group)


def _best_at_1000(study: Study) -> dict[str, float]:
    return {panel: float(series(study[panel], variant).min()) for panel, variant, _ in TUNED}


@measure("hj-sim-t1-1000-trend")
def _(study: Study) -> Holds:
    join, best = study["join"], _best_at_1000(study)
    slowdown = growth(series(join, "GRACE"), along=LATENCY)
    at_250 = smallest(join, LATENCY)
    tuned = ((GROUP, best["group"]), (PIPELINED, best["distance"]))
    slower = {one: time / float(series(at_250, one).iloc[0]) - 1 for one, time in tuned}
    grace = float(slowdown.iloc[0]) - 1
    return much_less(1.0, float(slowdown.iloc[0])) & all_of(much_less(slower[one], grace) for one in PREFETCHING)


@measure("hj-fig4.15-speedup-1000")
def _(study: Study) -> pd.Series[float]:
    grace = series(greatest(study["join"], LATENCY), "GRACE")
    best = pd.Series(_best_at_1000(study))
    return ratio(pd.Series(float(grace.iloc[0]), index=best.index), best)
