"""Cache lines that a binary search touches."""

from __future__ import annotations

from collections.abc import Iterator


def steps(lines: float) -> Iterator[float]:
    """List with what probability each step of a binary search in so many lines is on a line that no step before was on.

    A step is on one of twice as many lines as the step before, as long as there are so many that none was on. The last one finds only
    some of these left, and is otherwise on a line that is there already, as are all behind it.
    """
    places, left = 1.0, max(lines, 1.0)
    while left > places:
        yield 1.0
        places, left = 2 * places, left - places
    yield left / places
