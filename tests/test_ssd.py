"""Solid-state drives: what runs in parallel, what does not, and what a device server does with several requests at once."""

import heapq
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import simpy
from files import refusal_of_line
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.paths import configs
from memwalk.simcore.storage.bus import Bus
from memwalk.simcore.storage.calendar import Calendar
from memwalk.simcore.storage.device import Parts
from memwalk.simcore.storage.queues import Request
from memwalk.simcore.storage.server import DeviceServer, Served
from memwalk.simcore.storage.ssd import Flash, Ssd, SsdFile
from memwalk.simcore.storage.ssd.placement import Placement
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import load

SMALL = Flash(
    blocks=4096,
    channels=2,
    dies=2,
    planes=1,
    page_blocks=4,
    erase_pages=2,
    read_ps=1000,
    program_ps=5000,
    erase_ps=20_000,
    channel_ps=10,
    link_ps=1,
    overhead_ps=100,
    command_interval_ps=7,
    buffer_blocks=8,
    queue_depth=4,
)
"""Four planes: page 0 in plane 0 on channel 0, page 1 in plane 1 on channel 1, page 2 in plane 2 on channel 0, and so on."""


@cache
def nvme_file() -> SsdFile:
    """The drive that comes with memwalk."""
    return validate(SsdFile, load(configs() / "devices" / "nvme-ssd.yaml"))


# --- calendars ---


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=25))
def test_a_calendar_gives_the_first_gap(wishes: list[tuple[int, int]]) -> None:
    calendar = Calendar()
    taken: set[int] = set()
    for earliest, duration in wishes:
        begin = earliest
        while any(moment in taken for moment in range(begin, begin + duration)):
            begin += 1
        assert calendar.take(earliest, duration) == begin + duration
        taken.update(range(begin, begin + duration))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=25), st.integers(0, 40), st.integers(0, 40), st.integers(0, 30))
def test_a_calendar_fills_what_is_free_the_latest_first(taken: list[tuple[int, int]], earliest: int, length: int, duration: int) -> None:
    calendar = Calendar()
    busy: set[int] = set()
    for wish in taken:
        end = calendar.take(*wish)
        busy.update(range(end - wish[1], end))
    free = [moment for moment in range(earliest, earliest + length) if moment not in busy]
    assert calendar.fill(earliest, earliest + length, duration) == max(0, duration - len(free))
    busy.update(free[len(free) - min(duration, len(free)) :])
    for begin in range(70):
        if begin not in busy:
            assert calendar.take(begin, 1) == begin + 1
            busy.add(begin)


def test_a_calendar_forgets_what_is_past() -> None:
    calendar = Calendar()
    calendar.take(0, 10)
    calendar.take(20, 10)
    calendar.forget(15)
    assert calendar.take(15, 6) == 36


