"""Response times of any number of requests in bounded memory: counted in bins, with exact mean, deviation and maximum."""

import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Times: TypeAlias = NDArray[np.int64]

_PS_PER_BIN = 10**6
"""A bin is a microsecond wide..."""
_BITS = 17
"""...up to 2**17 us = 131 ms; every doubling from there on has half as many bins, so that a bin is 2**-16 of its time at most."""


@dataclass
class Distribution:
    """How many requests took how long."""

    count: int = 0
    mean_ps: float = 0.0
    max_ps: int = 0
    _squares: float = 0.0
    """Sum of the squared distances from the mean."""
    _counts: Times = field(default_factory=lambda: np.zeros(1 << _BITS, np.int64))

    def add(self, times_ps: Times) -> None:
        """Count more requests; at least one."""
        mean = float(times_ps.mean())
        self._join(len(times_ps), mean, float(np.square(times_ps - mean).sum()), int(times_ps.max()))
        bins, counts = np.unique(_bins(times_ps), return_counts=True)
        self._reach(int(bins[-1]) + 1)
        self._counts[bins] += counts

    def add_all(self, other: "Distribution") -> None:
        """Count what another distribution has counted."""
        self._join(other.count, other.mean_ps, other._squares, other.max_ps)
        self._reach(len(other._counts))
        self._counts[: len(other._counts)] += other._counts

    @property
    def std_ps(self) -> float:
        """Standard deviation of all requests (they are the population)."""
        return math.sqrt(self._squares / self.count) if self.count else 0.0

    def percentile_ps(self, percent: float) -> int:
        """Return the least time that ``percent`` of the requests do not exceed, to half a bin (0.5 us, or 2**-17)."""
        times, below = self.steps()
        rank = math.ceil(percent / 100 * self.count)
        return min(int(times[np.searchsorted(below, max(rank, 1))]), self.max_ps)

    def steps(self) -> tuple[Times, Times]:
        """Return the distribution function: times in ps, and how many requests took that long at most."""
        bins = np.flatnonzero(self._counts)
        return _times(bins), np.cumsum(self._counts[bins])

    def _join(self, count: int, mean: float, squares: float, maximum: int) -> None:
        """Update mean and squares as Chan, Golub and LeVeque (1979) do for two samples."""
        total = self.count + count
        if not count:
            return
        distance = mean - self.mean_ps
        self._squares += squares + distance**2 * self.count * count / total
        self.mean_ps += distance * count / total
        self.count = total
        self.max_ps = max(self.max_ps, maximum)

    def _reach(self, bins: int) -> None:
        if bins > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(bins - len(self._counts), np.int64)])


def demerit_ps(one: Distribution, other: Distribution) -> float:
    """Return the root mean square horizontal distance between two distribution functions of equally many requests.

    This is the demerit figure of Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994.
    """
    assert one.count == other.count
    (times, below), (other_times, other_below) = one.steps(), other.steps()
    ranks = np.union1d(below, other_below)
    distance = times[np.searchsorted(below, ranks)] - other_times[np.searchsorted(other_below, ranks)]
    squares = np.square(distance.astype(float)) * np.diff(ranks, prepend=0)
    return math.sqrt(squares.sum() / one.count) if one.count else 0.0


def _bins(times_ps: Times) -> Times:
    times = (times_ps + _PS_PER_BIN // 2) // _PS_PER_BIN
    doublings = np.maximum(np.frexp(times.astype(float))[1].astype(np.int64) - _BITS, 0)
    bins: Times = (doublings << (_BITS - 1)) + (times >> doublings)
    return bins


def _times(bins: Times) -> Times:
    """Return the middles of bins."""
    doublings = np.maximum((bins >> (_BITS - 1)) - 1, 0)
    lowest = (bins - (doublings << (_BITS - 1))) << doublings
    times: Times = lowest * _PS_PER_BIN + ((1 << doublings) - 1) * _PS_PER_BIN // 2
    return times
