"""Pages that searches of an index read: the model against counting."""

import random

import numpy as np
import pytest

from memwalk.analysis.cost_models.page_accesses import distinct_pages, missed_pages, search_page_reads, tree_pages
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine


def test_each_level_has_a_page_for_so_many_pages_of_the_one_below() -> None:
    assert tree_pages(1000, 10) == [100, 10, 1]
    assert tree_pages(1001, 10) == [101, 11, 2, 1]
    assert [tree_pages(keys, 10) for keys in (0, 1, 10)] == [[1]] * 3
    with pytest.raises(ValueError, match="pages of 1 entries make no tree"):
        tree_pages(10, 1)


@pytest.mark.parametrize(("pages", "accesses"), [(1, 5), (100, 1), (100, 50), (100, 400), (3000, 3000)])
def test_distinct_pages_are_those_that_random_accesses_touch(pages: int, accesses: int) -> None:
    draw = random.Random(1)
    touched = [len({draw.randrange(pages) for _ in range(accesses)}) for _ in range(200)]
    assert distinct_pages(pages, accesses) == pytest.approx(sum(touched) / len(touched), rel=0.01)


def test_searches_read_what_they_touch_of_every_level() -> None:
    assert search_page_reads(1000, 10, 1) == pytest.approx(3)
    assert search_page_reads(1000, 10, 100_000) == pytest.approx(111)


KEYS = 200_000
"""Of the index whose searches are skewed."""


@pytest.mark.parametrize("skew", [0, 0.8, 0.99, 1.2])
def test_a_pool_misses_what_chance_says_of_pages_with_popular_keys(skew: float) -> None:
    """A page is wanted as often as all of its keys together, which lie anywhere; CLOCK is nearly LRU."""
    work = {"kernel": "disk-index", "operation": "search", "structure": "array", "page_bytes": 2048, "keys": KEYS, "pool_frames": 300}
    count = {"operations": 20_000, "caches": "warm", "warm_up": 20_000, "skew": skew}
    found = native.simulate(load_machine("zen4-server").native(), work | count)["workload"]
    leaves, inner = found["leaf_pages"], found["inner_pages"]
    popular = 1 / np.arange(1, KEYS + 1) ** skew
    of_keys = np.random.default_rng(1).permutation(popular / popular.sum())
    weights = np.array([part.sum() for part in np.array_split(of_keys, leaves)])
    assert found["pages_read"] / found["operations"] == pytest.approx(missed_pages(weights, 300 - inner), rel=0.05)
