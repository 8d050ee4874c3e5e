"""Draws the plots of a figure file from its results."""

import io
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memwalk.analysis.claims.measures import Ratio, Sources, Value, lines_along, memory_facts, tree_facts
from memwalk.analysis.claims.tables import Values, mean, pick
from memwalk.analysis.cost_models import model
from memwalk.analysis.figures import models, style
from memwalk.analysis.figures.schema import Bars, Breakdown, Lines, Plot, Stack


def draw(title: str, plots: list[Plot], sources: Sources) -> Figure:
    """Draws plots side by side, two in a row. Raises MeasureError if a plot does not fit the results."""
    with style.styled():
        columns = min(2, len(plots))
        rows = -(-len(plots) // columns)
        width, height = style.PANEL_INCHES
        figure = Figure(figsize=(columns * width, rows * height + 0.5))
        figure.suptitle(title, fontsize=10)
        for number, plot in enumerate(plots, start=1):
            axes = figure.add_subplot(rows, columns, number)
            axes.set_title(plot.title)
            _DRAWN[plot.kind](axes, plot, sources)
        # The layout costs more than the drawing: settle it once for all images.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        return figure


def image(figure: Figure, kind: str) -> bytes:
    """Render the figure as ``png`` or ``svg``; the same figure gives the same bytes."""
    content = io.BytesIO()
    with style.styled():
        figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return content.getvalue()


def _panels(plot: Lines) -> list[str]:
    return [plot.panel] if isinstance(plot.panel, str) else plot.panel


def _series(plot: Lines, sources: Sources) -> Iterable[str]:
    rows = (row for panel in _panels(plot) for row in sources.tables[panel].rows)
    return plot.series or dict.fromkeys(str(row["variant"]) for row in rows)


def _lines(axes: Axes, plot: Lines, sources: Sources) -> None:
    count = 0
    for series in _series(plot, sources):
        lines = lines_along(_values(plot, series, sources), plot.x)
        for rest, line in lines.items():
            alone = len(lines) == 1
            colour, marker, dashes = style.look(series if alone else "", count)
            name = series if alone else ", ".join(f"{style.label(axis)} = {value}" for axis, value in rest.axes)
            xs, ys = zip(*line, strict=True)
            axes.plot(xs, ys, color=colour, marker=marker, linestyle=dashes, label=name)
            count += 1
    for curve in plot.curves:
        facts = memory_facts(sources.machine(curve.machine))
        picked = pick(sources.tables, _panels(plot), curve.series, plot.where)
        values = {place: model(curve.model)(facts | tree_facts(rows[0])) for place, rows in picked.items()}
        ((_, line),) = lines_along(values, plot.x).items()
        xs, ys = zip(*line, strict=True)
        axes.plot(xs, ys, color=style.look(curve.series)[0], linestyle="--", label=curve.label)
    axes.set_xlabel(style.label(plot.x))
    axes.set_ylabel(_y_label(plot))
    if "x" in plot.log:
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("symlog" if plot.y == "chunk_splits" else "log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend()


def _bars(axes: Axes, plot: Bars, sources: Sources) -> None:
    width = 0.8 / len(plot.series)
    for number, series in enumerate(plot.series):
        values = Value(panel=plot.panel, where=plot.where, variant=series, column=plot.y).values(sources)
        groups = [str(place.value(plot.x)) for place in values]
        middles = [group + (number - (len(plot.series) - 1) / 2) * width for group in range(len(groups))]
        axes.bar(middles, list(values.values()), width=width, color=style.look("", number)[0], label=series)
        axes.set_xticks(range(len(groups)), groups)
    axes.set_xlabel(style.label(plot.x))
    axes.set_ylabel(style.label(plot.y))
    axes.grid(axis="x", visible=False)
    if plot.log:
        axes.set_yscale("log")
    axes.legend(ncols=len(plot.series), loc="lower center", bbox_to_anchor=(0.5, -0.35))


def _values(plot: Lines, series: str, sources: Sources) -> Values:
    if plot.normalize_to is not None:
        ratio = Ratio(panel=plot.panel, where=plot.where, of=plot.normalize_to, over=series, column=plot.y)
        return {place: 100 * value for place, value in ratio.values(sources).items()}
    value = Value(panel=plot.panel, where=plot.where, variant=series, column=plot.y, per=plot.per)
    return {place: number * (100 if plot.percent else 1) for place, number in value.values(sources).items()}


def _y_label(plot: Lines) -> str:
    if plot.normalize_to is not None:
        return f"{style.label(plot.y).split(' (')[0]} (% of {plot.normalize_to})"
    if plot.per is None:
        return style.label(plot.y)
    if plot.percent:
        return f"{style.label(plot.y)} (% of {plot.per})"
    return f"{plot.y} per {plot.per.removesuffix('s')}"


def _breakdown(axes: Axes, plot: Breakdown, sources: Sources) -> None:
    def only(series: str) -> list[Any]:
        picked = pick(sources.tables, [plot.panel], series, plot.where)
        ((_, rows),) = picked.items()
        return rows

    whole = mean(only(plot.normalize_to), "slots_total")
    bottoms = dict.fromkeys(plot.series, 0.0)
    for name, colour, causes in style.SECTIONS:
        slots = {series: _slots(only(series), causes) for series in plot.series}
        if all(value is None for value in slots.values()):
            continue
        heights = [100 * (slots[series] or 0.0) / whole for series in plot.series]
        axes.bar(plot.series, heights, bottom=list(bottoms.values()), color=colour, label=name, width=0.6)
        bottoms = {series: bottoms[series] + height for series, height in zip(plot.series, heights, strict=True)}
    axes.set_ylabel(f"execution time (% of {plot.normalize_to})")
    axes.grid(axis="x", visible=False)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1])
    axes.set_ylim(0, max(bottoms.values()) * 1.45)


def _slots(rows: list[Any], causes: Iterable[str]) -> float | None:
    """Return the mean slots of causes together; None if no machine of these rows has any of them."""
    known = [column for column in (f"slots_{cause}" for cause in causes) if all(_is_known(row.get(column)) for row in rows)]
    return sum(mean(rows, column) for column in known) if known else None


def _is_known(value: float | None) -> bool:
    """Tell a number from what a machine does not have."""
    return not (value is None or pd.isna(value))


def _stack(axes: Axes, plot: Stack, sources: Sources) -> None:
    def height(column: str) -> list[float]:
        picked = [pick(sources.tables, [plot.panel], series, plot.where) for series in plot.series]
        return [mean(rows, column) for ((_, rows),) in (found.items() for found in picked)]

    models.bars(axes, plot.series, {label: height(column) for label, column in plot.parts.items()}, plot.y)


_DRAWN: dict[str, Callable[[Axes, Any, Sources], None]] = {
    "lines": _lines,
    "bars": _bars,
    "breakdown": _breakdown,
    "stack": _stack,
    "model-lines": models.lines,
    "model-stack": models.stack,
}
"""How each kind of plot is drawn."""
