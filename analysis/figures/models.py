"""Draws what cost models say, without results: curves along a parameter, and bars of stacked parts."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from memwalk.analysis.claims.study import Study
from memwalk.analysis.figures import style
from memwalk.analysis.figures.schema import ModelLines, ModelStack
from memwalk.analysis.figures.stacked import draw_stacked


def lines(axes: Axes, plot: ModelLines, _study: Study) -> None:
    """Draw a curve per value of ``along``."""
    cases = plot.model.table()
    for index, (series, curve) in enumerate(cases.groupby(plot.along, sort=False)):
        points = curve.sort_values(plot.x)
        colour, marker, _ = style.look(str(series), index)
        label = style.as_written(str(series))
        axes.plot(style.along_axis(points[plot.x]), plot.scale * points["value"], color=colour, marker=marker, linestyle="--", label=label)
    axes.set_xlabel(style.label(plot.x))
    axes.set_ylabel(style.as_written(plot.y))
    if "x" in plot.log:
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend()


def stack(axes: Axes, plot: ModelStack, _study: Study) -> None:
    """Draw a bar per value of ``along``, its parts on top of each other."""
    tables = {label: model.table() for label, model in plot.modelled.items()}
    names = [str(name) for name in next(iter(tables.values()))[plot.along]]
    bars(axes, names, {label: list(plot.scale * table["value"]) for label, table in tables.items()}, plot.y)


def bars(axes: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]], y_label: str) -> None:
    """Draw a bar per name of the parts of a cost, in the order in which they are given."""
    layers = ((label, style.PARTS.get(label), heights) for label, heights in parts.items())
    draw_stacked(axes, names, layers, style.as_written(y_label), room=1.3)
