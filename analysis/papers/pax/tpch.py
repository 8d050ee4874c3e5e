"""TPC-H: queries (Figure 12), updates (Figure 13), and three platforms (Figure 14).

At the smallest size the database stays in the buffer pool, and what is compared is the processor's time; at the others it is read.
"""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Holds, Study, alike, all_of, differ, gained, in_order, less, ratio, reduced, series, smallest, speedup
from memwalk.analysis.papers.pax.layouts import L1_MISSES, L2_MISSES, L3_MISSES, NSM, PAX, SELECTIVITY, SIZE, measure

PROCESSOR = "cpu_seconds"
"""The time of a database that stays in memory."""
SELECTIONS = ("rs-project-1", "rs-project-3", "rs-project-7", "rs-test-3", "rs-test-7")
"""Range selections that project 1, 3 and 7 attributes, and those that test 3 and 7."""
QUERIES = ("q1", "q6", "q12", "q14")


def in_memory(panel: pd.DataFrame) -> pd.DataFrame:
    """Keep the smallest database, published 100 MB."""
    return smallest(panel, SIZE)


def with_io(panel: pd.DataFrame) -> pd.DataFrame:
    """Keep the databases that do not fit the buffer pool, published 200 and 500 MB."""
    above: pd.DataFrame = panel[panel[SIZE] > panel[SIZE].min()]
    return above


def faster(panel: pd.DataFrame) -> pd.Series[float]:
    """Divide NSM's time by PAX's at every size, the processor's in memory and all of it with I/O."""
    return pd.concat([speedup(in_memory(panel), PAX, over=NSM, column=PROCESSOR), speedup(with_io(panel), PAX, over=NSM, column="seconds")])


def percent(speedups: pd.Series[float]) -> pd.Series[float]:
    """Speed-ups as the study defines them, in %."""
    return 100 * (speedups - 1)


def selections(study: Study) -> pd.Series[float]:
    """Give the mean speed-up of the range selections, by size."""
    return pd.concat([faster(study[name]) for name in SELECTIONS]).groupby(level=SIZE).mean()


# Figure 12: queries


@measure("pax-rs-speedup-100mb")
def _(study: Study) -> float:
    return float(percent(selections(study)).iloc[0])


@measure("pax-rs-speedup-200mb")
def _(study: Study) -> float:
    return float(percent(selections(study)).iloc[1])


@measure("pax-rs-speedup-500mb")
def _(study: Study) -> float:
    return float(percent(selections(study)).iloc[2])


@measure("pax-q1q6-speedup")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([percent(faster(study[name])) for name in ("q1", "q6")])


@measure("pax-q14-speedup")
def _(study: Study) -> pd.Series[float]:
    return percent(faster(study["q14"]))


@measure("pax-q12-speedup")
def _(study: Study) -> pd.Series[float]:
    return percent(faster(study["q12"]))


@measure("pax-q12-vs-q14")
def _(study: Study) -> Holds:
    return less(faster(study["q14"]), faster(study["q12"]))


@measure("pax-rs-vs-q1q6")
def _(study: Study) -> Holds:
    return all_of(less(selections(study), faster(study[name])) for name in ("q1", "q6"))


@measure("pax-speedup-not-constant")
def _(study: Study) -> Holds:
    groups = pd.DataFrame({"rs": selections(study)} | {name: faster(study[name]) for name in QUERIES})
    by_query = groups.iloc[0]
    by_size = (groups.max() / groups.min()).max()
    return differ(float(by_query.min()), float(by_query.max())) & differ(float(by_size), 1.0)


@measure("pax-dss-all")
def _(study: Study) -> Holds:
    return all_of(less(1.0, faster(study[name])) for name in (*SELECTIONS, *QUERIES))


@measure("pax-io-bound-converges")
def _(study: Study) -> Holds:
    read = with_io(study["q6"])
    nsm, pax = (series(read, layout, "seconds") for layout in (NSM, PAX))
    bound = all_of(less(series(read, layout, "cpu_seconds"), series(read, layout, "io_seconds")) for layout in (NSM, PAX))
    return bound & less(ratio(nsm, pax), speedup(read, PAX, over=NSM, column=PROCESSOR)) & alike(nsm, pax)


@measure("pax-sum-tpch-speedup", "pax-abs-tpch-speedup")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([gained(with_io(study[name]), PAX, over=NSM, column="seconds") for name in QUERIES])


