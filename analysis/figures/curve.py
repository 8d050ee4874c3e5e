"""Draws miss curves."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from memwalk.analysis.figures import style
from memwalk.simcore.errors import UserError
from memwalk.simcore.units import in_units


def draw_curves(title: str, curves: dict[str, pd.DataFrame]) -> Figure:
    """Draw the miss ratio over the capacity (log2) of one or more curves, by name; with a band of two standard errors if known.

    Raises UserError for no curve at all.
    """
    if not curves:
        raise UserError(f"{title}: there is no curve to draw; give one at least")
    with style.styled():
        figure = Figure(figsize=style.WIDE_INCHES)
        axes = figure.add_subplot()
        lines: dict[str, Line2D] = {}
        for index, (name, curve) in enumerate(curves.items()):
            colour, _, dashes = style.look(name, index)
            (line,) = axes.plot(curve["capacity_bytes"], curve["miss_ratio"], color=colour, linestyle=dashes)
            lines[style.as_written(name)] = line
            if "standard_error" in curve:
                band = 2 * curve["standard_error"]
                low, high = curve["miss_ratio"] - band, curve["miss_ratio"] + band
                axes.fill_between(curve["capacity_bytes"], low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set_title(style.as_written(title))
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(LogLocator(base=16))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: in_units(int(value))))
        axes.set_xlabel("capacity (LRU)")
        axes.set_ylabel("miss ratio (misses per access)")
        axes.set_ylim(0, 1)
        # Named here: of labels of lines, matplotlib leaves out those that begin with `_`.
        axes.legend(list(lines.values()), list(lines))
        return style.settled(figure)
