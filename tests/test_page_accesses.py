"""Pages that searches of an index read: the model against counting."""

import random
from collections import OrderedDict

import numpy as np
import pytest

from memwalk.analysis.cost_models.page_accesses import changed_share, distinct_pages, missed_pages, search_page_reads, tree_pages
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


def test_few_accesses_touch_as_many_of_any_number_of_pages() -> None:
    assert distinct_pages(10**15, 1) == pytest.approx(1, rel=1e-12)
    assert [distinct_pages(1, accesses) for accesses in (0, 1, 5)] == [0, 1, 1]


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


@pytest.mark.parametrize("held", [0.1, 0.7, 0.9])
@pytest.mark.parametrize("changes", [0.01, 0.1, 0.5, 1.0])
def test_a_pool_writes_every_page_that_was_changed_while_it_was_there(held: float, changes: float) -> None:
    """Counted in an LRU pool of pages that are wanted alike: whoever pushes a page out, and whoever has wanted it last."""
    draw, accesses, pages = random.Random(1), 200_000, 1000
    pool: OrderedDict[int, bool] = OrderedDict()
    missed = written = 0
    for access in range(accesses):
        page, change = draw.randrange(pages), draw.random() < changes
        counts = access >= accesses // 4
        if page not in pool:
            missed += counts
            if len(pool) == held * pages:
                written += pool.popitem(last=False)[1] * counts
        pool[page] = pool.pop(page, False) or change
    assert written / missed == pytest.approx(changed_share(held, changes), rel=0.08)


def test_nothing_is_written_that_is_never_changed() -> None:
    assert [changed_share(hits, 0) for hits in (0.0, 0.5, 1.0)] == [0, 0, 0]
