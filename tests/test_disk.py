"""The disk model: times worked out by hand on a small drive, and what holds for every drive and every stream of requests."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.disk import Disk, DiskFile, Geometry, Zone
from memwalk.simcore.storage.queues import Request

US = 10**6
MS = 10**9
SMALL: dict[str, Any] = {
    # A turn takes 10 ms, a sector 100 us in the first zone and 200 us in the second. Switching heads takes 1 ms, and the next cylinder
    # 2 ms, which the skews leave time for and nothing more.
    "schema_version": 1,
    "description": "a small disk",
    "kind": "disk",
    "rpm": 6000,
    "heads": 2,
    "cylinders": 20,
    "blocks": 3000,
    "zones": [
        {"cylinders": (0, 9), "sectors": 100, "track_skew": 10, "cylinder_skew": 20},
        {"cylinders": (10, 19), "sectors": 50, "track_skew": 5, "cylinder_skew": 10},
    ],
    "seek": {"model": "points", "points": [(1, "2ms"), (11, "3ms")]},
    "head_switch": "1ms",
    "write_settle": "0.5ms",
    "bus_per_block": "1us",
    "overhead": "0ms",
    "segments": 0,
    "segment_blocks": 0,
    "read_ahead_blocks": 0,
    "leaves_read_ahead": False,
    "write_segments": 0,
    "zero_latency": False,
}
READING_AHEAD = {"segments": 2, "segment_blocks": 200, "read_ahead_blocks": 100}


def small(**changes: Any) -> Disk:
    """Make the small disk, with changes."""
    return DiskFile.model_validate(SMALL | changes).device()


def read(disk: Disk, start_ps: int, block: int, blocks: int = 1) -> int:
    """Read, and see that the parts sum to the whole."""
    end_ps = disk.serve(start_ps, block, blocks, write=False)
    assert sum(disk.parts) == end_ps - start_ps
    return end_ps


def write(disk: Disk, start_ps: int, block: int, blocks: int = 1) -> int:
    """Write, and see that the parts sum to the whole."""
    end_ps = disk.serve(start_ps, block, blocks, write=True)
    assert sum(disk.parts) == end_ps - start_ps
    return end_ps


def test_a_block_just_missed_takes_a_full_rotation() -> None:
    disk = small()
    assert read(disk, 0, 0) == 101 * US  # block 0 starts at the index mark: one sector and the bus
    assert read(disk, 101 * US, 0) == 10 * MS + 101 * US
    assert disk.parts.rotation_ps == 10 * MS - 101 * US
    assert disk.parts.seek_ps == 0


def test_a_track_takes_a_turn() -> None:
    assert read(small(), 0, 0, 100) == 10 * MS + 1 * US


def test_a_seek_over_one_cylinder() -> None:
    disk = small()
    start_ps = read(disk, 0, 0)
    # Block 200 begins cylinder 1, by one head switch and one change of cylinders later than the index mark: at 10 + 20 sectors.
    assert read(disk, start_ps, 200) == 3 * MS + 101 * US
    assert disk.parts == (0, 2 * MS, 899 * US, 100 * US, 1 * US)  # 3 ms - 2 ms - 101 us


def test_seeks_are_interpolated_and_go_on_behind_the_last_point() -> None:
    disk = small()
    for cylinders, expected in [(1, 2_000), (6, 2_500), (11, 3_000), (16, 3_500)]:
        disk = small()
        read(disk, 0, 200 * cylinders if cylinders < 10 else 2000 + 100 * (cylinders - 10))
        assert disk.parts.seek_ps == expected * US


def test_the_skew_leaves_time_for_a_head_switch() -> None:
    assert read(small(), 0, 0, 200) == 21 * MS + 1 * US  # two turns, and 10 sectors of skew between them
    assert read(small(), 0, 0, 201) == 23 * MS + 101 * US  # and 20 more to the next cylinder
    disk = small()
    start_ps = read(disk, 0, 0, 100)  # the same in two requests: the bus makes the second one late by 1 us
    assert read(disk, start_ps, 100, 100) == 31 * MS + 1 * US
    assert disk.parts == (0, 1 * MS, 10 * MS - 1 * US, 10 * MS, 1 * US)


def test_the_sequential_rate_of_each_zone() -> None:
    disk = small()
    outer, inner = disk.geometry.zones
    # A cylinder has 2 x 100 sectors and skews of 10 + 20: 23 ms; in the inner zone half the blocks in the same time.
    assert disk.geometry.bytes_per_second(outer) == pytest.approx(200 * 512 / 0.023)
    assert disk.geometry.bytes_per_second(inner) == pytest.approx(100 * 512 / 0.023)
    assert read(small(), 0, 0, 1000) == 5 * 23 * MS - 2 * MS + 1 * US  # no skew behind the last block
    start_ps = read(disk, 0, 2000)
    read(disk, start_ps, 2000, 500)
    assert disk.parts.transfer_ps == 5 * 23 * MS - 2 * MS


@pytest.mark.parametrize("blocks", [1, 16, 128])
def test_commands_back_to_back_stream_with_read_ahead(blocks: int) -> None:
    disk = small(overhead="0.05ms", **READING_AHEAD | {"segment_blocks": 300, "read_ahead_blocks": 256})
    now = read(disk, 0, 0)
    for block in range(1, 1025 - blocks, blocks):
        now = read(disk, now, block, blocks)
    last = block + blocks
    # The first command comes 0.05 ms late and waits a turn; from there on blocks come as the medium brings them.
    tracks, cylinders = (last - 1) // 100, (last - 1) // 200
    assert now == 10 * MS + (last + 10 * (tracks - cylinders) + 20 * cylinders) * 100 * US + 1 * US


def test_semi_sequential_reads_wait_for_no_rotation() -> None:
    # Each block is the first of its track to come by after the bus (1 us) and the switch: by hand, 100 us per sector.
    disk = small()
    now = read(disk, 0, 0)  # until 0.1 ms; ready on the next track at 1.101 ms, which begins at 1 ms
    for block, end_us in [(102, 1_301), (204, 3_501), (306, 4_701), (408, 6_901), (510, 8_101), (612, 10_301)]:
        now = read(disk, now, block)
        assert now == end_us * US
        assert disk.parts.seek_ps in {1 * MS, 2 * MS}
        assert disk.parts.rotation_ps == 99 * US


def test_semi_sequential_writes_settle_on_every_track() -> None:
    disk = small()
    now = write(disk, 0, 0)
    # At 0 the block is still on the bus, so it takes the next turn, until 10.1 ms. The next track is ready 1.5 ms later and the next
    # cylinder 2.5 ms, just when a sector begins.
    assert now == 10_100 * US
    for block, end_us in [(106, 11_700), (212, 14_300), (318, 15_900)]:
        now = write(disk, now, block)
        assert now == end_us * US
        assert disk.parts.seek_ps in {1_500 * US, 2_500 * US}
        assert disk.parts.rotation_ps == 0


def test_spares_at_a_track_s_end_pass_between_two_blocks() -> None:
    # Block 190 stands 90 sectors into the second track, which begins at 110. The five spares behind block 194 and the change of cylinders
    # pass before block 195 comes by at 230: from 20 to 23.5 ms.
    zones = [SMALL["zones"][0] | {"spares": 5}, SMALL["zones"][1]]
    disk = small(zones=zones, blocks=2950, spare_range_cylinders=1)
    assert read(disk, 10 * MS, 190, 10) == 23_500 * US + 1 * US
    disk = small(zones=zones, blocks=2950, spare_range_cylinders=1, **READING_AHEAD)
    read(disk, 10 * MS, 190)
    assert read(disk, 11 * MS, 195) == 23_100 * US + 1 * US


def test_zero_latency_reads_a_track_in_a_turn_from_anywhere() -> None:
    disk = small(zero_latency=True)
    assert read(disk, 4_250 * US, 0, 100) == 14_300 * US + 1 * US  # from the next sector on
    assert disk.parts == (0, 0, 50 * US, 10 * MS, 1 * US)
    assert read(small(), 4_250 * US, 0, 100) == 20 * MS + 1 * US
    disk = small(zero_latency=True)
    assert read(disk, 4_250 * US, 50, 50) == 10 * MS + 1 * US  # the first block is still to come: nothing to gain


def test_zero_latency_is_not_for_requests_over_a_zone_s_end() -> None:
    # Nine changes of cylinder take 21 sectors each here, and ten of heads 10, so that track 19 ends at 8.9 ms. The head is there at
    # 7.45 ms (2.8 ms from cylinder 0), behind block 1980: blocks 1980 to 1999 pass from 16.9 to 18.9 ms. The next zone is reached at
    # 20.9 ms and begins to pass at 30 ms; 20 blocks take 4 ms there.
    outer, inner = SMALL["zones"]
    disk = small(zero_latency=True, zones=[outer | {"cylinder_skew": 21}, inner])
    assert read(disk, 4_650 * US, 1980, 40) == 34 * MS + 1 * US


def test_reading_ahead_brings_blocks_before_they_are_asked_for() -> None:
    disk = small(overhead={"read_hit": "0.2ms", "read_miss": "0ms", "write_hit": "0ms", "write_miss": "0ms"}, **READING_AHEAD)
    read(disk, 0, 0, 10)  # 1 ms; blocks 10 to 109 follow until 12 ms: 90 sectors, 10 of skew, 10 sectors
    assert read(disk, 2 * MS, 15) == 2_201 * US  # there since 1.6 ms
    assert disk.parts == (200 * US, 0, 0, 0, 1 * US)
    assert read(disk, 2_201 * US, 40, 10) == 5_001 * US  # comes by from 4 to 5 ms
    assert disk.parts == (200 * US, 0, 1_599 * US, 1 * MS, 1 * US)
    assert read(disk, 90 * MS, 149) == 90_201 * US  # the window has moved on to block 50, so 149 is the last one
    assert read(disk, 91 * MS, 150) == 96_101 * US  # it is not there, and starts 60 sectors behind the index mark


def test_a_stream_goes_on_in_the_next_zone_for_a_read_that_does() -> None:
    # Track 19 passes from 8 to 18 ms. At 7.51 ms block 1995 is under the head, and the zone ends at 8 ms. The next one is reached in 2 ms,
    # just when it begins, and five of its blocks take 1 ms.
    disk = small(**READING_AHEAD)
    assert read(disk, 0, 1980, 10) == 7_001 * US
    assert read(disk, 7_510 * US, 1995, 10) == 11_001 * US
    assert disk.parts == (0, 0, 0, 3_490 * US, 1 * US)
    assert read(disk, 11_200 * US, 2005) == 11_201 * US  # the stream has gone on
    assert read(disk, 30 * MS, 1990) == 30_001 * US  # and what it has read before is held


def test_a_long_stream_overwrites_its_own_segment() -> None:
    disk = small(**READING_AHEAD)
    now = 0
    for block in range(0, 500, 50):
        now = read(disk, now, block, 50)
    assert read(disk, now, 400) == now + 1 * US
    read(disk, now + 1 * US, 10)
    assert disk.parts.seek_ps == 2_100 * US  # from cylinder 2


def test_reading_ahead_gives_way() -> None:
    disk = small(**READING_AHEAD)
    read(disk, 0, 0, 10)
    assert read(disk, 2 * MS, 1000) == 5_101 * US  # five cylinders in 2.4 ms, and 50 sectors behind the index mark
    assert disk.parts.seek_ps == 2_400 * US
    assert read(disk, 30 * MS, 19) == 30 * MS + 1 * US  # blocks to 19 had been read at 2 ms
    read(disk, 40 * MS, 20)
    assert disk.parts.seek_ps == 2_400 * US


def test_a_drive_may_leave_its_read_ahead() -> None:
    # Block 102 comes in the stream at 11.2 ms. Going there takes 1 ms, and it comes by at 1.2 ms.
    for leaves, end_us, parts_us in [(False, 11_301, (0, 0, 11_099, 100, 1)), (True, 1_301, (0, 1_000, 99, 100, 1))]:
        disk = small(**READING_AHEAD | {"read_ahead_blocks": 150, "leaves_read_ahead": leaves})
        assert read(disk, read(disk, 0, 0), 102) == end_us * US
        assert disk.parts == tuple(part * US for part in parts_us)


def test_a_partial_hit_brings_the_rest_from_the_medium() -> None:
    disk = small(**READING_AHEAD | {"read_ahead_blocks": 0})
    now = read(disk, 0, 0, 10)
    assert read(disk, now, 5, 10) == 11_500 * US + 1 * US  # blocks 10 to 14 come by from 11 to 11.5 ms
    assert disk.parts.transfer_ps == 500 * US


def test_written_blocks_replace_what_was_read() -> None:
    disk = small(**READING_AHEAD)
    read(disk, 0, 0, 10)
    write(disk, 20 * MS, 5, 2)
    assert read(disk, 40 * MS, 5, 2) == 40 * MS + 2 * US  # held since they were written
    read(disk, 50 * MS, 0)
    assert disk.parts.transfer_ps == 100 * US  # the old segment is gone


def test_a_write_settles_only_after_a_move() -> None:
    disk = small()
    read(disk, 0, 0)
    assert write(disk, 5 * MS, 60) == 6_100 * US
    assert disk.parts.seek_ps == 0
    write(disk, 10 * MS, 160)
    assert disk.parts.seek_ps == 1_500 * US


def test_a_slow_bus_holds_reads_and_writes_up() -> None:
    disk = small(bus_per_block="300us")
    assert read(disk, 0, 0, 10) == 100 * US + 3 * MS  # the first block after a sector, then the bus
    assert disk.parts.bus_ps == 2_100 * US
    # A write may not begin before 0.3 ms and not so early that the medium overtakes the bus: 10 x 0.3 - 9 x 0.1 = 2.1 ms.
    assert write(disk, 10 * MS, 21, 10) == 13_100 * US
    assert disk.parts == (0, 0, 0, 1 * MS, 2_100 * US)


def test_a_slow_bus_waits_where_the_medium_pauses() -> None:
    # Blocks 95 to 99 pass from 9.5 to 10 ms and are over the bus at 9.6 + 5 x 0.15 = 10.35 ms. The next track begins at 11 ms, so that
    # the other five go from 11.1 ms on.
    slow = {"bus_per_block": "150us"}
    assert read(small(**slow), 0, 95, 10) == 11_850 * US
    disk = small(**slow | READING_AHEAD)
    read(disk, 0, 0, 10)
    assert read(disk, 3 * MS, 95, 10) == 11_850 * US
    # Block 1995 passes from 7.5 ms on: five blocks at 0.3 ms each are over the bus at 9.1 ms. The next zone's pass from 10 ms on.
    assert read(small(bus_per_block="300us"), 0, 1995, 10) == 10_200 * US + 5 * 300 * US
    # From 4.3 ms on 17 blocks pass, which the bus has carried by 7 ms; the first 43 pass from 10 ms on.
    assert read(small(zero_latency=True, **slow), 4_250 * US, 0, 60) == 10_100 * US + 43 * 150 * US


def test_a_write_begins_no_earlier_than_a_slow_bus_needs_it_to() -> None:
    # Five blocks before the change of tracks come by from 9.5 ms on, and five behind it from 11 ms on. The bus needs 0.15 ms for each:
    # it has the fifth there in time (9.9 ms) if it begins at 9.15 ms, and all the others long before.
    assert write(small(bus_per_block="150us"), 9_150 * US, 95, 10) == 11_500 * US
    assert write(small(bus_per_block="150us"), 9_151 * US, 95, 10) == 21_500 * US
    # Blocks 1995 to 1999 come by from 17.5 ms on, the next zone's from 20 ms on, one each 0.2 ms. Block 2004, the tenth, comes by at
    # 20.8 ms, when a bus that takes 0.35 ms for each has brought it if it began at 17.3 ms; the fifth at 17.9 ms needs 16.15 ms.
    for start_us, end_ms in [(16_150, 21), (16_151, 31)]:
        disk = small(bus_per_block="350us")
        read(disk, 0, 1999)
        assert write(disk, start_us * US, 1995, 10) == end_ms * MS


def test_a_buffered_write_is_done_before_it_is_on_the_medium() -> None:
    disk = small(segment_blocks=100, write_segments=1)
    assert write(disk, 0, 1000, 10) == 10 * US
    # In the background: 1 us for the first block, 2.9 ms to cylinder 5 with settling, the block comes by from 5 to 6 ms.
    assert read(disk, 10 * US, 1010) == 6_101 * US
    assert disk.parts.seek_ps == 5_990 * US
    assert disk.parts.rotation_ps == 0


def test_a_buffered_write_does_not_overtake_a_slow_bus() -> None:
    disk = small(segment_blocks=100, write_segments=1, bus_per_block="300us")
    assert write(disk, 0, 10, 10) == 3 * MS
    # Block 10 comes by at 1 ms, too early: the medium would end at 2 ms. So there is room for the next after another turn, at 12 ms.
    assert write(disk, 3 * MS, 500) == 12_300 * US


def test_a_full_write_buffer_makes_writes_wait() -> None:
    disk = small(segment_blocks=100, write_segments=1)
    now = write(disk, 0, 1000, 10)  # on the medium at 6 ms
    assert write(disk, now, 0) == 6 * MS + 1 * US
    disk = small(segment_blocks=100, write_segments=2)
    now = write(disk, 0, 1000, 10)
    assert write(disk, now, 0) == now + 1 * US
    assert write(disk, now + 1 * US, 500) == 6 * MS + 1 * US
    disk = small(segment_blocks=100, write_segments=1)
    now = write(disk, 0, 1000, 10)
    assert write(disk, now, 1010, 5) == now + 5 * US  # joins the write that it continues
    assert write(disk, 40 * MS, 0, 101) > 50 * MS  # larger than a segment: to the medium


def test_a_request_goes_on_in_the_next_zone() -> None:
    disk = small()
    # Track 19 starts 80 sectors behind the index mark: from 8 to 18 ms. The next cylinder takes 2 ms, and block 2000 comes by at 20 ms.
    # Then two tracks with a skew of 1 ms between them.
    assert read(disk, 0, 1900, 200) == 20 * MS + 21 * MS + 1 * US
    assert disk.parts == (0, 2_800 * US, 5_200 * US, 33 * MS, 1 * US)


def test_blocks_beyond_the_end_are_refused() -> None:
    for block, blocks in [(-1, 1), (2999, 2), (0, 0)]:
        with pytest.raises(ValueError, match="not all in a disk of 3000 blocks"):
            small().serve(0, block, blocks, write=False)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Zones with skews, empty sectors and spare ranges."""
    heads = draw(st.integers(1, 4))
    zones: list[Zone] = []
    block = cylinder = 0
    for _ in range(draw(st.integers(1, 3))):
        cylinders, sectors = draw(st.integers(1, 6)), draw(st.integers(3, 12))
        range_cylinders = draw(st.integers(1, 6))
        spares = draw(st.integers(0, sectors - 1))
        empty = draw(st.integers(0, 2))
        room = cylinders * heads * sectors - empty - cylinders // range_cylinders * spares
        assume(room > 0)
        track_skew, cylinder_skew = draw(st.integers(0, sectors - 1)), draw(st.integers(0, sectors - 1))
        in_range = range_cylinders * heads * sectors - spares
        zones.append(Zone(block, room, cylinder, cylinders, sectors, track_skew, cylinder_skew, empty, spares, in_range))
        block, cylinder = block + room, cylinder + cylinders
    return Geometry(zones, heads, draw(st.integers(10**6, 10**7)), block, serpentine=draw(st.booleans()))


