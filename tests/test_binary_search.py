"""Lines that a binary search touches: the model against counting."""

from __future__ import annotations

import pytest

from memwalk.analysis.cost_models.binary_search import steps


def touched(keys: int, each: int, wanted: int) -> int:
    """Count the lines, of so many keys each, on which a search for a place among the keys looks at one."""
    low, high, lines = 0, keys, set()
    while low < high:
        middle = (low + high) // 2
        lines.add(middle // each)
        low, high = (middle + 1, high) if middle < wanted else (low, middle)
    return len(lines)


@pytest.mark.parametrize("keys", [16, 100, 453, 1000, 4000])
def test_steps_are_those_that_searches_take(keys: int) -> None:
    """A key beside the one that is looked for may be on the next line, which the model leaves out."""
    counted = sum(touched(keys, 16, wanted) for wanted in range(keys + 1)) / (keys + 1)
    assert sum(steps(keys / 16)) == pytest.approx(counted, abs=0.35)


def test_all_lines_are_touched_by_some_search() -> None:
    for lines in (1.0, 2.5, 28.3125, 64.0):
        assert sum(part * 2**step for step, part in enumerate(steps(lines))) == pytest.approx(lines)
    assert list(steps(0.2)) == [1.0]
