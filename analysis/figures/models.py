"""Draws what cost models say, without results: curves along a parameter, and bars of stacked parts."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from memwalk.analysis.claims.measures import Sources, lines_along
from memwalk.analysis.figures import style
from memwalk.analysis.figures.schema import ModelLines, ModelStack


def lines(axes: Axes, plot: ModelLines, sources: Sources) -> None:
    """Draw a curve per value of ``along``."""
    curves = lines_along(plot.model.values(sources), plot.x)
    by_series: dict[str, list[tuple[float, float]]] = {}
    for place, curve in curves.items():
        by_series.setdefault(str(place.value(plot.along)), []).extend(curve)
    for index, (series, points) in enumerate(by_series.items()):
        xs, ys = zip(*sorted(points), strict=True)
        colour, marker, _ = style.look(series, index)
        axes.plot(xs, [plot.scale * y for y in ys], color=colour, marker=marker, linestyle="--", label=series)
    axes.set_xlabel(style.label(plot.x))
    axes.set_ylabel(plot.y)
    if "x" in plot.log:
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend()


def stack(axes: Axes, plot: ModelStack, sources: Sources) -> None:
    """Draw a bar per value of ``along``, its parts on top of each other."""
    heights: dict[str, list[float]] = {}
    names: list[str] = []
    for label, model in plot.modelled.items():
        values = model.values(sources)
        names = [str(place.value(plot.along)) for place in values]
        heights[label] = [plot.scale * value for value in values.values()]
    bars(axes, names, heights, plot.y)


def bars(axes: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]], y_label: str) -> None:
    """Draw stacked bars, the first part at the bottom; the legend lists the parts from the top down."""
    bottoms = [0.0] * len(names)
    for label, heights in parts.items():
        axes.bar(names, heights, bottom=bottoms, color=style.PARTS.get(label), label=label, width=0.6)
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    axes.set_ylabel(y_label)
    axes.grid(axis="x", visible=False)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1])
    axes.set_ylim(0, max(bottoms) * 1.3)