@given(geometries())
def test_every_block_has_a_place_of_its_own(geometry: Geometry) -> None:
    places = [geometry.locate(block) for block in range(geometry.blocks)]
    for block, place in enumerate(places):
        assert geometry.block_at(place.cylinder, place.head, place.sector) == block
        assert geometry.reached(place.zone, place.position) == block
    sectors = sum(zone.cylinders * geometry.heads * zone.sectors for zone in geometry.zones)
    every = [
        geometry.block_at(cylinder, head, sector)
        for zone in geometry.zones
        for cylinder in range(zone.cylinder, zone.cylinder + zone.cylinders)
        for head in range(geometry.heads)
        for sector in range(zone.sectors)
    ]
    assert len(every) == sectors
    assert sorted(block for block in every if block is not None) == list(range(geometry.blocks))


@given(geometries())
def test_positions_grow_by_a_sector_and_the_skews(geometry: Geometry) -> None:
    for zone in geometry.zones:
        walked = {}
        position = 0
        for cylinder in range(zone.cylinder, zone.cylinder + zone.cylinders):
            for turn in range(geometry.heads):
                down = geometry.serpentine and (cylinder - zone.cylinder) % 2
                for sector in range(zone.sectors):
                    walked[cylinder, geometry.heads - 1 - turn if down else turn, sector] = position
                    position += 1
                position += zone.track_skew if turn < geometry.heads - 1 else zone.cylinder_skew
        for block in range(zone.block, zone.block + zone.blocks):
            _, cylinder, head, sector, position = geometry.locate(block)
            assert walked[cylinder, head, sector] == position


