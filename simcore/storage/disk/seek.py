"""How long the arm takes to move: from a measured curve, or from the three numbers of a data sheet."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import sqrt
from typing import TypeAlias

SeekTime: TypeAlias = Callable[[int], int]
"""Time in ps to move over a number of cylinders, 1 or more."""

ACCELERATED = 0.15
"""Part of the cylinders over which a seek is acceleration and its time grows with the root of the distance; estimated from the
extracted curves of the Atlas 10K and the Cheetah 9LP, which turn straight there."""


def curve(points: Sequence[tuple[int, int]]) -> SeekTime:
    """Draw straight lines between points of distance and time (ps), and go on straight behind the last one, or level if the line falls.

    DiskSim reads an extracted curve in the same way, but lets it fall on. There are two points or more, in order of distance.
    """
    *_, (_, soon), (far, late) = points
    if late < soon:
        points = [*points, (far + 1, late)]
    distances = [distance for distance, _ in points]
    lines = [(x, y, later_y - y, later_x - x) for (x, y), (later_x, later_y) in pairwise(points)]
    last = len(lines)

    def seek_ps(distance: int) -> int:
        x, y, rise, run = lines[min(max(bisect_left(distances, distance), 1), last) - 1]
        return y + (distance - x) * rise // run

    return seek_ps


def formula(track_to_track: int, average: int, full_stroke: int, cylinders: int) -> SeekTime:
    """Make a curve that starts with ``track_to_track``, ends with ``full_stroke`` and has that ``average`` (all in ps).

    A seek over d cylinders takes t1 + a (sqrt(d) - 1) up to `ACCELERATED` of the cylinders and goes on straight from there. Over
    seeks between random cylinders, which are d apart with density 2 (C - d) / C^2, the mean is linear in a, which gives a.

    Raises ValueError if the curve would fall somewhere.
    """
    share = ACCELERATED
    knee = share * cylinders
    short = share * (2 - share)
    root_mean = sqrt(cylinders) * (4 / 3 * share**1.5 - 4 / 5 * share**2.5)
    to_knee = sqrt(knee) - 1
    beyond_mean = cylinders * (1 - share) ** 3 / 3
    stretch = beyond_mean / (cylinders - 1 - knee)
    a = (average - track_to_track - stretch * (full_stroke - track_to_track)) / (
        root_mean - short + (1 - short) * to_knee - stretch * to_knee
    )
    at_knee = track_to_track + a * to_knee
    slope = (full_stroke - at_knee) / (cylinders - 1 - knee)
    if a < 0 or slope < 0:
        raise ValueError("no curve that never falls has that track-to-track, average and full-stroke time; correct one of them")

    def seek_ps(distance: int) -> int:
        if distance <= knee:
            return track_to_track + int(a * (sqrt(distance) - 1))
        return int(at_knee + slope * (distance - knee))

    return seek_ps
