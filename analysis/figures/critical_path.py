"""Draws a critical path over time, with the lines that were on their way meanwhile."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from memwalk.analysis.explain.critical_path import INSTRUCTIONS, MISPREDICTION, TRANSLATION, Part, Watched
from memwalk.analysis.figures import style

MOST_LINES = 4000
"""Lines that are drawn at most."""
_COLOURS = {INSTRUCTIONS: style.BLUE, MISPREDICTION: style.SKY, TRANSLATION: style.YELLOW}
_LINE, _REST, _BESIDE = style.VERMILION, "#999999", "#e6c3ae"
"""A line on the path, what has no colour of its own, and a line beside the path: the first, paler."""


def draw(title: str, path: Sequence[Part], watched: Watched) -> Figure:
    """Draw the path as one bar, in cycles from its beginning, and above it a bar for each line on its way; those on the path are dark."""
    with style.styled():
        figure = Figure(figsize=(10, 3.6), layout="constrained")
        axes = figure.add_subplot()
        begin = path[0].start
        for part in path:
            axes.barh(0, part.cycles, left=part.start - begin, height=0.9, color=_colour(part.kind))
        on_path = {part.by for part in path if _colour(part.kind) == _LINE}
        for lane, place, start, end in _lanes(watched):
            axes.barh(1 + lane, end - start, left=start - begin, height=0.7, color=_LINE if place in on_path else _BESIDE)
        axes.set_xlim(0, path[-1].end - begin)
        axes.set_xlabel("cycles")
        axes.set_ylabel("lines on their way")
        axes.set_yticks([0], ["path"])
        axes.set_title(style.as_written(title))
        named = {_colour(part.kind): "others" if _colour(part.kind) == _REST else part.kind for part in path}
        named |= {_LINE: "line on the path", _BESIDE: "line beside it"}
        axes.legend(
            handles=[Patch(color=colour, label=name) for colour, name in named.items()], fontsize=7, ncols=len(named), loc="upper right"
        )
        axes.margins(y=0.15)
        return style.settled(figure)


def _colour(kind: str) -> str:
    return _LINE if kind.startswith("line") else _COLOURS.get(kind, _REST)


def _lanes(watched: Watched) -> list[tuple[int, int, int, int]]:
    """Give each line that comes from behind the first cache a lane: lane, place of the event, start and end."""
    times = zip(watched.column("translated"), watched.column("arrived"), watched.column("level"), strict=True)
    coming = sorted((start, end, place) for place, (start, end, level) in enumerate(times) if level and end > start + 1)[:MOST_LINES]
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    found = []
    for start, end, place in coming:
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lane))
        found.append((lane, place, start, end))
    return found