REQUESTS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 2999), st.integers(1, 300), st.sampled_from([0, 10 * US, 5 * MS, 300 * MS])),
    min_size=1,
    max_size=40,
)


DRIVES = st.fixed_dictionaries(
    {
        "segments": st.just(2),
        "segment_blocks": st.just(300),
        "read_ahead_blocks": st.sampled_from([0, 1, 60, 300]),
        "leaves_read_ahead": st.booleans(),
        "write_segments": st.integers(0, 2),
        "zero_latency": st.booleans(),
        "bus_per_block": st.sampled_from(["0us", "1us", "150us"]),
        "overhead": st.sampled_from(["0ms", "0.3ms"]),
    }
)


@given(REQUESTS, DRIVES)
def test_time_never_decreases_and_parts_sum_up(requests: list[tuple[bool, int, int, int]], changes: dict[str, Any]) -> None:
    disk, again = small(**changes), small(**changes)
    now = 0
    for writing, block, blocks, pause in requests:
        count = min(blocks, disk.blocks - block)
        end_ps = disk.serve(now, block, count, write=writing)
        assert min(disk.parts) >= 0
        assert sum(disk.parts) == end_ps - now >= count * disk.drive.bus_ps
        assert again.serve(now, block, count, write=writing) == end_ps
        now = end_ps + pause


