"""Storage on a run's time line: what pages wait for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage_pages import DEVICE, FAR, US, pages_of

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import PARTS, Parts
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.timed_pages import NO_WAIT, PageSpec, waited


def test_a_page_takes_what_its_device_takes(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    assert pages.reads(7, 50)[0] == 50 + 5000 * US
    end, parts = pages.reads(8, 6000 * US)
    assert (end, sum(parts)) == (6100 * US, 100 * US)
    assert dict(zip(PARTS, parts, strict=True))["transfer_ps"] == 100 * US
    assert pages.requests == 2


def test_a_page_that_comes_is_waited_for_and_not_asked_for_again(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    pages.prefetches(7, 0)
    pages.prefetches(7, 10)
    assert pages.reads(7, 1000 * US) == (5000 * US, (0, 0, 3900 * US, 0, 100 * US, 0))
    pages.prefetches(8, 5000 * US)
    assert pages.reads(8, 5500 * US) == (5500 * US, (0,) * 6)
    assert pages.requests == 2
    assert pages.reads(8, 6000 * US)[0] > 6000 * US, "its frame has been given to another page since"


def test_what_is_written_is_in_the_way_of_what_is_read(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    pages.writes(3, 0)
    end, parts = pages.reads(4, 1000 * US)
    assert (end, parts[0]) == (5100 * US, 4000 * US)


@pytest.mark.parametrize(("prefetchers", "begun"), [(1, [1, 1, 2, 3, 4]), (2, [2, 2, 4, 4, 4]), (None, [4, 4, 4, 4, 4])])
def test_prefetchers_read_a_page_each_at_a_time(tmp_path: Path, prefetchers: int | None, begun: list[int]) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, prefetchers=prefetchers), disks=2)
    # Pairs of pages lie on a device: 0 and 4 on the first, 2 and 6 on the second, none in sequence.
    for page in (0, 2, 4, 6):
        pages.prefetches(page, 0)
    found = []
    for at_us in (0, 4999, 5001, 10_001, 15_001):
        pages.prefetches(0, at_us * US)
        found.append(pages.requests)
    assert found == begun
    assert pages.reads(6, 20_000 * US) == (20_000 * US, (0,) * 6)


def test_a_page_that_no_prefetcher_has_begun_is_read_by_who_wants_it(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, prefetchers=1), disks=2)
    for page in (0, 4, 2, 2):
        pages.prefetches(page, 0)
    assert pages.requests == 1, "the others wait in the queue"
    assert pages.reads(2, 1000 * US)[0] == 6000 * US, "its device is idle"
    assert pages.requests == 3, "the prefetcher has taken page 4"
    assert pages.reads(4, 6000 * US)[0] == 10_000 * US
    assert pages.requests == 3, "and does not read page 2 again"


@given(
    prefetchers=st.sampled_from([1, 2, 3, 7]),
    asks=st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.integers(0, 3000)), max_size=40),
)
def test_no_more_pages_are_under_way_than_there_are_prefetchers(
    tmp_path_factory: pytest.TempPathFactory, prefetchers: int, asks: list[tuple[int, bool, int]]
) -> None:
    pages = pages_of(tmp_path_factory.mktemp("pages"), spec=PageSpec(16, prefetchers=prefetchers), disks=4)
    now, read = 0, 0
    for page, ahead, pause_us in asks:
        now += pause_us * US
        if ahead:
            pages.prefetches(page, now)
        else:
            now, _ = pages.reads(page, now)
            read += 1
        assert pages.prefetchers is not None
        assert pages.prefetchers.busy <= prefetchers
        assert pages.prefetchers.busy == prefetchers or not pages.prefetchers.waiting, "nobody is idle while a page waits"
    assert pages.requests <= len(asks)


@given(st.lists(st.tuples(st.sampled_from(["read", "prefetch", "write"]), st.integers(0, 30), st.integers(0, 9000)), max_size=30))
def test_as_many_prefetchers_as_pages_ask_as_fast_as_none(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("pages")
    without, many = (pages_of(folder, spec=PageSpec(16, prefetchers=prefetchers), disks=2) for prefetchers in (None, 30))
    now = 0
    for kind, page, later in asked:
        now += later * US
        one, other = (getattr(pages, f"{kind}s" if kind != "prefetch" else "prefetches")(page, now) for pages in (without, many))
        assert one == other
        now = one[0] if kind == "read" else now
    assert without.requests == many.requests


def test_pages_that_are_read_together_are_one_request(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, read_pages=4))
    end, _ = pages.reads(6, 0)
    assert end == 5300 * US, "pages 4 to 7, of which three follow another"
    for page in (4, 7, 5):
        assert pages.reads(page, end) == (end, (0,) * 6)
    assert (pages.requests, pages.blocks) == (1, 64)
    pages.prefetches(9, end)
    pages.prefetches(10, end)
    assert (pages.requests, pages.blocks) == (2, 128)
    assert pages.reads(8, end)[0] == end + 400 * US
    pages.reads(6, end)
    assert pages.requests == 3, "it was read before, and its frame has been given to another page since"


def test_no_page_behind_the_last_is_read_together_with_it(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, DEVICE + "blocks: 160\n", PageSpec(16, read_pages=4))
    pages.reads(9, 0)
    assert pages.blocks == 2 * 16
    with pytest.raises(UserError, match="the run asks for 176 blocks, and there are 160"):
        pages.reads(10, 0)


def test_pages_of_a_batch_are_written_in_their_order(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, write_batch=4))
    for page in (9, 7, 20, 8):
        assert pages.writes(page, 10) == (10, (0,) * 6)
    assert (pages.requests, pages.blocks) == (2, 64)
    # 7 to 9, and 20 behind them.
    assert pages.reads(21, 10)[0] == 10 + (5200 + 5000 + 100) * US


def test_a_page_that_is_kept_back_is_in_memory(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, write_batch=2))
    pages.writes(3, 0)
    pages.prefetches(3, 100)
    assert pages.reads(3, 1000) == (1000, NO_WAIT)
    assert pages.requests == 0
    # Written again it is one page of the batch, which a second page fills.
    pages.writes(3, 2000)
    assert pages.requests == 0
    pages.writes(4, 3000)
    assert (pages.requests, pages.blocks) == (1, 32)
    assert pages.reads(3, 4000) == (4000, NO_WAIT), "until its write has ended"
    written = 3000 + (5000 + 100) * US
    assert pages.reads(3, written + 1)[0] == written + 1 + 5000 * US, "now it is on the device only"


def test_a_page_that_is_being_written_is_in_memory(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    pages.writes(3, 0)
    assert pages.reads(3, 1000 * US) == (1000 * US, NO_WAIT)
    assert pages.requests == 1
    # Written again behind page 50, it is there until the second write has ended: at 5000, 10,000 and 15,000 us.
    pages.writes(50, 2000 * US)
    pages.writes(3, 2000 * US)
    assert pages.reads(3, 14_000 * US) == (14_000 * US, NO_WAIT)
    assert pages.requests == 3
    assert pages.reads(3, 16_000 * US)[0] == 21_000 * US


@pytest.mark.parametrize("batch", [None, 2])
def test_a_page_that_is_asked_for_ahead_while_it_is_in_memory_has_come(tmp_path: Path, batch: int | None) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, write_batch=batch))
    pages.writes(3, 0)
    pages.prefetches(3, 1000 * US)
    pages.writes(4, 2000 * US)
    # Long after both were written.
    assert pages.reads(3, 90_000 * US) == (90_000 * US, NO_WAIT)
    assert pages.reads(3, 95_000 * US)[0] > 95_000 * US, "it has come once"


def test_pages_that_are_kept_back_do_not_stop_what_is_read_together(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, read_pages=4, write_batch=2))
    pages.writes(5, 0)
    end, _ = pages.reads(6, 0)
    assert (end, pages.blocks) == (5300 * US, 64), "pages 4 to 7, the old 5 among them"
    assert pages.reads(5, 1000 * US) == (1000 * US, NO_WAIT), "the new one is in memory"
    assert pages.reads(4, 1000 * US)[0] == end
    pages.writes(20, end)
    end, _ = pages.finishes(end)
    requests = pages.requests
    pages.reads(5, end)
    assert pages.requests == requests + 1, "it has left the memory"


def test_a_batch_waits_for_the_one_before_and_so_does_the_core(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, write_batch=2))
    for page in (0, 1, 2):
        assert pages.writes(page, 0) == (0, (0,) * 6)
    end, parts = pages.writes(3, 1000 * US)
    assert end == 5100 * US, "pages 0 and 1 are there"
    assert sum(parts) == 4100 * US
    pages.writes(4, 5150 * US)
    assert pages.writes(5, 5400 * US) == (5400 * US, (0,) * 6), "pages 2 and 3 follow those, and are there at 5300"


def test_a_run_ends_when_all_that_it_wrote_is_there(tmp_path: Path) -> None:
    at_once = pages_of(tmp_path)
    at_once.writes(3, 0)
    at_once.writes(4, 0)
    assert at_once.finishes(1000 * US)[0] == 5100 * US
    assert at_once.finishes(6000 * US) == (6000 * US, (0,) * 6)
    kept = pages_of(tmp_path, spec=PageSpec(16, write_batch=4))
    for page in (9, 8):
        kept.writes(page, 0)
    end, parts = kept.finishes(1000 * US)
    assert (end, sum(parts)) == (6100 * US, 5100 * US)
    assert kept.blocks == 32


def test_a_run_that_repeats_finds_no_page_of_the_run_before(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, read_pages=4, prefetchers=1))
    end, _ = pages.reads(5, 0)
    for page in (20, 40):
        pages.prefetches(page, end)
    end, _ = pages.finishes(end + 20_000 * US)
    asked = pages.requests
    for page in (4, 20, 40):
        end, parts = pages.reads(page, end)
        assert sum(parts) > 5000 * US
    assert pages.requests == asked + 3


def test_devices_have_batches_of_their_own(tmp_path: Path) -> None:
    pages = pages_of(tmp_path, spec=PageSpec(16, write_batch=2), disks=2)
    for page in (0, 2, 3):
        pages.writes(page, 0)
    assert pages.requests == 1, "2 and 3 are on the second device"
    pages.writes(1, 0)
    assert pages.requests == 2
    pages.reads(4, 5000 * US)
    assert pages.busiest_ps == 5200 * US, "0, 1 and 4 follow each other on the first"


def test_cores_stop_apart_and_their_requests_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    pages.read(0, 7, 3000 * US)
    pages.read(1, 50, 1000 * US)
    assert pages.next_ps() == 1000 * US
    assert pages.advance(5000 * US) is None, "page 50 is under way, and nobody else may have asked for more meanwhile"
    pages.prefetch(2, 51, 5500 * US)
    assert pages.next_ps() == 5500 * US
    core, end, parts, _ = pages.advance(FAR) or pytest.fail("nothing came")
    assert (core, end, parts[0]) == (1, 6000 * US, 0)
    pages.read(1, 51, 6000 * US)
    core, end, parts, _ = pages.advance(FAR) or pytest.fail("nothing came")
    assert (core, end, parts[0]) == (0, 11_000 * US, 3000 * US), "page 7 waited for page 50"
    assert pages.advance(FAR) == (1, 16_000 * US, (5000 * US, 0, 4900 * US, 0, 100 * US, 0), True), "behind page 7"
    assert (pages.next_ps(), pages.advance(FAR)) == (None, None)


def test_of_what_comes_at_once_that_of_the_lower_core_comes_first(tmp_path: Path) -> None:
    pages = pages_of(tmp_path)
    pages.write(3, 8, 0)
    pages.read(1, 20, 0)
    assert pages.advance(FAR) == (3, 0, NO_WAIT, True), "it goes on at once, and its page is written behind the other"
    core, end, *_ = pages.advance(FAR) or pytest.fail("nothing came")
    assert (core, end) == (1, 5000 * US)


@given(
    st.tuples(*[st.integers(0, 50)] * 6),
    st.integers(0, 400),
)
def test_the_last_parts_of_a_request_are_waited_for(times: tuple[int, ...], late: int) -> None:
    queue, *parts = times
    served = Served(1000, 1000 + queue, 1000 + sum(times), Parts(*parts))
    found = waited(served, 1000 + late)
    timeline = [name for name, part in zip(PARTS, times, strict=True) for _ in range(part)]
    assert found == tuple(timeline[late:].count(name) for name in PARTS)


@given(st.lists(st.tuples(st.sampled_from(["read", "prefetch", "write"]), st.integers(0, 9), st.integers(0, 9000)), max_size=30))
def test_requests_are_those_of_a_queue_of_one_device(tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[str, int, int]]) -> None:
    pages = pages_of(tmp_path_factory.mktemp("device"))
    now, free, following = 0, 0, None
    coming: dict[int, int] = {}
    written: dict[int, int] = {}
    for kind, page, later in asked:
        now += later * US
        end = coming.pop(page, None) if kind == "read" else coming.get(page) if kind == "prefetch" else None
        if kind != "write" and written.get(page, 0) > now:
            end = now
        if end is None:
            end = free = max(now, free) + (100 if page == following else 5000) * US
            following = page + 1
        if kind == "prefetch":
            coming[page] = end
            pages.prefetches(page, now)
        elif kind == "write":
            written[page] = end
            pages.writes(page, now)
        else:
            assert pages.reads(page, now)[0] == max(now, end)
            now = max(now, end)
