"""Advice on indexes of which some keys are popular: what is predicted against what is simulated, the ranking, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log

import pytest
from index_advice import MIB, NOTHING, advise, an_advice, by_name, ranked, seconds, several, simulate_few, task

from memwalk.analysis.advice.indexes import task as task_module
from memwalk.analysis.advice.indexes import warm_up
from memwalk.analysis.advice.indexes.cached_lines import missed
from memwalk.analysis.advice.indexes.candidates import CONSCIOUS, Candidate
from memwalk.analysis.advice.indexes.page_reads import turnover
from memwalk.analysis.advice.indexes.paths import leaf_path
from memwalk.analysis.advice.indexes.predict import predict
from memwalk.analysis.advice.indexes.rank import advice
from memwalk.analysis.advice.indexes.reasons import reasons
from memwalk.analysis.advice.indexes.simulate import leaves_reads_to_models, simulate
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.advice.indexes.warm_up import MOST_OF_CACHES, TURNOVERS, cache_filling, pool_filling
from memwalk.analysis.cost_models.memory import MissCosts

SMALL = ("--page-sizes", "4KiB", "--sample", "20000", "--keys", "200000", "--memory", "1MiB")


def with_share(asked: IndexTask, candidate: Candidate, share: float) -> IndexTask:
    """Give it memory for such a share of its pages."""
    size = candidate.page.page_bytes
    return replace(asked, memory_bytes=max(round(share * sum(candidate.pages(asked.keys))), asked.least_frames) * size)


@pytest.mark.parametrize("structure", ["array", "slotted", "disk-first", "cache-first"])
@pytest.mark.parametrize("skew", [0.5, 0.99, 1.3])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_simulated_page_reads_are_those_predicted(monkeypatch: pytest.MonkeyPatch, structure: str, skew: float, share: float) -> None:
    """CLOCK misses up to a twentieth more than LRU, which the model knows; a cache-first tree has some pages more than are counted."""
    if share < 0.5:  # of searches that miss often, fewer tell as much
        simulate_few(monkeypatch, search=4000)
    keys = 40_000
    asked = task(keys=keys, page_sizes=(2048,), skew=skew)
    candidate = by_name(asked)[structure]
    some = with_share(asked, candidate, share)
    assert some.simulated_keys == keys
    expected = predict(candidate, "search", some, keys, some.frames(2048)).page_reads
    found = simulate(candidate, "search", some).page_reads
    assert found == pytest.approx(expected, rel=0.15 if structure == "cache-first" else 0.12, abs=0.003)
    even = predict(candidate, "search", replace(some, skew=0.0), keys, some.frames(2048)).page_reads
    assert skew < 0.9 or abs(found - expected) < 0.3 * (even - expected), "by far less than what popular keys save"


@pytest.mark.parametrize(("cores", "optimistic"), [(1, False), (4, False), (4, True)])
@pytest.mark.parametrize(("operation", "scan_range"), [("search", 1000), ("scan", 200), ("scan", 1000)])
def test_page_reads_of_a_part_and_of_several_cores(
    monkeypatch: pytest.MonkeyPatch, operation: Operation, scan_range: int, cores: int, optimistic: bool
) -> None:
    """A quarter of the keys or more is simulated, and the models have the rest."""
    simulate_few(monkeypatch, requests=500, search=4000, scan=1000)
    given = {"keys": 200_000, "mix": {**NOTHING, operation: 1.0}, "scan_range": scan_range, "optimistic": optimistic, "skew": 0.9}
    asked = several(cores, coherent=True, **given)
    array = by_name(asked)["array"]
    some = with_share(asked, array, 0.4)
    assert some.simulated_keys < 100_000
    expected = predict(array, operation, some, 200_000, some.frames(4096)).page_reads
    assert simulate(array, operation, some).page_reads == pytest.approx(expected, rel=0.12)


def test_predictions_by_hand_where_few_pages_are_popular() -> None:
    # At skew 2 half a dozen of keys are nearly all that is asked for: 16 frames have root, nodes and these keys' pages.
    asked = task(keys=100_000, skew=2.0, memory_bytes=MIB // 2, page_sizes=(4096,))
    array = by_name(asked)["array"]
    assert array.pages(100_000) == [221, 1]
    assert predict(array, "search", asked, 100_000, 16).page_reads < 0.07
    assert predict(array, "search", replace(asked, skew=0.0), 100_000, 16).page_reads == pytest.approx(1 - 15 / 221)
    # As hardly any skew as there can be is none.
    hardly = predict(array, "search", replace(asked, skew=1e-6), 100_000, 100)
    alike = predict(array, "search", replace(asked, skew=0.0), 100_000, 100)
    assert hardly.page_reads == pytest.approx(alike.page_reads, rel=0.01)
    assert hardly.cycles == pytest.approx(alike.cycles, rel=0.01)
    assert predict(array, "search", asked, 100_000, 222).page_reads == 0


def test_a_warm_up_is_twice_the_characteristic_time() -> None:
    asked = task(keys=40_000, page_sizes=(2048,), skew=0.99)
    array = by_name(asked)["array"]
    assert pool_filling(array, "search", asked, 100) == ceil(TURNOVERS * turnover(array, asked, 40_000, 0, 100))
    # Pages that are drawn evenly fill a pool sooner: 1.3 times the mean time in which 100 of 180 leaf pages are drawn.
    assert array.pages(40_000)[0] == 180
    even = pool_filling(array, "search", replace(asked, skew=0.0), 100)
    assert even == ceil(1.3 * 180 * log(180 / 80))
    longer = pool_filling(array, "search", asked, 100)
    assert longer is not None
    assert longer > 1.3 * even
    # Operations of all cores together fill it.
    assert pool_filling(array, "search", several(4, keys=40_000, page_sizes=(2048,), skew=0.99), 100) == longer
    assert cache_filling(array, "search", several(4, keys=200_000, skew=2.0)) == MOST_OF_CACHES
    assert cache_filling(array, "search", several(4, keys=200_000, skew=0.5)) < MOST_OF_CACHES / 10


@pytest.mark.parametrize("structure", ["slotted", "array", "micro-index", "disk-first", "cache-first"])
def test_paths_have_the_lines_that_the_models_charge(structure: str) -> None:
    """From lines that a whole page shares to those of few entries."""
    candidate = by_name(task())[structure]
    path = leaf_path(candidate)
    entries = [part.entries for part in path]
    assert all(1 <= some <= candidate.entries for some in entries)
    charged = candidate.search_cycles(candidate.entries, 0, MissCosts(1, 1, 0))
    assert sum(part.lines for part in path) == pytest.approx(charged)


def test_what_more_keys_cost_is_little_where_caches_hold_what_is_popular(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of 122 times the last cache has a level more than the part of it that is simulated, of three times the cache."""
    simulate_few(monkeypatch, search=5000)
    keys = 2_000_000
    found, said = {}, {}
    for skew in (0.0, 1.2, 1.6):
        asked = task(keys=keys, skew=skew)
        tree = by_name(asked)["cache-first"]
        found[skew], said[skew] = simulate(tree, "search", asked).cycles, predict(tree, "search", asked, keys, 1 << 20).cycles
    assert found[0.0] > 1.5 * found[1.2] > 2.4 * found[1.6]
    assert said[0.0] > 1.4 * said[1.2] > 1.9 * said[1.6]
    monkeypatch.setattr(task_module, "OVER_CACHE", keys)
    assert asked.simulated_keys == keys
    whole = simulate(tree, "search", asked).cycles
    assert found[1.6] == pytest.approx(whole, rel=0.15)
    assert said[1.6] == pytest.approx(whole, rel=0.6), "instructions are left out, and levels above are in the last cache at best"


