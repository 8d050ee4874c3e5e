"""Atropos and MEMStore volumes: Clotho's Figures 5 and 6, and what their two dimensions cost on devices."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.paths import configs
from memwalk.simcore.storage.device import Asked, Run
from memwalk.simcore.storage.disk import Disk, DiskFile, Geometry, Zone
from memwalk.simcore.storage.mems import MemsGeometry, Memstore, MemstoreFile
from memwalk.simcore.storage.server import serve_devices
from memwalk.simcore.storage.volume_server import VolumeServer
from memwalk.simcore.storage.volumes import AtroposVolume, MemstoreVolume, Part, Step, StripedVolume, read_step, write_step
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import load

MILLISECOND = 10**9


def zone(sectors: int, heads: int, cylinders: int, *, skews: tuple[int, int] = (1, 1), spares: int = 0) -> Zone:
    """A zone that is a whole disk."""
    blocks = sectors * heads * cylinders
    return Zone(0, blocks, 0, cylinders, sectors, *skews, 0, spares, blocks)


def geometry(sectors: int, heads: int, cylinders: int) -> Geometry:
    """A disk that turns once in as many milliseconds as a track has sectors."""
    return Geometry([zone(sectors, heads, cylinders)], heads, sectors * MILLISECOND, sectors * heads * cylinders)


FIGURE_5 = AtroposVolume(geometry(4, 4, 3), disks=4, depth=4, step=Step(MILLISECOND * 9 // 10, MILLISECOND * 9 // 10))
"""Four disks whose tracks have four blocks; a step takes a sector."""
FIGURE_6 = MemsGeometry(cylinders=3, tracks=3, rows=3, cells=3, bit_nm=40, servo_bits=10, sector_bits=80)


@cache
def cheetah_file() -> DiskFile:
    """The file of the disk of Clotho's array."""
    return validate(DiskFile, load(configs() / "devices" / "cheetah-36es.yaml"))


def cheetah() -> Disk:
    """Such a disk."""
    return cheetah_file().device()


@cache
def mems() -> MemstoreFile:
    """The MEMStore of Clotho."""
    return validate(MemstoreFile, load(configs() / "devices" / "mems-g2.yaml"))


# --- Atropos, the mapping ---


def test_one_attribute_of_figure_5_is_four_whole_tracks() -> None:
    assert FIGURE_5.split(0, 16) == [Part(disk, 0, 4) for disk in range(4)]
    assert FIGURE_5.split(64, 16) == [Part(disk, 16, 4) for disk in (1, 2, 3, 0)]
    assert FIGURE_5.track(6) == Run(4, 4)
    assert 16 * 63 == 1008  # records: 63 in the minipage of a block


def test_one_page_of_figure_5_is_three_semi_sequential_accesses() -> None:
    page = FIGURE_5.semi_sequential(0, 12)
    assert page[::4] == [0, 64, 128]
    parts = [FIGURE_5.split(block, 1)[0] for block in page]
    assert [part.disk for part in parts] == [0] * 4 + [1] * 4 + [2] * 4
    diagonal = [0, 5, 10, 15]  # block 0, 1, 2 and 3 of the quadrangle's four tracks
    assert [part.block for part in parts] == [16 * quadrangle + block for quadrangle in range(3) for block in diagonal]


def test_the_blocks_of_disk_0_are_figure_5s() -> None:
    on_disk_0 = [block for block in range(0, 192, 4) if FIGURE_5.split(block, 1)[0].disk == 0]
    assert on_disk_0 == [0, 16, 32, 48, 76, 92, 108, 124, 136, 152, 168, 184]


@given(
    sectors=st.integers(1, 6),
    heads=st.integers(1, 5),
    cylinders=st.integers(1, 4),
    disks=st.integers(1, 4),
    depth=st.integers(1, 5),
    steps=st.tuples(st.integers(0, 7 * MILLISECOND), st.integers(0, 7 * MILLISECOND)),
    data=st.data(),
)
def test_every_block_has_its_own_place_and_requests_are_their_blocks(  # noqa: PLR0917 (named by hypothesis)
    sectors: int, heads: int, cylinders: int, disks: int, depth: int, steps: tuple[int, int], data: st.DataObject
) -> None:
    depth = min(depth, heads * cylinders)
    volume = AtroposVolume(geometry(sectors, heads, cylinders), disks, depth, Step(*steps))
    places = [volume.split(block, 1) for block in range(volume.blocks)]
    assert all(len(parts) == 1 for parts in places)
    single = [(part.disk, part.block) for (part,) in places]
    assert len(set(single)) == volume.blocks
    block = data.draw(st.integers(0, volume.blocks - 1))
    blocks = data.draw(st.integers(1, volume.blocks - block))
    moved = [(part.disk, one) for part in volume.split(block, blocks) for one in range(part.block, part.block + part.blocks)]
    assert sorted(moved) == sorted(single[block : block + blocks])


