"""MEMStores: where blocks lie, how the sled moves, what requests take, and DiskSim's means."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from files import refusal_of_line
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.errors import UserError
from memwalk.simcore.paths import configs
from memwalk.simcore.storage.device import Parts, Run
from memwalk.simcore.storage.mems import MemsGeometry, Memstore, MemstoreFile
from memwalk.simcore.storage.mems.passes import plan
from memwalk.simcore.storage.mems.sled import Motion, Sled
from memwalk.simcore.storage.queues import Request
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import load

FIGURE_6 = MemsGeometry(cylinders=3, tracks=3, rows=3, cells=3, bit_nm=40, servo_bits=10, sector_bits=80)
"""The device of Clotho's Figure 6: nine squares of nine places, a third of the tips active."""
MICROSECOND = 10**6
MILLISECOND = 10**9


def memstore_file(generation: int, **changes: Any) -> MemstoreFile:
    """The file of a generation, 1 to 3, with some fields changed."""
    return validate(MemstoreFile, load(configs() / "devices" / f"mems-g{generation}.yaml")).model_copy(update=changes)


def memstore(generation: int, **changes: Any) -> Memstore:
    """A device of a generation."""
    return memstore_file(generation, **changes).device()


# --- geometry ---


@pytest.mark.parametrize(
    ("generation", "shape", "blocks"),
    [(1, (2000, 10, 22, 10), 4_400_000), (2, (2500, 5, 27, 20), 6_750_000), (3, (3333, 2, 36, 50), 11_998_800)],
)
def test_geometry_follows_from_lengths_and_tips(generation: int, shape: tuple[int, ...], blocks: int) -> None:
    geometry = memstore_file(generation).geometry()
    assert (geometry.cylinders, geometry.tracks, geometry.rows, geometry.cells) == shape
    assert geometry.blocks == blocks


def test_blocks_lie_as_in_figure_6() -> None:
    squares = {(0, 0): [[0, 33, 54], [3, 30, 57], [6, 27, 60]], (1, 0): [[15, 36, 69], [12, 39, 66], [9, 42, 63]]}
    squares |= {(2, 1): [[19, 52, 73], [22, 49, 76], [25, 46, 79]]}
    for (track, cell), rows in squares.items():
        for row, blocks in enumerate(rows):
            for cylinder, block in enumerate(blocks):
                assert FIGURE_6.locate(block) == (cylinder, track, row, cell)
    assert FIGURE_6.parallel_blocks(33) == [33, 34, 35, 36, 37, 38, 51, 52, 53]


@given(st.builds(MemsGeometry, *[st.integers(1, 5)] * 4, bit_nm=st.just(40), servo_bits=st.just(10), sector_bits=st.just(80)))
def test_every_place_has_one_block(geometry: MemsGeometry) -> None:
    places = [geometry.locate(block) for block in range(geometry.blocks)]
    assert len(set(places)) == geometry.blocks
    assert [geometry.block_at(place) for place in places] == list(range(geometry.blocks))


@given(st.data())
def test_passes_move_every_block_once_and_no_more_than_are_active(data: st.DataObject) -> None:
    starts = data.draw(st.lists(st.integers(0, FIGURE_6.blocks - 1), min_size=1, max_size=8))
    runs = [Run(block, data.draw(st.integers(1, FIGURE_6.blocks - block))) for block in starts]
    passes = plan(FIGURE_6, runs, bidirectional=data.draw(st.booleans()))
    wanted: dict[tuple[int, int], int] = {}
    for block, blocks in runs:
        for one in range(block, block + blocks):
            place = FIGURE_6.locate(one)
            wanted[place.cylinder, place.row] = wanted.get((place.cylinder, place.row), 0) + 1
    moved: dict[tuple[int, int], int] = {}
    for one_pass in passes:
        assert 1 <= one_pass.blocks <= FIGURE_6.cells
        moved[one_pass.cylinder, one_pass.row] = moved.get((one_pass.cylinder, one_pass.row), 0) + one_pass.blocks
    assert moved == wanted