@given(st.lists(st.tuples(st.integers(0, 2999), st.integers(1, 700)), min_size=1, max_size=20))
def test_requests_take_what_walking_their_sectors_takes(requests: list[tuple[int, int]]) -> None:
    disk = small(bus_per_block="0us")
    locate, seek_ps, turn_ps = disk.geometry.locate, disk.drive.seek_ps, disk.geometry.rotation_ps
    now, cylinder, head = 0, 0, 0
    for block, blocks in requests:
        count = min(blocks, disk.blocks - block)
        walked = now
        for place in map(locate, range(block, block + count)):
            if place.cylinder != cylinder:
                walked += seek_ps(abs(place.cylinder - cylinder))
            elif place.head != head:
                walked += 1 * MS
            cylinder, head = place.cylinder, place.head
            sector_ps = turn_ps // place.zone.sectors
            walked += (place.position * sector_ps - walked) % turn_ps + sector_ps
        now = read(disk, now, block, count)
        assert now == walked


@given(REQUESTS, DRIVES)
def test_the_estimate_of_positioning_is_what_serving_takes(requests: list[tuple[bool, int, int, int]], changes: dict[str, Any]) -> None:
    disk = small(**changes | {"zero_latency": False, "bus_per_block": "0us"})
    now = 0
    for writing, block, blocks, pause in requests:
        request = Request(now, 0, block, min(blocks, disk.blocks - block), writing)
        estimate = disk.positioning_ps(now, request)
        now = disk.serve(now, block, request.blocks, write=writing) + pause
        until_it_moves = sum(disk.parts[:3])  # overhead, seek, rotation
        held = estimate == disk.drive.read_hit.after_read
        assert until_it_moves >= estimate if held and not writing else until_it_moves == estimate


