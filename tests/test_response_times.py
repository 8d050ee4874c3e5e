"""Distributions of response times: figures against numpy's on the same times, demerit by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.analysis.disk_traces.response_times import Distribution, demerit_ps

US = 10**6
MS = 10**9
# Bins of a microsecond, bins that are wider, and both around where they begin to be.
times = st.one_of(st.integers(0, 200_000 * US), st.integers(0, 10**16), st.integers(131_000 * US, 132_000 * US))


def distribution(*batches):
    counted = Distribution()
    for batch in batches:
        counted.add(np.array(batch, np.int64))
    return counted


@given(st.lists(st.lists(times, min_size=1, max_size=50), min_size=1, max_size=4))
def test_figures_are_those_of_all_times(batches):
    counted = distribution(*batches)
    flat = np.concatenate(batches)
    assert counted.count == len(flat)
    assert counted.max_ps == flat.max()
    assert math.isclose(counted.mean_ps, flat.mean(), rel_tol=1e-12)
    assert math.isclose(counted.std_ps, flat.std(), rel_tol=1e-6, abs_tol=1e-6 * flat.max() + 1)
    for percent in (50, 90, 99, 99.9, 100):
        exact = int(np.percentile(flat, percent, method="inverted_cdf"))
        assert abs(counted.percentile_ps(percent) - exact) <= max(US / 2, exact / 2**17)
    joined = Distribution()
    for batch in batches:
        joined.add_all(distribution(batch))
    assert all(np.array_equal(*pair) for pair in zip(joined.steps(), counted.steps(), strict=True))
    assert math.isclose(joined.std_ps, counted.std_ps, rel_tol=1e-9, abs_tol=1)


def test_percentiles_are_times_that_occurred():
    counted = distribution([MS, 2 * MS, 3 * MS, 4 * MS])
    assert [counted.percentile_ps(percent) for percent in (0, 25, 26, 50, 99, 100)] == [MS, MS, 2 * MS, 2 * MS, 4 * MS, 4 * MS]


def test_a_time_of_days_takes_no_more_memory_than_megabytes():
    counted = distribution([1, 2**62])
    assert counted.percentile_ps(100) == pytest.approx(2**62, rel=2**-17)
    assert counted._counts.nbytes < 20e6


def test_demerit_by_hand():
    """Sorted, the two are 1 and 1, 2 and 5, 6 and 6 ms: only the middle pair is apart, by 3 ms."""
    one, other = distribution([2 * MS, 1 * MS, 6 * MS]), distribution([6 * MS, 5 * MS, 1 * MS])
    assert demerit_ps(one, other) == pytest.approx(math.sqrt(9 / 3) * MS)
    assert demerit_ps(other, one) == demerit_ps(one, other)
    assert demerit_ps(one, one) == 0


@given(st.lists(st.tuples(st.integers(0, 10**5), st.integers(0, 10**5)), min_size=1, max_size=60))
def test_demerit_is_the_distance_of_sorted_times(pairs):
    one, other = (np.sort(np.array(column, np.int64) * US) for column in zip(*pairs, strict=True))
    assert demerit_ps(distribution(one), distribution(other)) == pytest.approx(math.sqrt(np.square((one - other).astype(float)).mean()))


def test_nothing_counted_is_nothing():
    empty = Distribution()
    assert (empty.count, empty.mean_ps, empty.std_ps, empty.max_ps) == (0, 0, 0, 0)
    assert demerit_ps(empty, Distribution()) == 0
