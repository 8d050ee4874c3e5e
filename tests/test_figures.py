"""The figure files of papers: complete, without doubles, readable; and what is drawn from results."""

import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image as matplotlib_image
from matplotlib.axes import Axes
from papers import every_paper, the_paper

from memwalk.analysis.causes import CAUSES
from memwalk.analysis.claims import MeasureError, Published, Study, panel
from memwalk.analysis.figures import style
from memwalk.analysis.figures.draw import draw, image
from memwalk.analysis.figures.load import Figure, find_figures, load_figure, load_paper
from memwalk.analysis.figures.schema import FigureFile, Plot
from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import load, parse

CHAPTER = the_paper("thesis-ch2")


def claims() -> list[tuple[Figure, str, object]]:
    return [(figure, claim.id, claim.published) for figure in CHAPTER.figures for claim in figure.file.claims]


def test_every_figure_and_table_of_the_chapter_that_shows_results_has_a_file() -> None:
    shown = {figure.file.id for figure in CHAPTER.figures}
    expected = {"fig-2.1", "fig-2.2", *(f"fig-2.{number}" for number in range(8, 28))}
    assert shown >= expected | {f"tab-2.{number}" for number in range(2, 6)}


def test_published_claims_by_platform() -> None:
    # What the text states about chapter 2 and about the B+-trees of chapter 1, place by place; a claim added or lost shows here.
    published = Counter(claim.platform for figure in CHAPTER.figures for claim in figure.file.claims if claim.published != "unknown")
    assert published == {"analytic": 46, "simulation": 52, "itanium2": 28, "prototype": 3}


def test_numbers_that_cannot_be_read_have_none() -> None:
    unknown = [name for _, name, published in claims() if published == "unknown"]
    assert len(unknown) == 21
    assert not [name for _, name, published in claims() if isinstance(published, Published) and name in unknown]


def test_claims_stand_once() -> None:
    names = [name for _, name, _ in claims()]
    assert len(names) == len(set(names))


def test_claims_say_what_a_compiler_would_be_needed_for() -> None:
    needs = {claim.id for figure in CHAPTER.figures for claim in figure.file.claims if claim.needs == "compiler"}
    assert needs == {"bt-fig2.8-icc-o3-crossover", "bt-fig2.8-gcc-jump", "bt-fig2.9-compiler-order"}


def test_figures_are_found_by_short_and_full_name() -> None:
    assert [figure.id for figure in find_figures("fig-2.13", every_paper())] == ["thesis-ch2/fig-2.13"]
    assert find_figures("thesis-ch2/fig-2.13", every_paper()) == find_figures("fig-2.13", every_paper())
    assert find_figures("thesis-ch2", every_paper()) == list(CHAPTER.figures)
    with pytest.raises(UserError, match=r"no figure or paper is called `fig-2\.31`; did you mean `fig-2\.1"):
        find_figures("fig-2.31", every_paper())


def test_what_is_meant_is_said_so_that_it_can_be_used() -> None:
    for name, answer in (
        ("fig-33", "did you mean `clotho/fig-3` or `cstore/fig-3` or `mbsm/fig-3`?"),
        ("nope", "write all, a paper (clotho, cstore, "),
    ):
        with pytest.raises(UserError) as error:
            find_figures(name, every_paper())
        assert f"no figure or paper is called `{name}`; {answer}" in str(error.value)
        assert len(str(error.value)) < 300


