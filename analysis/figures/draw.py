"""Draws the plots of a figure file from its results."""

import io
from collections.abc import Callable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memwalk.analysis.claims.study import Study
from memwalk.analysis.claims.sweep import lines_by_place, rows, series, speedup
from memwalk.analysis.figures import models, style
from memwalk.analysis.figures.modelled import at_points
from memwalk.analysis.figures.schema import Bars, Breakdown, Lines, Plot, Stack
from memwalk.analysis.figures.selection import selected
from memwalk.analysis.figures.stacked import Layer, draw_stacked


def draw(title: str, plots: list[Plot], study: Study) -> Figure:
    """Draws plots side by side, two in a row. Raises MeasureError if a plot does not fit the results."""
    with style.styled():
        columns = min(2, len(plots))
        height_in_plots = -(-len(plots) // columns)
        width, height = style.PANEL_INCHES
        figure = Figure(figsize=(columns * width, height_in_plots * height + 0.5))
        figure.suptitle(style.as_written(title), fontsize=10)
        for number, plot in enumerate(plots, start=1):
            axes = figure.add_subplot(height_in_plots, columns, number)
            axes.set_title(style.as_written(plot.title))
            _DRAWN[plot.kind](axes, plot, study)
        return style.settled(figure)


def image(figure: Figure, kind: str) -> bytes:
    """Render the figure as ``png`` or ``svg``; the same figure gives the same bytes."""
    content = io.BytesIO()
    with style.styled():
        figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return content.getvalue()


def _shown(plot: Lines, study: Study) -> pd.DataFrame:
    """Select the points of one panel, or of several that share a sweep."""
    names = [plot.panel] if isinstance(plot.panel, str) else plot.panel
    return selected(study.joined(*names), plot.where)


def _lines(axes: Axes, plot: Lines, study: Study) -> None:
    count = 0
    points = _shown(plot, study)
    for name in plot.series or dict.fromkeys(str(variant) for variant in points["variant"]):
        curves = lines_by_place(_values(plot, points, name), plot.x)
        for places, curve in curves.items():
            alone = len(curves) == 1
            colour, marker, dashes = style.look(name if alone else "", count)
            there = (f"{style.label(axis)} = {style.as_written(str(value))}" for axis, value in places)
            label = style.as_written(name) if alone else ", ".join(there)
            axes.plot(style.along_axis(curve.index), curve, color=colour, marker=marker, linestyle=dashes, label=label)
            count += 1
    for theory in plot.curves:
        modelled = at_points(theory.model, rows(points, theory.series), study.costs(theory.machine))
        (curve,) = lines_by_place(modelled, plot.x).values()
        axes.plot(
            style.along_axis(curve.index), curve, color=style.look(theory.series)[0], linestyle="--", label=style.as_written(theory.label)
        )
    axes.set_xlabel(style.label(plot.x))
    axes.set_ylabel(_y_label(plot))
    if "x" in plot.log:
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("symlog" if plot.zeros else "log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend()


def _bars(axes: Axes, plot: Bars, study: Study) -> None:
    width = 0.8 / len(plot.series)
    points = selected(study[plot.panel], plot.where)
    for number, name in enumerate(plot.series):
        values = series(points, name, plot.y)
        groups = [style.as_written(str(place)) for place in values.index.get_level_values(plot.x)]
        middles = [group + (number - (len(plot.series) - 1) / 2) * width for group in range(len(groups))]
        axes.bar(middles, list(values), width=width, color=style.look("", number)[0], label=style.as_written(name))
        axes.set_xticks(range(len(groups)), groups)
    axes.set_xlabel(style.label(plot.x))
    axes.set_ylabel(style.label(plot.y))
    axes.grid(axis="x", visible=False)
    if plot.log:
        axes.set_yscale("log")
    axes.legend(ncols=len(plot.series), loc="lower center", bbox_to_anchor=(0.5, -0.35))


def _values(plot: Lines, points: pd.DataFrame, name: str) -> "pd.Series[float]":
    if plot.normalize_to is not None:
        return 100 * speedup(points, plot.normalize_to, over=name, column=plot.y)
    return series(points, name, plot.y, plot.per) * (100 if plot.percent else 1)


def _y_label(plot: Lines) -> str:
    if plot.normalize_to is not None:
        return f"{style.label(plot.y).split(' (')[0]} (% of {style.as_written(plot.normalize_to)})"
    if plot.per is None:
        return style.label(plot.y)
    if plot.percent:
        return f"{style.label(plot.y)} (% of {style.as_written(plot.per)})"
    return style.as_written(f"{plot.y} per {plot.per.removesuffix('s')}")


def _breakdown(axes: Axes, plot: Breakdown, study: Study) -> None:
    points = selected(study[plot.panel], plot.where)
    # What a machine cannot wait for, such as code without an instruction cache, takes no slots of it.
    points = points.fillna(dict.fromkeys(points.filter(like="slots_").columns, 0))

    def slots(name: str, cause: str) -> float:
        return series(points, name, f"slots_{cause}").item()

    whole = slots(plot.normalize_to, "total")
    layers: list[Layer] = []
    for label, colour, causes in style.SECTIONS:
        known = [cause for cause in causes if f"slots_{cause}" in points]
        if known:
            layers.append((label, colour, [100 * sum(slots(name, cause) for cause in known) / whole for name in plot.series]))
    draw_stacked(axes, plot.series, layers, f"execution time (% of {style.as_written(plot.normalize_to)})", room=1.45)


def _stack(axes: Axes, plot: Stack, study: Study) -> None:
    points = selected(study[plot.panel], plot.where)
    parts = {label: [series(points, name, column).item() for name in plot.series] for label, column in plot.parts.items()}
    models.bars(axes, plot.series, parts, plot.y)


_DRAWN: dict[str, Callable[[Axes, Any, Study], None]] = {
    "lines": _lines,
    "bars": _bars,
    "breakdown": _breakdown,
    "stack": _stack,
    "model-lines": models.lines,
    "model-stack": models.stack,
}
"""How each kind of plot is drawn."""