def test_whole_rows_are_one_part_for_each_disk() -> None:
    assert FIGURE_5.split(0, 64) == [Part(disk, 0, 16) for disk in range(4)]
    assert FIGURE_5.split(17, 2) == [Part(0, 6, 2)]  # rotated by one: blocks 16 to 19 are sectors 1, 2, 3 and 0
    assert FIGURE_5.split(18, 2) == [Part(0, 7, 1), Part(0, 4, 1)]


def test_what_cannot_be_laid_out_is_refused() -> None:
    with pytest.raises(ValueError, match="12 tracks have no quadrangles of 13 tracks"):
        AtroposVolume(geometry(4, 4, 3), 4, 13, Step(0, 0))
    spare = Geometry([zone(4, 4, 3, spares=1)], 4, MILLISECOND, 40)
    with pytest.raises(ValueError, match="spare sectors"):
        AtroposVolume(spare, 4, 4, Step(0, 0))
    with pytest.raises(ValueError, match="column of block 16 has no 12 blocks"):
        FIGURE_5.semi_sequential(16, 12)
    with pytest.raises(ValueError, match="not all in a volume of 192 blocks"):
        FIGURE_5.split(190, 3)


# --- Atropos, the time ---


def times(disk: Disk, blocks: Sequence[int], *, write: bool = False) -> Iterator[int]:
    """Serve one-block requests that wait for each other; yields the ends."""
    end = disk.serve(0, 5_000_000, 1, write=False)  # leave cylinder 0
    for block in blocks:
        end = disk.serve(end, block, 1, write=write)
        yield end


def on_disk_0(volume: AtroposVolume, lbns: Sequence[int]) -> list[int]:
    """Return the blocks of disk 0, on which all of them lie."""
    parts = [volume.split(lbn, 1)[0] for lbn in lbns]
    assert {part.disk for part in parts} == {0}
    return [part.block for part in parts]


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("depth", [2, 4, 6])  # the quadrangles of 6 tracks go over the end of a cylinder
def test_semi_sequential_access_loses_no_turn(depth: int, write: bool) -> None:
    step = write_step(cheetah()) if write else read_step(cheetah())
    volume = AtroposVolume(cheetah().geometry, 4, depth, step)
    sector_ps = 6 * MILLISECOND // 738
    for lbn in (0, 5, 700, 4 * depth * volume.row_blocks + 311):
        ends = list(times(cheetah(), on_disk_0(volume, volume.semi_sequential(lbn, depth)), write=write))
        steps = [later - sooner for sooner, later in pairwise(ends)]
        assert max(steps) < step.head_ps + 12 * sector_ps  # the block itself, rounding up, a cylinder's longer skew
        assert min(steps) >= step.head_ps


def test_random_blocks_of_adjacent_tracks_cost_half_a_turn_more() -> None:
    volume = AtroposVolume(cheetah().geometry, 4, 4, read_step(cheetah()))
    chance = random.Random(1)
    step_ps = random_ps = 0
    for _ in range(200):
        lbn = chance.randrange(volume.track_blocks) + 16 * volume.row_blocks * chance.randrange(50)
        column = volume.semi_sequential(lbn, 4)
        scattered = [row - lbn % volume.track_blocks + chance.randrange(volume.track_blocks) for row in column]
        ends = list(times(cheetah(), on_disk_0(volume, column)))
        step_ps += ends[-1] - ends[0]
        ends = list(times(cheetah(), on_disk_0(volume, scattered)))
        random_ps += ends[-1] - ends[0]
    assert (random_ps - step_ps) / 600 == pytest.approx(3 * MILLISECOND, rel=0.1)


def test_sequential_beats_semi_sequential_beats_random_bandwidth() -> None:
    disk = cheetah()
    volume = AtroposVolume(disk.geometry, 1, 4, read_step(disk))
    sequential = disk.serve(0, 0, 64 * volume.track_blocks, write=False) / (64 * volume.track_blocks)
    column = [lbn for first in range(16) for lbn in volume.semi_sequential(first * 4 * volume.row_blocks, 4)]
    semi_sequential = list(times(cheetah(), on_disk_0(volume, column)))[-1] / 64
    chance = random.Random(1)
    scattered = list(times(cheetah(), [chance.randrange(volume.blocks) for _ in range(64)]))[-1] / 64
    assert sequential < semi_sequential / 10 < scattered / 20


