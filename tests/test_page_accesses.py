"""Pages that searches of an index read: the model against counting."""

import random

import pytest

from memwalk.analysis.cost_models.page_accesses import distinct_pages, search_page_reads, tree_pages


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