# --- the sled ---


def sled(generation: int, spring_factor: float) -> Sled:
    """A sled without settling."""
    return replace(memstore(generation, spring_factor=spring_factor).sled, settle_ps=0)


X_SEEKS_NM = [(-50_000, 50_000), (0, 50_000), (40_000, 50_000), (-5_000, 5_000)]


@pytest.mark.parametrize(
    ("generation", "spring_factor", "x_us", "full_y_us"),
    [
        (1, 0.0, [762.0, 538.9, 241.0, 241.0], 706.2),
        (1, 0.75, [598.9, 494.2, 305.5, 233.8], 566.4),
        (2, 0.0, [705.5, 498.9, 223.1, 223.1], 639.3),
        (2, 0.75, [554.5, 457.6, 282.8, 216.5], 515.7),
        (3, 0.0, [622.2, 440.0, 196.8, 196.8], 566.8),
        (3, 0.75, [489.0, 403.5, 249.4, 190.9], 456.6),
    ],
)
def test_seek_times(generation: int, spring_factor: float, x_us: list[float], full_y_us: float) -> None:
    """Without springs these are 2 sqrt(d / a) and 2 (sqrt(v^2 + a d) - v) / a."""
    moved = sled(generation, spring_factor)
    assert [moved.x_seek_ps(start, end) / MICROSECOND for start, end in X_SEEKS_NM] == pytest.approx(x_us, abs=0.1)
    y_ps, turns_ps = moved.y_seek_ps(Motion(-50_000, 1), Motion(50_000, 1))
    assert (y_ps / MICROSECOND, turns_ps) == (pytest.approx(full_y_us, abs=0.1), 0)


@pytest.mark.parametrize(
    ("start", "end", "velocity"), [(-50e-6, 50e-6, 0.0), (10e-6, 45e-6, 0.0), (-45e-6, -44e-6, 0.028), (-20e-6, 50e-6, 0.028)]
)
def test_the_formula_is_the_integral_of_the_motion(start: float, end: float, velocity: float) -> None:
    acceleration, rate = 803.6, 0.75 * 803.6 / 50e-6
    step = 1e-8
    forwards, backwards = [start], [end]  # how the sled speeds up from the start, and, with time reversed, from the end
    for places, sign in ((forwards, 1), (backwards, -1)):
        speed = velocity
        while len(places) < 60_000 and abs(places[-1] - places[0]) < abs(end - start):
            pull = acceleration - sign * rate * places[-1]
            places.append(places[-1] + sign * (speed * step + pull * step * step / 2))
            speed += (pull - sign * rate * places[-1] + acceleration) / 2 * step
    # Both meet where position and speed agree: the energies there are equal.
    switch = (start + end) / 2 + rate * (end**2 - start**2) / (4 * acceleration)
    time = (sum(place <= switch for place in forwards) + sum(place >= switch for place in backwards) - 2) * step
    moved = sled(2, 0.75)
    if velocity:
        taken, _ = moved.y_seek_ps(Motion(round(start * 1e9), 1), Motion(round(end * 1e9), 1))
    else:
        taken = moved.x_seek_ps(round(start * 1e9), round(end * 1e9))
    assert taken * 1e-12 == pytest.approx(time, abs=5e-8)


def test_turning_around_is_quicker_where_springs_help() -> None:
    moved = sled(2, 0.75)
    assert moved.turnaround_ps(Motion(0, 1)) == pytest.approx(69.69 * MICROSECOND, rel=1e-4)
    assert moved.turnaround_ps(Motion(50_000, 1)) == pytest.approx(69.69 / 1.75 * MICROSECOND, rel=1e-4)
    assert moved.turnaround_ps(Motion(50_000, -1)) == pytest.approx(69.69 / 0.25 * MICROSECOND, rel=1e-4)