def test_the_share_of_misses_that_is_left() -> None:
    alike, some, many = (task(keys=500_000, skew=skew) for skew in (0.0, 0.6, 1.5))
    array = by_name(alike)["array"]
    of_leaf = {asked.skew: missed(array, "search", asked, 500_000).levels[0] for asked in (alike, some, many)}
    assert 0.9 < of_leaf[0.0] < 1, "the first steps of searches, which a page's searches share, lie in the cache"
    assert 0.8 * of_leaf[0.0] < of_leaf[0.6] < of_leaf[0.0]
    assert of_leaf[1.5] < 0.1
    # Lines of whole ranges take more room in the cache.
    scanned = missed(array, "scan", many, 500_000)
    assert scanned.levels[0] > of_leaf[1.5]
    assert scanned.scanned > 0


@pytest.mark.nightly
def test_no_skew_is_no_option() -> None:
    given = (
        "--page-sizes",
        "4KiB",
        "--sample",
        "5000",
        "--keys",
        "20000",
        "--memory",
        "100KiB",
        "--scans",
        "1",
        "--inserts",
        "1",
        "--range",
        "300",
    )
    without, none = ranked(*given), ranked(*given, "--skew", "0")
    assert without == none
    assert none["skew"] == 0
    assert not any("opular" in reason for reason in none["reasons"])


