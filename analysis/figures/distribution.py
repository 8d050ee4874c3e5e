"""Draws distribution functions of response times."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from memwalk.analysis.figures import style

_SHOWN = 0.999
"""Share of the requests up to which time is drawn: a few slow ones would squeeze the rest."""


def draw_distributions(title: str, distributions: dict[str, pd.DataFrame]) -> Figure:
    """Draw the share of requests over response time, of one or more distributions by name."""
    with style.styled():
        figure = Figure(figsize=style.WIDE_INCHES)
        axes = figure.add_subplot()
        end = 0.0
        for index, (name, steps) in enumerate(distributions.items()):
            colour, _, dashes = style.look(name, index)
            times, shares = steps["response_ms"].to_numpy(), steps["share"].to_numpy()
            # From no request on: of requests that take equally long there is nothing else to see.
            times, shares = np.insert(times, 0, times[0]), np.insert(shares, 0, 0.0)
            axes.step(times, shares, where="post", color=colour, linestyle=dashes, label=style.as_written(name))
            end = max(end, float(times[shares.searchsorted(min(_SHOWN, shares[-1]))]))
        axes.set_title(style.as_written(title))
        axes.set_xlabel("response time (ms), up to the slowest 0.1%")
        axes.set_ylabel("share of requests that took no longer")
        axes.set_xlim(0, 1.02 * end if end else 1)
        axes.set_ylim(0, 1)
        axes.legend(loc="lower right")
        return style.settled(figure)