# --- where blocks lie ---


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20), st.booleans()), max_size=30))
def test_blocks_lie_in_the_program_that_wrote_them_last(requests: list[tuple[int, int, bool]]) -> None:
    placement, page_blocks = Placement(81, 8), 8
    where = {block: block // page_blocks for block in range(81)}
    written = 0
    for block, blocks, write in requests:
        wanted = range(block, block + blocks)
        if not write:
            assert placement.programs(block, blocks) == Counter(where[number] for number in wanted)
            continue
        for number in wanted:
            where[number] = 11 + written // page_blocks  # the drive has 11 pages
            written += 1
        while wanted:
            taken = min(len(wanted), placement.room())
            is_full = taken == placement.room()
            assert placement.write(wanted[0], taken) == is_full
            wanted = wanted[taken:]
        assert (placement.filling, placement.room()) == (11 + written // page_blocks, page_blocks - written % page_blocks)


# --- one request ---


def test_one_page_by_hand() -> None:
    drive = Ssd(SMALL)
    assert drive.serve(0, 1, 2, write=False) == 100 + 1000 + 2 * 10 + 2 * 1
    assert drive.parts == Parts(overhead_ps=100, transfer_ps=1000, bus_ps=22)


def test_pages_on_two_channels_are_read_at_once_and_share_the_link() -> None:
    assert Ssd(SMALL).serve(0, 0, 8, write=False) == 100 + 1000 + 40 + 2 * 4


def test_pages_of_one_channel_share_it() -> None:
    assert Ssd(SMALL).serve(0, 0, 12, write=False) == 100 + 1000 + 2 * 40 + 4


def test_a_plane_reads_one_page_after_the_other() -> None:
    drive = Ssd(SMALL)
    first = drive.serve(0, 0, 4, write=False)
    assert first == 100 + 1000 + 40 + 4
    second = drive.serve(0, 16, 4, write=False)  # page 4 is in plane 0, too
    assert second == 100 + (1000 + 40) * 2 + 4
    assert drive.parts == Parts(overhead_ps=107, rotation_ps=1033, transfer_ps=1000, bus_ps=44)
    other = drive.serve(0, 4, 4, write=False)
    assert other == 114 + 1000 + 40 + 4  # and ends before the one that came before it


def test_writes_end_in_the_buffer_until_it_is_full() -> None:
    drive = Ssd(SMALL)
    assert drive.serve(0, 0, 4, write=True) == 100 + 4
    assert drive.parts == Parts(overhead_ps=100, bus_ps=4)
    assert drive.serve(0, 0, 4, write=True) == 107 + 4
    leaves = 104 + 40 + 5000  # the channel, the program of the first page
    assert drive.serve(200, 0, 4, write=True) == leaves + 4
    assert drive.parts.rotation_ps == leaves - 300


def test_writes_at_the_same_time_wait_for_the_same_room() -> None:
    # Eight blocks fill the buffer. Page 1 was full at 104 and leaves at 104 + 40 + 5000; the four blocks that then have room move over
    # the link one behind the other, and the next four wait for page 2, full at 108.
    drive = Ssd(replace(SMALL, command_interval_ps=0))
    assert [drive.serve(0, block, 1, write=True) for block in range(8)] == list(range(101, 109))
    assert [drive.serve(0, block, 1, write=True) for block in range(8, 16)] == [*range(5145, 5149), *range(5149, 5153)]
    assert drive.parts == Parts(overhead_ps=100, rotation_ps=5048, bus_ps=4)


def test_reads_wait_for_programs_of_their_plane() -> None:
    drive = Ssd(SMALL)
    drive.serve(0, 0, 4, write=True)  # by program 1024, in plane 0
    assert drive.serve(1000, 16, 4, write=False) == 104 + 40 + 5000 + 1000 + 40 + 4  # page 4 is in plane 0
    assert drive.serve(1000, 4, 4, write=False) < 3000


def test_a_read_waits_for_no_program_of_data_that_is_still_to_come() -> None:
    # Plane 0 has every page. The first two fill the buffer at 104 and 108, and are programmed until 104 + 2 x (40 + 5000); the third
    # has room at 5144. A read in between comes behind the first two, and goes before the others.
    drive = Ssd(replace(SMALL, channels=1, dies=1, erase_pages=1000))
    assert drive.serve(0, 0, 40, write=True) > 8 * 5040
    begins = 104 + 2 * 5040
    assert drive.positioning_ps(200, Request(200, 0, 400, 1, False)) == begins + 1000 - 200
    assert drive.serve(200, 400, 1, write=False) == begins + 1000 + 10 + 1
    assert drive.serve(210, 404, 1, write=False) == begins + 2 * (1000 + 10) + 1  # reads do not go at the same time
    # The last page has room when the eighth is programmed. A read behind that waits for all ten, and for the two reads before it.
    assert drive.serve(41_000, 400, 1, write=False) == 104 + 10 * 5040 + 2 * 1010 + 1000 + 10 + 1


def test_what_is_not_programmed_yet_is_read_from_the_buffer() -> None:
    drive = Ssd(SMALL)
    drive.serve(0, 0, 6, write=True)
    programmed = 104 + 40 + 5000  # of the first four blocks; the others wait for a page that is full
    for start, block in ((2000, 0), (3000, 4)):
        assert drive.serve(start, block, 2, write=False) == start + 100 + 2
        assert drive.parts == Parts(overhead_ps=100, bus_ps=2)
    assert drive.serve(programmed, 4, 2, write=False) == programmed + 100 + 2
    assert drive.serve(programmed + 10, 0, 2, write=False) == programmed + 10 + 100 + 1000 + 2 * 10 + 2


def test_blocks_are_read_where_they_were_programmed() -> None:
    drive = Ssd(SMALL)
    for block in (400, 0, 800):  # programs 1024 to 1026, in planes 0 to 2
        drive.serve(0, block, 4, write=True)
    start = 100_000
    drive.serve(start, 4, 4, write=False)  # page 1 is in plane 1, and so is page 0 now
    assert drive.serve(start, 0, 4, write=False) == start + 100 + 2 * (1000 + 40) + 4
    start = 200_000
    drive.serve(start, 12, 4, write=False)  # page 3, which was not written, is in plane 3
    assert drive.serve(start, 0, 4, write=False) == start + 100 + 1000 + 2 * 40 + 4  # at the same time, but for the channel that they share


def test_a_page_of_which_a_part_was_written_is_read_from_two_planes() -> None:
    drive = Ssd(SMALL)
    drive.serve(0, 400, 4, write=True)
    drive.serve(0, 1, 2, write=True)  # the first half of program 1025, in plane 1
    drive.serve(0, 800, 2, write=True)
    start = 100_000
    assert drive.serve(start, 0, 4, write=False) == start + 100 + 1000 + 20 + 2 * 2  # at once, over two channels


def test_a_flash_page_with_blocks_of_two_pages_is_read_once() -> None:
    drive = Ssd(SMALL)
    drive.serve(0, 2, 4, write=True)  # the end of page 0 and the beginning of page 1, by one program
    start = 100_000
    assert drive.serve(start, 2, 4, write=False) == start + 100 + 1000 + 40 + 4


def test_an_index_of_few_pages_is_not_read_where_it_is_written() -> None:
    """Two pages of which each is read when it was changed: with four planes or more, none waits for a program."""
    drive = Ssd(replace(SMALL, buffer_blocks=64))
    for operation in range(200):
        start = operation * 2000  # programs take 5000 of their plane
        drive.serve(start, operation % 2 * 4, 4, write=False)
        assert drive.parts.rotation_ps == 0
        drive.serve(start, operation % 2 * 4, 4, write=True)


def test_a_plane_erases_when_its_block_is_full_and_not_before() -> None:
    drive = Ssd(replace(SMALL, erase_pages=3))
    erasing = []
    for page in range(24):
        start = page * 100_000
        drive.serve(start, 0, 4, write=True)
        read = drive.serve(start, 400 + page % 4 * 4, 4, write=False)  # from the plane that the page goes to
        assert read - start - (104 + 40 + 5000 + 1000 + 40 + 4) in (0, 20_000)
        if read - start > 20_000:
            erasing.append(page)
    assert erasing == [8, 9, 10, 11, 20, 21, 22, 23]  # the third page of each of four planes


@pytest.mark.parametrize("count", [100, 300, 2000])
def test_few_updates_cost_as_much_each_as_many(count: int) -> None:
    chance, total = random.Random(1), 0
    for _ in range(20):
        drive, now = nvme_file().device(), 0
        for _ in range(count):
            block = chance.randrange(drive.blocks // 16) * 16
            now = drive.serve(drive.serve(now, block, 16, write=False), block, 16, write=True)
        total += now
    assert total / count / 20 == pytest.approx(106e6, rel=0.05)  # 100,000 of them


REQUESTS = st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 4000), st.integers(1, 90), st.booleans()), max_size=20)