# --- MEMStores ---


def test_the_track_and_the_column_of_figure_6() -> None:
    volume = MemstoreVolume(FIGURE_6)
    assert volume.semi_sequential(33, 3) == [33, 36, 51]
    assert volume.track(33) == Run(27, 9)
    assert volume.split(33, 6) == [Part(0, 33, 6)]
    with pytest.raises(ValueError, match="column of block 60 has no 4 blocks"):
        volume.semi_sequential(60, 4)


@given(lbn=st.integers(0, FIGURE_6.blocks - 1), count=st.integers(1, 9))
def test_columns_run_through_tracks_at_one_place(lbn: int, count: int) -> None:
    volume = MemstoreVolume(FIGURE_6)
    count = min(count, 9 - lbn // volume.row_blocks)
    column = volume.semi_sequential(lbn, count)
    assert [block // volume.row_blocks for block in column] == list(range(lbn // volume.row_blocks, lbn // volume.row_blocks + count))
    places = [FIGURE_6.locate(block) for block in column]
    assert len({(place.row, place.cell) for place in places}) == 1


def test_rows_and_columns_of_a_memstore_are_equally_efficient() -> None:
    volume = MemstoreVolume(mems().geometry())
    lbn = 5 * volume.row_blocks * 700 + 40  # on the first track of a cylinder
    row, column = mems().device(), mems().device()
    column_end = column.serve_batch(0, [Run(block, 1) for block in volume.semi_sequential(lbn, 5)], write=False)
    assert row.serve(0, lbn, 5, write=False) == column_end


# --- batches ---


def test_a_memstore_serves_a_batch_as_one_request() -> None:
    env = simpy.Environment()
    volume = MemstoreVolume(mems().geometry())
    server = VolumeServer(env, volume, serve_devices(env, [mems().device()]))
    column = volume.semi_sequential(40, 5)
    event = server.submit_batch((block, 1) for block in column)
    env.run()
    assert event.value.end_ps == mems().device().serve_batch(0, [Run(block, 1) for block in column], write=False)
    assert event.value.end_ps - event.value.start_ps == sum(event.value.parts)


def test_disks_serve_a_batch_block_by_block_and_at_the_same_time() -> None:
    env = simpy.Environment()
    volume = AtroposVolume(cheetah().geometry, 4, 4, read_step(cheetah()))
    server = VolumeServer(env, volume, serve_devices(env, [cheetah() for _ in range(4)]))
    event = server.submit_batch((block, 1) for block in volume.semi_sequential(0, 12))
    env.run()
    ends = []
    for first in (0, 4, 8):
        disk = cheetah()
        end = 0
        for block in volume.semi_sequential(0, 12)[first : first + 4]:
            end = disk.serve(end, volume.split(block, 1)[0].block, 1, write=False)
        ends.append(end)
    assert event.value.end_ps == max(ends)


class _Recorder:
    """A device that notes what it serves."""

    blocks = 64

    def __init__(self) -> None:
        self.inner = cheetah()
        self.parts = self.inner.parts
        self.comes_ps = 0
        self.served: list[tuple[int, int]] = []

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:
        self.served.append((block, blocks))
        return self.inner.serve(start_ps, block, blocks, write=write)

    def positioning_ps(self, now_ps: int, request: Asked) -> int:
        return self.inner.positioning_ps(now_ps, request)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 28)), min_size=1, max_size=6))
def test_every_block_of_a_batch_is_served_once(runs: list[tuple[int, int]]) -> None:
    env = simpy.Environment()
    devices = [_Recorder(), _Recorder()]
    volume = StripedVolume(2, 4, 64)
    event = VolumeServer(env, volume, serve_devices(env, devices)).submit_batch(runs)
    env.run()
    assert event.processed
    wanted = [(part.disk, part.block) for block, blocks in runs for one in range(block, block + blocks) for part in volume.split(one, 1)]
    served = [(disk, one) for disk, device in enumerate(devices) for block, blocks in device.served for one in range(block, block + blocks)]
    assert sorted(served) == sorted(wanted)


def test_an_empty_batch_is_refused() -> None:
    env = simpy.Environment()
    server = VolumeServer(
        env, MemstoreVolume(FIGURE_6), serve_devices(env, [Memstore(FIGURE_6, mems().device().sled, mems().device().electronics)])
    )
    with pytest.raises(ValueError, match="a batch of no blocks never ends"):
        server.submit_batch([])
