"""Checks that nothing has drifted: cost models against simulation, and simulation against stored baselines."""

import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from memwalk.analysis.baselines import Baseline, key, load_baselines
from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import TIE, lines, rows, series
from memwalk.analysis.cost_models import scan, search, table_scan
from memwalk.analysis.cost_models.points import node_layout
from memwalk.analysis.experiments.points import Row, distinct_points, expand
from memwalk.analysis.experiments.runner import Progress, run_points
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.figures.load import Figure, find_figures, load_papers
from memwalk.analysis.reproduce import axes, figure_rows, figure_study
from memwalk.simcore.engines.native import Statistics

MODEL_TOLERANCE = 0.15
"""What a cost model, which counts memory accesses alone, may differ from simulation."""
MEASUREMENT_TOLERANCE = 0.05
"""What a measured latency may differ from the machine's: the loop around the accesses takes a few cycles too."""
CLOSE_TOLERANCE = 0.01
"""The same where a sum or a saturated bus leaves no room: 5% of T1 + T_tlb would be a third of T_tlb."""
WIDTH, DISTANCE, CHUNK = "workload.tree.node_lines", "workload.tree.distance_nodes", "workload.tree.chunk_lines"


@dataclass(frozen=True)
class Check:
    """One comparison: ``found`` should be ``expected`` within ``tolerance`` (a fraction; 0 is exact)."""

    group: str
    name: str
    expected: float | None
    found: float | None
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether both are there and close enough."""
        if self.expected is None or self.found is None:
            return False
        return abs(self.found - self.expected) <= self.tolerance * abs(self.expected)


@dataclass(frozen=True)
class _Study:
    """Panels of a figure run smaller, and what is checked on them."""

    figure: str
    panels: tuple[str, ...]
    overrides: tuple[str, ...]
    look: Callable[[Study], Iterable[Check]]


def run_checks(jobs: int | None = None, progress: Progress | None = None, *, update: bool = False) -> list[Check]:
    """Run every check; with ``update``, stores what the baselines' points give now first.

    Raises UserError for a figure or baseline file that is not right, or that cannot be written.
    """
    papers = load_papers()
    studies = [(study, *_study_rows(find_figures(study.figure, papers)[0], study)) for study in _STUDIES]
    baselines = load_baselines()
    stored = [(one, figure) for one in baselines for name in one.figures for figure in find_figures(name, papers)]
    baseline_rows = {figure.id: figure_rows(figure, one.scale) for one, figure in stored}
    rows = [row for _, _, mine in studies for row in mine]
    rows += [row for mine in baseline_rows.values() for row in mine]
    with tempfile.TemporaryDirectory() as folder:
        statistics = run_points(distinct_points(rows), Path(folder), jobs, None, progress)
    checks = [check for study, figure, mine in studies for check in study.look(figure_study(figure, "paper", mine, statistics))]
    for baseline in baselines:
        found: dict[str, int] = {}
        for figure in (figure for one, figure in stored if one is baseline):
            found |= _cycles(figure, baseline.scale, baseline_rows[figure.id], statistics)
        if update:
            baseline.store(found)
        checks += _against(baseline, found, found if update else baseline.points)
    return checks


def junit(checks: Sequence[Check]) -> bytes:
    """Write the checks as JUnit XML: a test suite per group."""
    root = ET.Element("testsuites", name="memwalk check")
    for group in dict.fromkeys(check.group for check in checks):
        mine = [check for check in checks if check.group == group]
        failures = sum(not check.passed for check in mine)
        suite = ET.SubElement(root, "testsuite", name=group, tests=str(len(mine)), failures=str(failures))
        for check in mine:
            case = ET.SubElement(suite, "testcase", classname=group, name=check.name)
            if not check.passed:
                message = f"expected {check.expected} within {check.tolerance:.0%}, found {check.found}"
                ET.SubElement(case, "failure", message=message)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _study_rows(figure: Figure, study: _Study) -> tuple[Figure, list[Row]]:
    overrides = [parse_set(text) for text in study.overrides]
    experiments = tuple(one for one in figure.experiments if one.name in study.panels)
    rows = [row for experiment in experiments for row in expand(experiment, overrides=overrides)]
    return Figure(figure.paper, figure.file, experiments, figure.path), rows


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
            yield Check("levels (2.1)", name, search.levels(layout, keys), float(row["levels"]), 0)
            yield Check("cold search cost (2.2)", name, modelled[width], float(simulated.loc[width]), MODEL_TOLERANCE)
        width = min(modelled, key=lambda w: (modelled[w], w))
        yield _is_best("optimal width (2.2)", f"{variant} w={width} is best", simulated, width)


def _distance(study: Study) -> Iterable[Check]:
    """Figure 2.25(a): the time of scans at the modelled prefetch distance against the best."""
    distance = scan.prefetch_distance(8, study.costs("thesis-simulator"))
    yield _is_best("prefetch distance (2.8)", f"d={distance} is best", _along(study["distance"], DISTANCE), distance)


def _chunk(study: Study) -> Iterable[Check]:
    """Figure 2.25(b): the time of scans at the modelled chunk size against the best."""
    lines = scan.chunk_lines(16, study.costs("thesis-simulator"))
    yield _is_best("chunk size (2.9)", f"c={lines} is best", _along(study["chunk-scan"], CHUNK), lines)


def _chain(study: Study) -> Iterable[Check]:
    """Table 2.2: T1 and T_tlb, measured as section 2.4.1 does."""
    costs = study.costs("itanium2-900")
    warm, cold = (float(series(study["chain"], f"{tlb} TLB", per="operations").max()) for tlb in ("warm", "cold"))
    yield Check("machine as measured", "itanium2-900 T1", costs.full, warm, MEASUREMENT_TOLERANCE)
    # Section 2.4.1 subtracts the warm chain. Half of that chain's accesses hit the second-level TLB (64 pages, 32 entries in
    # the first), and warming the TLB is in it too, so the difference falls short of T_tlb; the cold chain has neither.
    yield Check("machine as measured", "itanium2-900 T1 + T_tlb", costs.full + costs.tlb, cold, CLOSE_TOLERANCE)


def _array(study: Study) -> Iterable[Check]:
    """Figure 2.8: T_next, the cycles per line on the bus once prefetching saturates it.

    Per fill, not per line visited: the fills that warm the array and the TLB take the bus as well.
    """
    least = float(series(study["array"], "pointer array", per="bus_fills").min())
    yield Check("machine as measured", "itanium2-900 T_next", study.costs("itanium2-900").next, least, CLOSE_TOLERANCE)


def _scans(study: Study) -> Iterable[Check]:
    """Figures 9 to 12: what scans of row and column stores take, I/O included."""
    stores: tuple[table_scan.Store, ...] = ("standard-row", "super-row", "super-column")
    for store in stores:
        for row in rows(study["scan"], store).to_dict("records"):
            table = table_scan.Table(row["workload.records"], row["workload.attributes"], row["workload.projected"])
            constants = table_scan.Constants(pool_pages=2 * row["workload.prefetch_bytes"] / row["workload.page_bytes"])
            name = f"{store}, {table.scanned} of {table.columns} columns of {table.rows:,} rows"
            modelled = table_scan.scan_seconds(store, table, constants)
            yield Check("scan cost (1-12)", name, modelled, float(row["seconds"]), MODEL_TOLERANCE)


_TENTH = ("workload.prefetch_bytes=26843545",)
"""A tenth of the memory for reading columns ahead, to go with a tenth of the rows: columns are then read in as many runs."""

_STUDIES = (
    _Study("fig-2.11", ("one-line", "wide"), ("workload.operations=500",), _cold_searches),
    _Study(
        "fig-2.25",
        ("distance",),
        ("workload.keys=1000000", "workload.range=10000", "workload.operations=10"),
        _distance,
    ),
    _Study(
        "fig-2.25",
        ("chunk-scan",),
        ("workload.keys=1000000", "workload.range=10000", "workload.operations=10"),
        _chunk,
    ),
    _Study("tab-2.2", ("chain",), ("workload.lines=4000",), _chain),
    _Study("fig-2.8", ("array",), (), _array),
    *(_Study(f"cstore/fig-{number}", ("scan",), ("workload.records=800000", *_TENTH), _scans) for number in (9, 10, 11)),
    _Study("cstore/fig-12", ("scan",), (), _scans),  # as published: its columns are short, and a tenth of one is one run
)


def _along(panel: pd.DataFrame, axis: str) -> "pd.Series[float]":
    (line,) = lines(series(panel, "p8eB+"), axis)
    return line


def _is_best(group: str, name: str, values: "pd.Series[float]", chosen: int) -> Check:
    return Check(group, name, float(values.min()), float(values.loc[chosen]), TIE)


def _cycles(figure: Figure, scale: str, rows: list[Row], statistics: dict[str, Statistics]) -> dict[str, int]:
    swept = {experiment.name: axes(experiment, scale) for experiment in figure.experiments}
    return {key(figure.file.id, row, swept[row.experiment]): int(statistics[row.point.id]["cycles"]) for row in rows}


def _against(baseline: Baseline, found: dict[str, int], stored: dict[str, int]) -> Iterable[Check]:
    group = f"baseline {baseline.path.stem}"
    for name in dict.fromkeys([*stored, *found]):
        yield Check(group, name, stored.get(name), found.get(name), 0)