def test_bases_are_laid_over_each_other_and_series_are_chosen_in_order() -> None:
    (figure,) = find_figures("fig-2.13", [CHAPTER])
    cold = {experiment.name: experiment for experiment in figure.experiments}["cold"].body
    assert list(cold.variants) == ["B+", "CSB+", "p8B+", "p5CSB+"]
    assert cold.workload["caches"] == "cold"
    assert cold.workload["operations"] == 10_000
    assert cold.grid["workload.keys"] == [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
    assert cold.scales["quick"] == {"workload.keys": [100_000, 300_000, 1_000_000], "workload.operations": 1000}


SHARED = """
schema_version: 1
id: p
title: t
source: s
bases:
  small: {machine: thesis-simulator, workload: {kernel: index}, variants: {B+: {}}}
"""


@pytest.mark.parametrize(
    ("experiments", "message"),
    [
        ("{e: {base: smal}}", "`smal` is not a base of this paper; did you mean `small`"),
        ("{e: {base: [small], variants: [B]}}", "`B` is not a series of the bases; did you mean `B\\+`"),
        ("{e: {base: small, grids: {}}}", "unknown key `grids`; did you mean `grid`"),
        ("{e: {workload: {}}}", "`machine` is missing"),
    ],
)
def test_mistakes_in_figure_files_name_file_and_line(tmp_path: Path, experiments: str, message: str) -> None:
    (tmp_path / "paper.yaml").write_text(SHARED)
    path = tmp_path / "f.yaml"
    path.write_text(f"schema_version: 1\nid: f\ntitle: t\nwhere: w\nexperiments: {experiments}\n")
    with pytest.raises(UserError, match=message) as error:
        load_figure(path, "p", load(tmp_path / "paper.yaml"))
    assert str(error.value).startswith(f"{path}:5:")


def test_a_claim_in_two_files_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "paper.yaml").write_text(SHARED)
    claim = "{id: c, class: result, where: w, platform: analytic, metric: m, published: {low: 1}, needs: x}"
    for name in ("f", "g"):
        (folder / f"{name}.yaml").write_text(f"schema_version: 1\nid: {name}\ntitle: t\nwhere: w\nclaims: [{claim}]\n")
    with pytest.raises(UserError, match=r"g\.yaml: claim `c` is in f\.yaml already"):
        load_paper(folder)


def test_a_file_is_called_like_its_figure(tmp_path: Path) -> None:
    (tmp_path / "paper.yaml").write_text(SHARED)
    (tmp_path / "g.yaml").write_text("schema_version: 1\nid: f\ntitle: t\nwhere: w\n")
    with pytest.raises(UserError, match=r"g\.yaml:2:5: id `f` is not the file's name"):
        load_figure(tmp_path / "g.yaml", "p", load(tmp_path / "paper.yaml"))


def results() -> Study:
    rows = []
    for variant, factor in (("B+", 4), ("p8B+", 1)):
        for keys in (100, 1000):
            slots = {"busy": 10, "dcache": 20 * factor, "dtlb": 2, "branch": 1, "other": 3, "drain": 0}
            row = {"variant": variant, "workload.keys": keys, "cycles": keys * factor, "operations": 10}
            rows.append(row | {f"slots_{k}": v for k, v in slots.items()} | {"slots_total": sum(slots.values())})
    machines: dict[str, dict[str, Any]] = {}
    return Study({"p": panel(rows, ["workload.keys"])}, machines.__getitem__)


def plots(text: str) -> list[Plot]:
    return validate(FigureFile, parse(f"{{schema_version: 1, id: f, title: t, where: w, plots: [{text}]}}", "f.yaml")).plots


LINES = "{kind: lines, title: l, panel: p, x: workload.keys, log: [x, y]}"
SHARES = "{kind: lines, title: n, panel: p, x: workload.keys, normalize_to: B+}"
BARS = "{kind: breakdown, title: b, panel: p, series: [B+, p8B+], where: {workload.keys: 100}, normalize_to: B+}"


def drawn(axes: Axes) -> dict[str, list[float]]:
    return {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in axes.lines}


def test_curves_show_the_results() -> None:
    figure = draw("t", plots(f"{LINES}, {SHARES}"), results())
    times, shares = figure.axes
    assert drawn(times) == {"B+": [400, 4000], "p8B+": [100, 1000]}
    assert drawn(shares) == {"B+": [100, 100], "p8B+": [25, 25]}
    assert (times.get_xlabel(), times.get_ylabel()) == ("keys in the tree", "execution time (cycles)")
    assert (times.get_xscale(), times.get_yscale()) == ("log", "log")
    assert shares.get_ylabel() == "execution time (% of B+)"


def test_breakdown_bars_add_up_to_the_time() -> None:
    (axes,) = draw("t", plots(BARS), results()).axes
    heights = [[bar.get_height() for bar in container] for container in axes.containers]
    whole, prefetching = (sum(part) for part in zip(*heights, strict=True))
    assert whole == pytest.approx(100)
    assert prefetching == pytest.approx(100 * 36 / 96)