def test_popular_keys_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few(monkeypatch, requests=500, search=1000)
    answer = ranked(*SMALL, "--skew", "0.99")
    assert answer["skew"] == 0.99
    (said,) = [reason for reason in answer["reasons"] if reason.startswith("Popular keys (skew 0.99)")]
    assert "as if it were LRU and not CLOCK" in said
    assert not any(one["reads_are_modelled"] for one in answer["indexes"])
    together = "A scan's pages are wanted together"
    assert not any(reason.startswith(together) for reason in answer["reasons"])
    scans = replace(task(keys=10_000, skew=0.5), mix={**NOTHING, "scan": 1.0})
    assert any(reason.startswith(together) for reason in reasons([an_advice("array", 4096, 1.0, 0.5)], scans))
    result = advise(*SMALL, "--skew", "0.99", "--cores", "2", "--optimistic")
    assert result.exit_code == 0, result.output
    assert "200,000 keys of 4 bytes (skew 0.99) with 1 MiB of memory, on 2 cores of thesis-simulator" in result.stdout


@pytest.mark.nightly
def test_popular_keys_change_what_is_best() -> None:
    sizes = ("--keys", "300000", "--memory", "1MiB", "--page-sizes", "2KiB,16KiB")
    alike, popular = ranked(*sizes), ranked(*sizes, "--skew", "1.1")
    times, fewer = seconds(alike), seconds(popular)
    # Everybody reads fewer pages. The smaller the page, the fewer unpopular keys come with a popular one.
    assert all(fewer[which] < 0.7 * times[which] for which in times)
    assert fewer["array", 16384] / fewer["array", 2048] > 1.3 * times["array", 16384] / times["array", 2048]
    assert {one["page_bytes"] for one in popular["indexes"][:5]} == {2048}
    assert alike["indexes"][4]["index"] == popular["indexes"][4]["index"] == "slotted"


def test_in_memory_pages_made_for_the_caches_gain_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the caches hold what is popular, whatever the pages are made for."""
    simulate_few(monkeypatch, search=5000)
    alike, popular = (seconds(ranked("--keys", "300000", "--page-sizes", "4KiB", *more)) for more in ((), ("--skew", "1.6")))
    best = [min(found[name, 4096] for name in CONSCIOUS) for found in (alike, popular)]
    assert alike["array", 4096] > 1.4 * best[0]
    assert best[1] < popular["array", 4096] < 1.25 * best[1]
    assert popular["array", 4096] < 0.4 * alike["array", 4096]


def test_pools_that_hardly_fill_are_left_to_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine tenths of the pages are asked for in 36,000 searches at skew 2, of a part of the index; so a limit below that is theirs."""
    asked = task(keys=200_000, skew=2.0)
    array = by_name(asked)["array"]
    some = with_share(asked, array, 0.9)
    assert pool_filling(array, "search", some, 99) == pytest.approx(72_000, rel=0.1)
    assert not leaves_reads_to_models(array, some)
    monkeypatch.setattr(warm_up, "MOST_LEAVES", 50_000)
    assert pool_filling(array, "search", some, 99) is None
    assert not leaves_reads_to_models(array, with_share(asked, array, 1.0)), "all pages are in memory"
    assert not leaves_reads_to_models(array, replace(some, skew=0.0))
    found = advice(array, some, lambda operation: simulate(array, operation, some))
    assert found.reads_are_modelled
    assert found.simulated_page_reads == found.predicted_page_reads > 0
    assert found.processor_seconds > 0

    one = replace(an_advice("array", 4096, 1.0, 0.5), reads_are_modelled=True)
    other = an_advice("disk-first", 4096, 2.0, 0.5)
    for ranking, which in (([one, other], "array in pages of 4 KB"), ([one], "all of them")):
        assert any(reason.endswith(f"page reads are what the models say, for {which}.") for reason in reasons(ranking, some))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--skew", "0.9", "--inserts", "1"),
            "--inserts 1: no key is inserted twice, so that none is popular; leave out --skew or --inserts",
        ),
        (("--skew", "2.5"), "'--skew': `2.5` is too large; the most is 2"),
        (("--skew", "-1"), "'--skew': `-1` is too small; the least is 0"),
        (("--skew", "zipf"), "'--skew': `zipf` is not a number"),
        (("--skew", "nan"), "'--skew': `nan` is"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = advise(*arguments, small=False)
    assert done.exit_code == 2, done.output
    (line,) = [line for line in done.stderr.splitlines() if "error: " in line]
    assert says in line
