"""Pages and lines of popular keys: how often each is wanted, and what a pool or a cache misses, against counting."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from math import inf, log

import numpy as np
import pytest

from memwalk.analysis.cost_models import popular_pages as module
from memwalk.analysis.cost_models.page_accesses import characteristic_time, missed_pages
from memwalk.analysis.cost_models.popular_lines import Shared, missed_lines
from memwalk.analysis.cost_models.popular_pages import Wanted, pages_above, popular_pages, scanned_pages


def zipf(keys: int, skew: float) -> Wanted:
    frequencies = np.arange(1, keys + 1, dtype=np.float64) ** -skew
    shares: Wanted = frequencies / frequencies.sum()
    return shares


def lru_misses(draws: Iterable[Iterable[Hashable]], room: int, after: int) -> int:
    """Count the misses of draws, each of one or several things, in an LRU pool or cache, behind so many draws that fill it."""
    held: OrderedDict[Hashable, None] = OrderedDict()
    missed = 0
    for number, things in enumerate(draws):
        for thing in things:
            if thing in held:
                held.move_to_end(thing)
                continue
            missed += number >= after
            if len(held) >= room:
                held.popitem(last=False)
            held[thing] = None
    return missed


def pages_missed(wanted: Wanted, frames: int, draws: int) -> float:
    """Return the misses per draw of an LRU pool, after as many draws to fill it."""
    pages = random.Random(1).choices(range(len(wanted)), weights=list(wanted), k=2 * draws)
    return lru_misses(((page,) for page in pages), frames, draws) / draws


@pytest.mark.parametrize("skew", [0.5, 0.99, 1.4])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_an_lru_pool_misses_what_its_characteristic_time_says(skew: float, share: float) -> None:
    wanted = popular_pages(20_000, 40, skew)
    frames = round(share * len(wanted))
    assert pages_missed(wanted, frames, 60_000) == pytest.approx(missed_pages(wanted, frames), rel=0.06)


def test_a_pool_is_full_after_its_characteristic_time() -> None:
    alike = np.full(1000, 1 / 1000)
    # Of pages that are wanted alike, so many draws of them touch 700.
    assert characteristic_time(alike, 700) == pytest.approx(-1000 * log(1 - 0.7), rel=1e-3)
    assert missed_pages(alike, 700) == pytest.approx(0.3)
    assert characteristic_time(alike, 1000) == inf
    assert missed_pages(alike, 1000) == 0
    assert missed_pages(np.array([0.5, 0.5, 0.0]), 2) == 0, "a page that nobody wants takes no room"
    together = characteristic_time(np.array([1e-3]), 700, np.array([1000.0]))
    assert together == characteristic_time(alike, 700), "pages that are wanted alike may be counted"


@pytest.mark.parametrize("skew", [0.3, 0.99, 1.0, 1.7])
def test_pages_are_wanted_as_often_as_their_keys(skew: float) -> None:
    """As if all ranks were placed: where few are, or all but one, none on two places."""
    found = popular_pages(100_000, 100, skew)
    assert (len(found), found.sum()) == (1000, pytest.approx(1))
    assert found.min() > 0
    order = np.random.default_rng(2).permutation(zipf(100_000, skew))
    counted = order.reshape(1000, 100).sum(axis=1)
    for frames in (100, 500, 900):
        assert missed_pages(found, frames) == pytest.approx(missed_pages(counted, frames), rel=0.03)
    assert found.max() > zipf(100_000, skew)[0]


def test_ranks_that_are_not_placed_are_spread_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = {skew: missed_pages(popular_pages(100_000, 100, skew), 500) for skew in (0.4, 1.0, 1.5)}
    monkeypatch.setattr(module, "PLACED", 10_000)
    for skew, all_of_them in placed.items():
        few = popular_pages(100_000, 100, skew)
        assert few.sum() == pytest.approx(1)
        assert missed_pages(few, 500) == pytest.approx(all_of_them, rel=0.04)


def test_keys_that_are_hardly_skewed_are_nearly_alike() -> None:
    alike = popular_pages(1050, 100, 0)
    assert alike == pytest.approx([100 / 1050] * 10 + [50 / 1050])
    assert popular_pages(1050, 100, 0.001) == pytest.approx(alike, rel=0.01)
    assert popular_pages(1, 100, 1.5) == pytest.approx([1])


def test_levels_above_and_scans_by_hand() -> None:
    assert pages_above(np.array([0.1, 0.2, 0.3, 0.4]), 2) == pytest.approx([0.3, 0.7])
    # Two pages and a half: the page where it begins, two behind it, and one more every other time.
    assert scanned_pages(np.array([1.0]), 5, 2.5) == pytest.approx([1, 1, 1, 0.5, 0])
    assert scanned_pages(np.array([0.5, 0.0, 0.5]), 6, 1.0) == pytest.approx([0.5, 0.5, 0.5, 0.5, 0, 0])
    assert scanned_pages(np.array([0.75, 0.25]), 3, 0.4) == pytest.approx([0.75, 0.25 + 0.3, 0.1])


def test_paths_are_missed_as_a_cache_of_lines_misses_them() -> None:
    """Each search touches the lines of its path, popular or not, one after the other."""
    keys, skew = 4000, 1.1
    path = (Shared(1, 100), Shared(2, 20))
    draw, lines = random.Random(3), 150
    order = draw.sample(range(keys), keys)
    searches = 40_000
    places = (order[rank] for rank in draw.choices(range(keys), weights=list(zipf(keys, skew)), k=2 * searches))
    paths = (((0, place // 100), (1, place // 20), (2, place // 20)) for place in places)
    missed = lru_misses(paths, lines, searches)
    assert missed / searches == pytest.approx(missed_lines(path, keys, skew, lines), rel=0.03)
    assert missed_lines((Shared(3, 20),), keys, 0.0, 150) == pytest.approx(3 * (1 - 150 / 600))
    assert missed_lines(path, keys, skew, 440) == 0