PLACES = st.integers(-50_000, 50_000)
MOTIONS = st.builds(Motion, PLACES, st.sampled_from([-1, 1]))


@given(st.integers(1, 3), PLACES, PLACES)
def test_seeks_are_symmetric(generation: int, start: int, end: int) -> None:
    moved = memstore(generation).sled
    there = moved.x_seek_ps(start, end)
    assert moved.x_seek_ps(end, start) == pytest.approx(there, abs=1)
    assert moved.x_seek_ps(-start, -end) == pytest.approx(there, abs=1)


@given(st.integers(1, 3), MOTIONS, MOTIONS)
def test_motions_can_be_run_backwards(generation: int, start: Motion, end: Motion) -> None:
    moved = memstore(generation).sled
    there = sum(moved.y_seek_ps(start, end))
    back = sum(moved.y_seek_ps(Motion(end.y_nm, -end.direction), Motion(start.y_nm, -start.direction)))
    assert back == pytest.approx(there, abs=2)


@given(st.integers(1, 3), MOTIONS, st.integers(0, 10**12))
def test_an_idle_sled_sweeps_between_its_ends(generation: int, start: Motion, elapsed: int) -> None:
    moved = memstore(generation).sled
    assert abs(moved.sweep(start, elapsed).y_nm) <= 50_000
    assert moved.sweep(start, 0) == start
    micrometre_ps = 1000 * 10**12 // moved.velocity_nm_s
    if start.y_nm * start.direction < 49_000:
        assert moved.sweep(start, micrometre_ps).y_nm == pytest.approx(start.y_nm + 1000 * start.direction, abs=1)


# --- requests ---


def test_a_first_request_by_hand() -> None:
    served = memstore(2)
    geometry = served.geometry
    place = geometry.locate(3_376_350)  # the middle block: cylinder 1250, track 2, row 13
    assert (place.cylinder, place.row) == (1250, 13)
    end = served.serve(0, 3_376_340, 20, write=False)
    overhead = 200 * MICROSECOND + 500 * MICROSECOND  # the command, starting the parked sled
    row = 90 * 10**12 // 700_000
    assert served.parts == Parts(overhead_ps=overhead, transfer_ps=row, bus_ps=20 * 5_120_000)
    assert end == sum(served.parts)


def test_a_queued_request_streams_on_without_overhead() -> None:
    served = memstore(2)
    first = served.serve(0, 3_376_340, 20, write=False)
    served.expect(0)
    second = served.serve(first, 3_376_360, 20, write=False)
    row = 90 * 10**12 // 700_000
    assert second - first == row
    assert served.parts == Parts(transfer_ps=row - 20 * 5_120_000, bus_ps=20 * 5_120_000)


@pytest.mark.parametrize("pause", [0, 1])
def test_a_late_request_pays_for_its_command_and_finds_the_sled_elsewhere(pause: int) -> None:
    served = memstore(2)
    first = served.serve(0, 3_376_340, 20, write=False)
    served.serve(first + pause, 3_376_360, 20, write=False)
    assert served.parts.overhead_ps == 200 * MICROSECOND
    assert served.parts.seek_ps + served.parts.rotation_ps > 0


def test_the_sled_moves_for_no_request_before_its_command_is_taken() -> None:
    # The row passes from 700 to 829 us, and its blocks are over the bus at 931 us. The command of a request that comes at 750 us is
    # taken at 950 us. So the sled goes then, as if the bus was free.
    served, free = memstore(2), memstore(2)
    first = served.serve(0, 3_376_340, 20, write=False)
    free.serve(0, 3_376_340, 20, write=False)
    served.expect(750 * MICROSECOND)
    assert served.serve(first, 3_376_360, 20, write=False) == free.serve(750 * MICROSECOND, 3_376_360, 20, write=False)
    assert served.parts.overhead_ps == 950 * MICROSECOND - first
    assert sum(served.parts[1:]) == sum(free.parts[1:])