@pytest.mark.parametrize("variant", ["B+", "p8B+"])
def test_breakdown_bars_have_the_wait_for_code(variant: str) -> None:
    points = results()["p"]
    waits = points["variant"] == variant  # the machines of the others have no instruction cache
    points["slots_icache"] = points["slots_total"].where(waits) / 4
    points.loc[waits, "slots_total"] *= 1.25
    study = Study({"p": points}, {}.__getitem__)
    (axes,) = draw("t", plots(BARS), study).axes
    heights = [sum(part) for part in zip(*([bar.get_height() for bar in container] for container in axes.containers), strict=True)]
    totals = points[points["workload.keys"] == 100].set_index("variant")["slots_total"]
    assert heights == pytest.approx([100, 100 * totals["p8B+"] / totals["B+"]])
    assert "instruction cache stalls" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_bar_without_instruction_caches_does_not_speak_of_them() -> None:
    (axes,) = draw("t", plots(BARS), results()).axes
    assert "instruction cache stalls" not in [text.get_text() for text in axes.get_legend().get_texts()]


def test_sections_take_every_cause_once() -> None:
    taken = [cause for _, _, causes in style.SECTIONS for cause in causes]
    assert sorted(taken) == sorted(cause.name for cause in CAUSES)


def test_images_are_the_same_every_time() -> None:
    first, second = (draw("t", plots(f"{LINES}, {BARS}"), results()) for _ in range(2))
    assert image(first, "svg") == image(second, "svg")
    assert b"<dc:date>" not in image(first, "svg")
    assert image(first, "png") == image(second, "png")
    assert matplotlib_image.imread(io.BytesIO(image(first, "png"))).shape[2] == 4


def test_a_plot_of_what_is_not_there_is_a_mistake() -> None:
    with pytest.raises(MeasureError, match="no axis `fill`"):
        draw("t", plots("{kind: lines, title: l, panel: p, x: fill}"), results())


def test_a_tree_looks_the_same_whatever_its_width() -> None:
    assert style.look("p8B+") == style.look("p4B+") == style.look("pB+")
    colours = [style.look(name)[0] for name in ("B+", "CSB+", "p8B+", "p5CSB+", "p8eB+", "p8iB+")]
    assert len(set(colours)) == len(colours)
    assert style.look("p8eB+ 100%")[2] != style.look("p8eB+")[2]


MODEL_LINES = """{kind: model-lines, title: m, x: columns, along: store, y: cost (million units), scale: 1.0e-6,
  model: {name: scan-total, given: {store: [standard-row, super-column], rows: 8000000, columns: [32, 4]}}}"""
MODEL_BARS = """{kind: model-stack, title: s, along: store, y: cost, parts: {disk I/O: scan-io, iteration: scan-iteration},
  given: {store: [standard-row, super-row], rows: 8000000, columns: 4}}"""
COLUMN_BARS = """{kind: stack, title: c, panel: p, series: [B+, p8B+], where: {workload.keys: 100}, y: cycles,
  parts: {time: cycles, work: slots_busy}}"""


def test_models_are_drawn_without_results() -> None:
    lines, stack = draw("t", plots(f"{MODEL_LINES}, {MODEL_BARS}"), Study({}, {}.__getitem__)).axes
    assert drawn(lines) == {"standard-row": [808, 1228], "super-column": pytest.approx([253.17, 2072.935], rel=1e-5)}
    assert lines.get_xlabel() == "columns per tuple"
    assert [[bar.get_height() for bar in part] for part in stack.containers] == [[120e6, 60e6], [640e6, 0.32e6]]


def test_columns_are_stacked_by_series() -> None:
    (axes,) = draw("t", plots(COLUMN_BARS), results()).axes
    assert [[bar.get_height() for bar in part] for part in axes.containers] == [[400, 100], [10, 10]]
    assert [bar.get_y() for bar in axes.containers[1]] == [400, 100]


WITH_DOLLARS = r"a$\frac$b"
"""As mathematics this cannot be drawn at all."""