def test_the_estimate_knows_the_write_buffer() -> None:
    def ms(disk: Disk, now_ms: float, block: int, blocks: int, *, write: bool) -> float:
        return disk.positioning_ps(round(now_ms * MS), Request(0, 0, block, blocks, write)) / MS

    disk = small(segment_blocks=100, write_segments=1)
    assert ms(disk, 0, 1000, 10, write=True) == 0
    assert ms(disk, 0, 1000, 101, write=True) == 5  # to the medium: 2.9 ms, and the block comes by at 5 ms
    write(disk, 0, 1000, 10)
    assert ms(disk, 1, 500, 10, write=True) == 5  # there is room again at 6 ms


def test_every_drive_reads_its_first_zone_at_its_rate() -> None:
    for name in ["atlas-10k", "atlas-iii", "cheetah-4lp", "cheetah-9lp", "cheetah-x15", "disk-2024"]:
        disk = load_device(name).device()
        assert isinstance(disk, Disk)
        zone = disk.geometry.zones[0]
        blocks = disk.geometry.heads * zone.sectors * 20
        disk.serve(0, 0, blocks, write=False)
        seconds = disk.parts.transfer_ps / 10**12
        assert blocks * 512 / seconds == pytest.approx(disk.geometry.bytes_per_second(zone), rel=0.01)


def test_seeks_of_a_data_sheet_have_its_average() -> None:
    file = load_device("cheetah-x15")
    assert isinstance(file, DiskFile)
    seek_ps = file.seek.times(file.cylinders)
    count = file.cylinders
    mean = sum(2 * (count - d) / count**2 * seek_ps(d) for d in range(1, count))
    assert mean == pytest.approx(3.9 * MS, rel=1e-3)
    assert seek_ps(1) == 500 * US
    assert seek_ps(count - 1) == pytest.approx(7.5 * MS, abs=1)
    assert all(seek_ps(near) <= seek_ps(far) for near, far in pairwise(range(1, count)))
