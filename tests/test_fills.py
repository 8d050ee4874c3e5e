"""Pages in frames that several cores share: whoever comes first has one brought, and the others wait for that."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage_pages import DEVICE, FAR, US, pages_of

from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.fills import NUMBERS
from memwalk.simcore.storage.program_pages import ProgramPages, ProgramSpec
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import NO_WAIT, PageArrival, PageSpec, TimedPages

HALF = NUMBERS // 2


def come(pages: TimedPages, *asks: tuple[str, int, int, int]) -> dict[int, tuple[int, bool]]:
    """Have cores 0, 1 and so on come for a fill of a page at a time in microseconds; when each goes on, and whether it was first."""
    for core, (how, page, fill, at_us) in enumerate(asks):
        getattr(pages, how)(core, page, at_us * US, fill)
    found: dict[int, tuple[int, bool]] = {}
    while (arrival := pages.advance(FAR)) is not None:
        found[arrival.core] = arrival.end_ps // US, arrival.first
    return found


@pytest.mark.parametrize("order", [("read", "wait"), ("wait", "read"), ("wait", "wait")])
def test_who_comes_first_has_the_page_brought_and_the_other_waits_for_the_rest(tmp_path: Path, order: Sequence[str]) -> None:
    pages = pages_of(tmp_path)
    getattr(pages, order[0])(3, 7, 0, 1)
    getattr(pages, order[1])(1, 7, 4950 * US, 1)
    first, other = pages.advance(FAR), pages.advance(FAR)
    assert first == PageArrival(3, 5000 * US, (0, 0, 4900 * US, 0, 100 * US, 0), first=True)
    assert other == PageArrival(1, 5000 * US, (0, 0, 0, 0, 50 * US, 0), first=False), "the end of the transfer"
    assert pages.requests == 1


def test_a_page_that_is_there_is_not_waited_for(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    come(pages, ("read", 7, 1, 0))
    pages.wait(4, 7, 6000 * US, 1)
    assert pages.advance(FAR) == PageArrival(4, 6000 * US, NO_WAIT, first=False)
    assert pages.requests == 1


def test_a_later_fill_brings_the_page_again_and_serves_earlier_ones_too(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    found = come(pages, ("read", 7, 3, 0), ("wait", 7, 5, 1000), ("read", 7, 5, 2000), ("wait", 7, 3, 3000), ("wait", 7, 4, 3001))
    assert found == {0: (5000, True), 1: (10_000, True), 2: (10_000, False), 3: (10_000, False), 4: (10_000, False)}
    assert pages.requests == 2


def test_fills_of_other_pages_are_others(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    assert come(pages, ("read", 7, 9, 0), ("read", 50, 2, 0)) == {0: (5000, True), 1: (10_000, True)}


def test_frames_that_one_core_has_for_itself_get_the_page_each(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    found = come(pages, ("read", 7, 0, 0), ("wait", 7, 0, 1), ("read", 7, 1, 2), ("read", 7, 0, 3))
    assert found == {0: (5000, True), 1: (10_000, True), 2: (15_000, True), 3: (20_000, True)}
    assert pages.requests == 4


@pytest.mark.parametrize("prefetchers", [None, 1])
def test_what_was_asked_for_ahead_is_taken_by_who_comes_first(tmp_path: Path, prefetchers: int | None) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, prefetchers=prefetchers))
    pages.prefetch(0, 7, 0, 1)
    found = come(pages, ("wait", 7, 1, 4000), ("read", 7, 1, 4500), ("read", 7, 2, 6000))
    assert found == {0: (5000, True), 1: (5000, False), 2: (11_000, True)}
    assert pages.requests == 2


@pytest.mark.parametrize("prefetchers", [None, 1])
def test_what_somebody_has_come_for_is_not_asked_for_ahead(tmp_path: Path, prefetchers: int | None) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, prefetchers=prefetchers))
    come(pages, ("wait", 7, 2, 0))
    for fill, requests in ((2, 1), (1, 1), (3, 2)):
        pages.prefetch(0, 7, 6000 * US, fill)
        assert pages.advance(6000 * US) is None
        assert pages.requests == requests, fill
    assert come(pages, ("wait", 7, 2, 12_000), ("read", 7, 3, 12_000)) == {0: (12_000, False), 1: (12_000, True)}
    assert pages.requests == 2
    pages.prefetch(0, 7, 13_000 * US)
    assert pages.advance(13_000 * US) is None
    assert pages.requests == 3, "for a frame that a core has for itself"


def test_a_page_that_no_prefetcher_has_begun_is_taken_from_its_queue_by_the_first(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, prefetchers=1), disks=2)
    pages.prefetch(0, 0, 0, 1)
    pages.prefetch(0, 2, 0, 2)
    found = come(pages, ("wait", 2, 2, 1000), ("read", 2, 2, 2000), ("read", 0, 1, 3000))
    assert found == {0: (6000, True), 1: (6000, False), 2: (5000, True)}, "the other device is idle"
    assert pages.advance(20_000 * US) is None
    assert pages.requests == 2, "the prefetcher does not read it again"


def test_a_page_that_was_read_together_with_another_comes_for_the_first(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, read_pages=4))
    found = come(pages, ("read", 6, 1, 0), ("wait", 7, 2, 5100), ("read", 7, 2, 5200), ("wait", 6, 1, 5250))
    assert found == {0: (5300, True), 1: (5300, True), 2: (5300, False), 3: (5300, False)}
    assert pages.requests == 1
    assert come(pages, ("read", 7, 3, 6000))[0][0] > 6000, "what came with the other has been taken"
    assert pages.requests == 2


@pytest.mark.parametrize(("before", "after"), [(NUMBERS, 1), (NUMBERS - 5, 20), (HALF + 10, 3), (1, HALF), (1, 1 + HALF)])
def test_numbers_begin_anew(tmp_path: Path, before: int, after: int) -> None:
    pages = pages_of(tmp_path)
    come(pages, ("read", 7, before, 0))
    asks = [("wait", before), ("read", after), ("wait", before), ("wait", after)]
    found = come(pages, *((how, 7, fill, 200_000 + at_us) for at_us, (how, fill) in enumerate(asks)))
    assert found == {0: (200_000, False), 1: (205_001, True), 2: (205_001, False), 3: (205_001, False)}


def test_a_page_that_stays_is_there_whatever_comes_meanwhile(tmp_path: Path) -> None:
    """Fills are counted page by page: another page may come and go as often as it likes."""
    pages = pages_of(tmp_path)
    come(pages, ("read", 7, 1, 0))
    for at_us, fill in enumerate((20_000, 40_000, 60_000, 14_465, 34_465), 1):
        come(pages, ("read", 50, fill, 10_000 * at_us))
    assert come(pages, ("wait", 7, 1, 100_000)) == {0: (100_000, False)}
    assert come(pages, ("read", 7, 2, 200_000)) == {0: (205_000, True)}


def test_what_is_remembered_is_forgotten_when_the_program_runs_again(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    come(pages, ("read", 7, 9, 0))
    pages.finish(0, 6000 * US)
    assert pages.advance(FAR) == PageArrival(0, 6000 * US, NO_WAIT)
    assert come(pages, ("read", 7, 1, 7000)) == {0: (12_000, True)}


def test_fills_are_a_program_s_own(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    volume = System(load_device("./device.yaml", tmp_path)).switched_on()
    spec = PageSpec(16)
    pages = ProgramPages(volume, [ProgramSpec(spec, 0, 2), ProgramSpec(spec, 16 * 100, 1)], "device")
    for core, at_ps in ((0, 0), (1, 1), (2, 2)):
        pages.wait(core, 7, at_ps, 1)
    arrivals = [pages.advance(FAR) for _ in range(3)]
    found = [(arrival.core, arrival.end_ps // US, arrival.first) for arrival in arrivals if arrival is not None]
    assert found == [(0, 5000, True), (1, 5000, False), (2, 10_000, True)]


Asks = list[tuple[str, int, int, int]]
ASKS = st.lists(
    st.tuples(st.sampled_from(["read", "wait", "prefetch"]), st.integers(0, 9), st.integers(0, 4), st.integers(0, 9000)), max_size=30
)


@given(ASKS)
def test_requests_are_those_of_a_queue_of_one_device(tmp_path_factory: pytest.TempPathFactory, asked: Asks) -> None:
    """Cores that come at any times, also while others wait, against a list of everything that anybody ever came for."""
    pages = pages_of(tmp_path_factory.mktemp("device"))
    now, free, following = 0, 0, None
    ahead: dict[int, int] = {}
    came: list[tuple[int, int, int]] = []
    expected = {}
    for core, (how, page, fill, later_us) in enumerate(asked):
        now += later_us * US
        getattr(pages, how)(core, page, now, fill)
        same = [end for other, number, end in came if other == page and number >= fill > 0]
        end = same[-1] if same else ahead.get(page) if how == "prefetch" else ahead.pop(page, None)
        if end is None:
            end = free = max(now, free) + (100 if page == following else 5000) * US
            following = page + 1
        if how != "prefetch":
            expected[core] = max(now, end), not same
            came += [] if same or not fill else [(page, fill, end)]
        elif not same:
            ahead[page] = end
    found = {}
    while (arrival := pages.advance(FAR)) is not None:
        assert sum(arrival.parts) <= arrival.end_ps
        found[arrival.core] = arrival.end_ps, arrival.first
    assert found == expected