@pytest.mark.parametrize(
    ("plot", "times"),
    [
        ("{kind: lines, title: l, panel: p, series: [$], x: workload.keys, normalize_to: $, curves: [$c]}", 3),
        ("{kind: lines, title: l, panel: p, x: named, y: $, per: $}", 2),
        ("{kind: bars, title: b, panel: p, series: [$], x: named, y: $}", 3),
        ("{kind: stack, title: s, panel: p, series: [$], where: {workload.keys: 100}, y: $, parts: {$: cycles}}", 3),
        ("{kind: breakdown, title: b, panel: p, where: {workload.keys: 100}, series: [$], normalize_to: $}", 2),
        (MODEL_LINES.replace("cost (million units)", "$"), 1),
        (MODEL_BARS.replace("disk I/O", "$").replace("y: cost", "y: $"), 2),
    ],
)
def test_dollars_are_drawn_as_written_wherever_they_stand(plot: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memwalk.analysis.figures.draw.at_points", lambda _, points, __: points["cycles"])
    monkeypatch.setattr(Study, "costs", lambda *_: None)
    rows = [{"variant": WITH_DOLLARS, "workload.keys": 100, "named": WITH_DOLLARS, "cycles": 9, WITH_DOLLARS: 1}]
    rows[0] |= {"slots_total": 9, "slots_busy": 9}
    axes = ["named"] if "named" in plot else ["workload.keys"]
    study = Study({"p": panel(rows, axes)}, dict[str, dict[str, Any]]().get)
    text = plot.replace("$c", "{label: $, series: $, model: m, machine: m}").replace("$", f"'{WITH_DOLLARS}'")
    svg = image(draw("t", plots(text), study), "svg").decode()
    assert svg.count(f">{WITH_DOLLARS}<") + svg.count(f"{WITH_DOLLARS})<") == times


def test_an_axis_with_zeros_is_linear_near_them() -> None:
    text = "{kind: lines, title: t, panel: p, series: [B+], x: workload.keys, y: cycles, log: [LOG], zeros: true}"
    (axes,) = draw("t", plots(text.replace("LOG", "y")), results()).axes
    assert axes.get_yscale() == "symlog"
    with pytest.raises(UserError, match="zeros is for a logarithmic y axis"):
        plots(text.replace("LOG", "x"))


def test_bars_stand_side_by_side_in_the_order_of_the_sweep() -> None:
    (axes,) = draw("t", plots("{kind: bars, title: b, panel: p, series: [B+, p8B+], x: workload.keys, y: cycles}"), results()).axes
    ours, theirs = axes.containers
    assert [[bar.get_height() for bar in one] for one in (ours, theirs)] == [[400, 4000], [100, 1000]]
    assert all(bar.get_x() + bar.get_width() == pytest.approx(other.get_x()) for bar, other in zip(ours, theirs, strict=True))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["100", "1000"]


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (MODEL_LINES.replace("scan-total", "scan-totals"), "there is no cost model `scan-totals`; did you mean `scan-total`"),
        (MODEL_BARS.replace("scan-io", "scan-i"), "there is no cost model `scan-i`"),
        (MODEL_BARS.replace("rows", "row"), "cost model `scan-io` has no `row`; it takes store, rows"),
    ],
)
def test_a_model_plot_with_a_mistake_is_refused_when_read(plot: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        plots(plot)


def test_many_series_look_different() -> None:
    looks = [style.look("", index) for index in range(21)]
    assert len(set(looks)) == len(looks)
    assert "--" not in {dashes for _, _, dashes in looks}, "models are drawn so"


def test_stores_look_the_same_everywhere() -> None:
    looks = [style.look(store, index) for store in ("standard-row", "super-row", "super-column") for index in (0, 5)]
    assert looks[::2] == looks[1::2]
    assert len(set(looks)) == 3


def test_axes_of_our_figures_are_labelled_for_people() -> None:
    plots = [plot for paper in every_paper() for figure in paper.figures for plot in figure.file.plots]
    axes = {getattr(plot, axis) for plot in plots for axis in ("x", "y") if hasattr(plot, axis)}
    assert len(axes) > 40
    assert [axis for axis in sorted(axes) if re.search(r"[._]", style.label(axis).split(" (")[0])] == []