@given(REQUESTS)
def test_parts_sum_and_times_are_possible(requests: list[tuple[int, int, int, bool]]) -> None:
    drive = Ssd(SMALL)
    start = 0
    for gap, block, blocks, write in requests:
        start += gap
        assert drive.positioning_ps(start, Request(start, 0, block, blocks, write)) >= SMALL.overhead_ps
        end = drive.serve(start, block, blocks, write=write)
        assert end - start == sum(drive.parts)
        assert min(drive.parts) >= 0
        assert end - start >= SMALL.overhead_ps + blocks * SMALL.link_ps


def test_blocks_beyond_the_end_are_refused() -> None:
    with pytest.raises(ValueError, match="not all in a drive of 4096 blocks"):
        Ssd(SMALL).serve(0, 4095, 2, write=False)


# --- the drive of today ---


def test_latencies_of_the_drive() -> None:
    drive = nvme_file().device()
    assert drive.serve(0, 80_000, 8, write=False) == pytest.approx(75_000_000, rel=0.01)
    assert drive.serve(10**12, 80_000, 8, write=True) == pytest.approx(10**12 + 15_600_000, rel=0.01)


def rate(blocks: int, depth: int, requests: int, *, write: bool, in_sequence: bool) -> float:
    """Return requests per second with ``depth`` of them in the drive at all times."""
    drive = nvme_file().device()
    chance = random.Random(1)
    ends = [0] * depth
    for number in range(requests):
        start = heapq.heappop(ends)
        block = number * blocks if in_sequence else chance.randrange(drive.blocks // blocks) * blocks
        heapq.heappush(ends, drive.serve(start, block, blocks, write=write))
    return requests / max(ends) * 1e12


def test_random_reads_scale_with_those_in_flight() -> None:
    one, many = (rate(8, depth, 4000, write=False, in_sequence=False) for depth in (1, 64))
    assert one == pytest.approx(13_334, rel=0.01)
    assert 40 * one < many < 64 * one


def test_sequential_rates() -> None:
    read = rate(256, 8, 2000, write=False, in_sequence=True) * 256 * 512
    written = rate(256, 8, 8000, write=True, in_sequence=True) * 256 * 512
    assert read == pytest.approx(7e9, rel=0.01)
    assert written == pytest.approx(4.19e9, rel=0.05)


# --- several requests at once ---


def test_a_server_gives_a_drive_as_many_requests_as_it_takes() -> None:
    env = simpy.Environment()
    server = DeviceServer(env, Ssd(SMALL))
    events = [server.submit(page * 4, 4) for page in (0, 4, 8, 12, 1)]  # four for plane 0, then one for plane 1
    env.run()
    served = [event.value for event in events]
    assert [one.start_ps for one in served[:4]] == [0] * 4
    assert served[4].start_ps == served[0].end_ps  # the first that ends makes room for the fifth
    assert served[4].end_ps < served[2].end_ps
    assert all(sum(one.parts) == one.end_ps - one.start_ps for one in served)


def test_a_read_waits_for_no_write_that_waits_for_the_bus() -> None:
    # The bus takes 1000 for each block: it brings four from 0 on, and one from 4000 on. The read's command comes 7 behind the first one's.
    env = simpy.Environment()
    server = DeviceServer(env, Ssd(SMALL), bus=Bus(512 * 10**9))
    _, waits, reads = (server.submit(block, blocks, write=write) for block, blocks, write in [(0, 4, True), (8, 1, True), (4, 4, False)])
    env.run()
    assert waits.value.parts == Parts(overhead_ps=100, bus_ps=4000 + 1000 - 100)
    assert reads.value.parts.overhead_ps == 107


@given(REQUESTS, st.integers(1, 5))
def test_every_request_is_served_once_and_never_too_many(requests: list[tuple[int, int, int, bool]], depth: int) -> None:
    env = simpy.Environment()
    server = DeviceServer(env, Ssd(replace(SMALL, queue_depth=depth)))
    done: list[tuple[int, Served]] = []

    def client() -> simpy.events.ProcessGenerator:
        for number, (gap, block, blocks, write) in enumerate(requests):
            yield env.timeout(gap)
            server.submit_call(block, blocks, write, lambda served, number=number: done.append((number, served)))

    env.process(client())
    env.run()
    assert sorted(number for number, _ in done) == list(range(len(requests)))
    assert [served.end_ps for _, served in done] == sorted(served.end_ps for _, served in done)
    for _, one in done:
        assert sum(other.start_ps <= one.start_ps < other.end_ps for _, other in done) <= depth


# --- files ---


@pytest.mark.parametrize(
    ("line", "wrong", "message"),
    [
        ("page: 16KiB", "page: 1000B", "page: 1000 bytes are no whole number of blocks of 512 bytes; write for example 16KiB"),
        ("write_buffer: 4MiB", "write_buffer: 16KiB", "write_buffer: 16384 bytes do not hold a page that is filled"),
        ("link: 7GB/s", "link: 7GiB", "link: `7GiB` is in size, but a bandwidth belongs here; write for example 160MB/s"),
        ("channels: 8", "channels: 0", "channels: `0` is too small; the least is 1"),
        ("channels: 8", "channels: 1e9", "channels: `1000000000` is too large; the most is 64"),
        ("dies: 8", "dies: 65", "dies: `65` is too large; the most is 64"),
        ("planes: 4", "planes: 1e15", "planes: `1000000000000000` is too large; the most is 64"),
        ("page_read: 56us", "page_reed: 56us", "unknown key `page_reed`; did you mean `page_read`?"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, line: str, wrong: str, message: str) -> None:
    assert message in refusal_of_line(SsdFile, "nvme-ssd", line, wrong, tmp_path)