@measure("pax-intro-tpch-time")
def _(study: Study) -> pd.Series[float]:
    return pd.concat([reduced(with_io(study[name]), PAX, over=NSM, column="seconds") for name in QUERIES])


# Figure 13: updates

UPDATES = ("lineitem-4", "lineitem-2", "lineitem-1")
"""Updates of four, two and one attribute."""
WRITE_BACKS_DECIDE = 0.2
"""The selectivity from which on write-backs are said to decide."""


def updates(study: Study) -> pd.Series[float]:
    """Give the speed-ups of updates, in %, by selectivity, for each number of attributes."""
    return pd.concat([percent(speedup(study[name], PAX, over=NSM, column=PROCESSOR)) for name in UPDATES])


@measure("pax-update-speedup")
def _(study: Study) -> pd.Series[float]:
    return updates(study)


@measure("pax-update-speedup-low")
def _(study: Study) -> pd.Series[float]:
    found = updates(study)
    return found[found.index.get_level_values(SELECTIVITY) < WRITE_BACKS_DECIDE]


@measure("pax-update-decreasing")
def _(study: Study) -> Holds:
    return in_order(*(speedup(study[name], PAX, over=NSM, column=PROCESSOR) for name in UPDATES))


@measure("pax-update-oblivious")
def _(study: Study) -> Holds:
    def from_a_fifth(name: str) -> pd.Series[float]:
        panel = study[name]
        return speedup(panel[panel[SELECTIVITY] >= WRITE_BACKS_DECIDE], PAX, over=NSM, column=PROCESSOR)

    one = from_a_fifth("lineitem-1")
    return all_of(alike(from_a_fifth(name), one) for name in ("lineitem-2", "lineitem-4"))


# Figure 14: platforms

PLATFORMS = ("xeon", "sparc", "alpha")


def fewer_misses(panel: pd.DataFrame, column: str) -> pd.Series[float]:
    """By how much PAX lowers NSM's rate of data misses, misses over accesses, in %."""
    nsm, pax = (series(panel, layout, column, per="L1_accesses") for layout in (NSM, PAX))
    return 100 * (1 - ratio(pax, nsm))


@measure("pax-fig14-scan-order")
def _(study: Study) -> Holds:
    def judged(query: str) -> Holds:
        xeon, sparc, alpha = (
            fewer_misses(study[f"{platform}-{query}"], column)
            for platform, column in (("xeon", L2_MISSES), ("sparc", L2_MISSES), ("alpha", L3_MISSES))
        )
        return less(xeon, sparc) & less(xeon, alpha)

    return all_of(judged(query) for query in (*SELECTIONS, "q1", "q6"))


@measure("pax-q14-ultrasparc")
def _(study: Study) -> Holds:
    return less(fewer_misses(study["sparc-q14"], L2_MISSES), fewer_misses(study["alpha-q14"], L3_MISSES))


def miss_rate(study: Study, *queries: str) -> pd.Series[float]:
    """Give the data misses of NSM in the Xeon's second cache over its data accesses, which are what the first one misses, in %."""
    return pd.concat([100 * series(study[f"xeon-{query}"], NSM, L2_MISSES, per=L1_MISSES) for query in queries])


@measure("pax-q12-xeon-miss-rate")
def _(study: Study) -> pd.Series[float]:
    return miss_rate(study, "q12")


@measure("pax-q1q6-xeon-miss-rate")
def _(study: Study) -> pd.Series[float]:
    return miss_rate(study, "q1", "q6")


@measure("pax-q14-xeon-miss-rate")
def _(study: Study) -> pd.Series[float]:
    return miss_rate(study, "q14")


@measure("pax-fig14-q1q6")
def _(study: Study) -> pd.Series[float]:
    panels = [study[f"{platform}-{query}"] for platform in PLATFORMS for query in ("q1", "q6")]
    return pd.concat([reduced(panel, PAX, over=NSM, column=PROCESSOR) for panel in panels])


@measure("pax-fig14-rs")
def _(study: Study) -> pd.Series[float]:
    def of(platform: str) -> float:
        selections = [reduced(study[f"{platform}-{name}"], PAX, over=NSM, column=PROCESSOR) for name in SELECTIONS]
        return float(pd.concat(selections).mean())

    return pd.Series({platform: of(platform) for platform in PLATFORMS})
