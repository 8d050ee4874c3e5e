"""Chapter 2 of Chen's thesis: searches and scans of trees, and the memory's T1, T_tlb and T_next."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import lines, rows, series
from memwalk.analysis.cost_models import scan, search
from memwalk.analysis.cost_models.points import node_layout
from memwalk.analysis.model_checks.comparison import MODEL_TOLERANCE, Check, ModelStudy, is_best

MEASUREMENT_TOLERANCE = 0.05
"""What a measured latency may differ from the machine's: the loop around the accesses takes a few cycles too."""
CLOSE_TOLERANCE = 0.01
"""The same where a sum or a saturated bus leaves no room: 5% of T1 + T_tlb would be a third of T_tlb."""
WIDTH, DISTANCE, CHUNK = "workload.tree.node_lines", "workload.tree.distance_nodes", "workload.tree.chunk_lines"
FAR = 900
"""T1 in cycles of the sweep of chunk sizes, for leaves of one line: with wider leaves and 250 cycles, one line is a chunk large enough."""


def _cold_searches(study: Study) -> Iterable[Check]:
    """Figure 2.11: levels, cost and best width of cold searches."""
    points, costs = study.joined("one-line", "wide"), study.costs("thesis-simulator")
    for variant in ("pB+", "pCSB+"):
        simulated = series(points, variant, per="operations")
        modelled = {}
        for row in rows(points, variant).to_dict("records"):
            layout, keys, width = node_layout(row), int(row["workload.keys"]), int(row[WIDTH])
            modelled[width] = search.cold_search_cost(layout, keys, costs)
            name = f"{variant} w={width}"
            yield Check("levels (2.1)", name, search.levels(layout, keys), float(row["levels"]), 0, unit="levels")
            yield Check(
                "cold search cost (2.2)", name, modelled[width], float(simulated.loc[width]), MODEL_TOLERANCE, unit="cycles a search"
            )
        width = min(modelled, key=lambda w: (modelled[w], w))
        yield is_best("optimal width (2.2)", f"{variant} w={width} is best", simulated, width, unit="cycles a search")


def _distance(study: Study) -> Iterable[Check]:
    """Figure 2.25(a): the time of scans at the modelled prefetch distance against the best."""
    distance = scan.prefetch_distance(8, study.costs("thesis-simulator"))
    yield is_best("prefetch distance (2.8)", f"d={distance} is best", _along(study["distance"], DISTANCE), distance, unit="cycles")


def _chunk(study: Study) -> Iterable[Check]:
    """Figure 2.25(b) with memory far away: the time of scans at the modelled chunk size against the best."""
    lines = scan.chunk_lines(16, replace(study.costs("thesis-simulator"), full=FAR))
    yield is_best("chunk size (2.9)", f"c={lines} with T1 = {FAR} is best", _along(study["chunk-scan"], CHUNK), lines, unit="cycles")


def _chain(study: Study) -> Iterable[Check]:
    """Table 2.2: T1 and T_tlb, measured as section 2.4.1 does."""
    costs = study.costs("itanium2-900")
    warm, cold = (float(series(study["chain"], f"{tlb} TLB", per="operations").max()) for tlb in ("warm", "cold"))
    yield Check("machine as measured", "itanium2-900 T1", costs.full, warm, MEASUREMENT_TOLERANCE, unit="cycles")
    # Section 2.4.1 subtracts the warm chain. Half of that chain's accesses hit the second-level TLB (64 pages, 32 entries in
    # the first), and warming the TLB is in it too, so the difference falls short of T_tlb; the cold chain has neither.
    yield Check("machine as measured", "itanium2-900 T1 + T_tlb", costs.full + costs.tlb, cold, CLOSE_TOLERANCE, unit="cycles")


def _array(study: Study) -> Iterable[Check]:
    """Figure 2.8: T_next, the cycles per line on the bus once prefetching saturates it.

    Per fill, not per line visited: the fills that warm the array and the TLB take the bus as well.
    """
    least = float(series(study["array"], "pointer array", per="bus_fills").min())
    yield Check("machine as measured", "itanium2-900 T_next", study.costs("itanium2-900").next, least, CLOSE_TOLERANCE, unit="cycles")


def _along(panel: pd.DataFrame, axis: str) -> "pd.Series[float]":
    (line,) = lines(series(panel, "p8eB+"), axis)
    return line


_SCANS = ("workload.keys=1000000", "workload.range=10000", "workload.operations=10")
_DISTANCES = f"{DISTANCE}=[1, 2, 3, 4, 5, 8, 16]"
_CHUNKS = (f"machine.memory.latency_cycles={FAR}cycles", f"{WIDTH}=1", f"{DISTANCE}={FAR // 15}", f"{CHUNK}=[1, 2, 4, 8, 16]")
"""The distance is that of equation 2.8, with T_next = 15."""

STUDIES = (
    ModelStudy("fig-2.11", ("one-line", "wide"), ("workload.operations=500",), _cold_searches),
    ModelStudy("fig-2.25", ("distance",), (*_SCANS, _DISTANCES), _distance),
    ModelStudy("fig-2.25", ("chunk-scan",), (*_SCANS, *_CHUNKS), _chunk),
    ModelStudy("tab-2.2", ("chain",), ("workload.lines=4000",), _chain),
    ModelStudy("fig-2.8", ("array",), (), _array),
)
