"""Checks that nothing has drifted: cost models against simulation, and simulation against stored baselines."""

import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from memwalk.analysis.baselines import Baseline, key, load_baselines
from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row, distinct_points
from memwalk.analysis.experiments.refused import told_where_written
from memwalk.analysis.experiments.runner import Progress, run_points
from memwalk.analysis.experiments.schema import Experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.figures.load import Figure, find_figures, load_papers
from memwalk.analysis.model_checks import STUDIES, Check, ModelStudy
from memwalk.analysis.reproduce import axes, figure_rows, figure_study
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.files import expect_file


def run_checks(jobs: int | None = None, progress: Progress | None = None, *, update: bool = False) -> list[Check]:
    """Run every check; with ``update``, stores what the baselines' points give now first.

    Raises UserError for a figure or baseline file that is not right, or that cannot be written.
    """
    papers = load_papers()
    studies = [(study, *_study_rows(find_figures(study.figure, papers)[0], study)) for study in STUDIES]
    baselines = load_baselines()
    if update:
        for one in baselines:
            expect_file(one.path)
    stored = [(one, figure) for one in baselines for figure in one.found(papers)]
    baseline_rows = {figure.id: figure_rows(figure, one.scale) for one, figure in stored}
    rows = [row for _, _, mine in studies for row in mine]
    rows += [row for mine in baseline_rows.values() for row in mine]
    with tempfile.TemporaryDirectory() as folder, told_where_written(rows):
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
                ET.SubElement(case, "failure", message=check.difference())
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _study_rows(figure: Figure, study: ModelStudy) -> tuple[Figure, list[Row]]:
    overrides = [parse_set(text) for text in study.overrides]
    experiments = tuple(_of_variants(one, study.variants) for one in figure.experiments if one.name in study.panels)
    rows = [row for experiment in experiments for row in expand(experiment, overrides=overrides)]
    return Figure(figure.paper, figure.file, experiments, figure.path), rows


def _of_variants(experiment: Experiment, names: Sequence[str]) -> Experiment:
    """Leave the named variants, all if there are none: overrides may be of parameters that the others do not have."""
    if not names:
        return experiment
    kept = {name: bundle for name, bundle in experiment.body.variants.items() if name in names}
    return replace(experiment, body=experiment.body.model_copy(update={"variants": kept}))


def _cycles(figure: Figure, scale: str, rows: list[Row], statistics: dict[str, Statistics]) -> dict[str, int]:
    swept = {experiment.name: axes(experiment, scale) for experiment in figure.experiments}
    return {key(figure.file.id, row, swept[row.experiment]): int(statistics[row.point.id]["cycles"]) for row in rows}


def _against(baseline: Baseline, found: dict[str, int], stored: dict[str, int]) -> Iterable[Check]:
    group = f"baseline {baseline.path.stem}"
    for name in dict.fromkeys([*stored, *found]):
        yield Check(group, name, stored.get(name), found.get(name), 0, unit="cycles")