def test_a_queued_write_waits_for_the_bus_and_then_passes() -> None:
    # The sled is at the next row when the first one has passed, and waits there until the bus, at 51.2 us for a block, has carried
    # 20 blocks of the read and then 20 of the write.
    made = memstore(2)
    served = Memstore(made.geometry, made.sled, replace(made.electronics, bus_ps=51_200_000))
    first = served.serve(0, 3_376_340, 20, write=False)
    served.expect(0)
    served.serve(first, 3_376_360, 20, write=True)
    assert served.parts == Parts(transfer_ps=90 * 10**12 // 700_000, bus_ps=20 * 51_200_000)


@pytest.mark.parametrize(("idle_ms", "parked"), [(99, False), (101, True)])
def test_an_idle_sled_parks(idle_ms: int, parked: bool) -> None:
    served = memstore(2)
    end = served.serve(0, 0, 8, write=True)
    served.serve(end + idle_ms * MILLISECOND, 0, 8, write=True)
    assert served.parts.overhead_ps == (700 if parked else 200) * MICROSECOND


def test_a_request_finds_the_sled_moving_if_it_comes_before_the_sled_parks() -> None:
    # It comes 0.1 ms before 100 ms have passed, and its command is taken 0.1 ms after.
    served = memstore(2)
    end = served.serve(0, 0, 8, write=True)
    served.serve(end + 100 * MILLISECOND - 100 * MICROSECOND, 0, 8, write=True)
    assert served.parts.overhead_ps == 200 * MICROSECOND


def test_the_bus_brings_a_write_while_a_parked_sled_starts() -> None:
    # The command takes 200 us. Then 20 blocks need 20 x 51.2 = 1024 us of the bus, and starting the sled, which is where it should
    # be, 500 us: the row passes from 1224 us on, 1224 - 700 us after the sled is ready.
    made = memstore(2)
    served = Memstore(made.geometry, made.sled, replace(made.electronics, bus_ps=51_200_000))
    row = 90 * 10**12 // 700_000
    assert served.serve(0, 3_376_340, 20, write=True) == 1224 * MICROSECOND + row
    assert served.parts == Parts(overhead_ps=700 * MICROSECOND, transfer_ps=row, bus_ps=524 * MICROSECOND)


@pytest.mark.parametrize(("generation", "least", "most"), [(1, 14, 22.8), (2, 75, 79.6), (3, 98, 100)])
@pytest.mark.parametrize("write", [False, True])
def test_streaming_rates(generation: int, least: float, most: float, write: bool) -> None:
    served = memstore(generation)
    blocks = 10 * served.geometry.tracks * served.geometry.track_blocks
    taken = served.serve(0, 0, blocks, write=write)
    assert least < blocks * 512 / (taken / MICROSECOND) < most


def test_a_class_moves_in_one_pass() -> None:
    def batch(*blocks: int) -> int:
        served = Memstore(FIGURE_6, memstore(2).sled, memstore(2).electronics)
        return served.serve_batch(0, [Run(block, 1) for block in blocks], write=False)

    assert batch(33, 36, 51) == batch(33, 34, 35)  # a column and a row
    assert batch(33, 36, 51, 52) > batch(33, 36, 51) + 90 * 10**12 // 700_000  # a third of the tips: three blocks at once


REQUESTS = st.lists(st.tuples(st.integers(0, 200 * MILLISECOND), st.integers(0, 80), st.integers(1, 81), st.booleans()), max_size=12)


@given(st.integers(1, 3), REQUESTS)
def test_time_never_goes_back_and_parts_sum(generation: int, requests: list[tuple[int, int, int, bool]]) -> None:
    made = memstore(generation)
    served = Memstore(FIGURE_6, made.sled, made.electronics)
    end = 0
    for gap, block, blocks, write in requests:
        start = end + (gap if gap % 3 else 0)
        wanted = min(blocks, FIGURE_6.blocks - block)
        assert served.positioning_ps(start, Request(start, 0, block, wanted, write)) >= 0
        end = served.serve(start, block, wanted, write=write)
        assert end - start == sum(served.parts)
        assert min(served.parts) >= 0
        assert end - start >= served.electronics.bus_ps


def test_blocks_beyond_the_end_are_refused() -> None:
    with pytest.raises(ValueError, match="not all in a MEMStore of 6750000 blocks"):
        memstore(2).serve(0, 6_749_999, 2, write=False)


@pytest.mark.parametrize(
    ("generation", "spring_factor", "disksim_ms"),
    [(1, 0.75, 0.811245), (2, 0.75, 0.568662), (3, 0.75, 0.462777), (1, 0.0, 0.83778), (2, 0.0, 0.599449), (3, 0.0, 0.495517)],
)
def test_mean_seeks_are_disksims(generation: int, spring_factor: float, disksim_ms: float) -> None:
    """The workload and the means (seek time averages) of DiskSim 4.0's valid/mems.g[123].parv and .outv, also without springs."""
    served = memstore(generation, spring_factor=spring_factor)
    chance = random.Random(1)
    arrival = end = total = requests = 0
    while requests < 4000:
        arrival += round(chance.expovariate(1 / 50) * MILLISECOND)
        blocks = 8 * max(1, math.ceil(chance.expovariate(1 / 8) / 8))
        block = chance.randrange(served.blocks // 8) * 8
        write = chance.random() >= 0.66
        if block + blocks > served.blocks:
            continue
        end = served.serve(max(arrival, end), block, blocks, write=write)
        total += served.parts.seek_ps + served.parts.rotation_ps
        requests += 1
    assert total / requests / MILLISECOND == pytest.approx(disksim_ms, rel=0.02)


# --- files ---


@pytest.mark.parametrize(
    ("line", "wrong", "message"),
    [
        ("active_tips: 1280", "active_tips: 1200", "active_tips: 6400 tips are no whole number of groups of 1200"),
        ("tips_per_block: 64", "tips_per_block: 96", "tips_per_block: 1280 active tips move no whole number of blocks of 96"),
        ("settle_time_constants: 1", "settle_time_constants: -1", "settle_time_constants: `-1` is too small; the least is 0"),
        ("settle_time_constants: 1", "settle_time_constants: 1e300", "settle_time_constants: `1e+300` is too large; the most is 100"),
        ("acceleration: 803.6m/s2", "acceleration: 1e400m/s2", "acceleration: `1e400m/s2` is more than 9223372036854775807 metres per"),
        ("spring_factor: 0.75", "spring_factor: 1", "spring_factor: `1` is too large; it must be less than 1"),
        ("bit_cell: 40nm", "bit_cell: 40", "bit_cell: `40` has no unit; write for example 100um"),
        ("bit_cell: 40nm", "bit_cell: 0nm", "bit_cell: `0` is too small; it must be more than 0"),
        ("acceleration: 803.6m/s2", "acceleration: 82", "acceleration: `82` has no unit; write for example 803.6m/s2"),
        ("access_rate: 700kbit/s", "access_rate: 700kHz", "access_rate: `700kHz` is in frequency, but a bit rate belongs here"),
        ("tips: 6400", "tipps: 6400", "unknown key `tipps`; did you mean `tips`?"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, line: str, wrong: str, message: str) -> None:
    assert message in refusal_of_line(MemstoreFile, "mems-g2", line, wrong, tmp_path)


def test_a_sled_that_holds_no_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mems.yaml"
    path.write_text((configs() / "devices" / "mems-g2.yaml").read_text().replace("sled_travel: 100um", "sled_travel: 3um"))
    with pytest.raises(UserError, match="a travel of 75 bits holds no row of 100, servo bits included; lengthen `sled_travel`"):
        validate(MemstoreFile, load(path))
