"""Draws bars of parts on top of each other."""

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from memwalk.analysis.figures import style

Layer = tuple[str, str | None, Sequence[float]]
"""A part of each bar: its label, its colour if it has one of its own, and its height in each bar."""


def draw_stacked(axes: Axes, bars: Sequence[str], layers: Iterable[Layer], y_label: str, *, room: float) -> None:
    """Draw stacked bars, the first layer at the bottom; the legend lists the layers from the top down.

    The axis goes up to ``room`` times the highest bar, so that the legend covers none.
    """
    bottoms = [0.0] * len(bars)
    drawn = [style.as_written(name) for name in bars]
    for label, colour, heights in layers:
        axes.bar(drawn, heights, bottom=bottoms, color=colour, label=style.as_written(label), width=0.6)
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    axes.set_ylabel(y_label)
    axes.grid(axis="x", visible=False)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1])
    axes.set_ylim(0, max(bottoms) * room)
