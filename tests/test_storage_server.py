"""Device and volume servers, the shared bus, striping, and clients of three kinds that end at the same picosecond."""

import itertools
import random

import pytest
import simpy
from closed_loop import Access, run_callbacks, run_plain, run_workers, scan
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.storage import SequentialRandomDevice, load_device
from memwalk.simcore.storage.bus import Bus
from memwalk.simcore.storage.device import Parts
from memwalk.simcore.storage.queues import QUEUES
from memwalk.simcore.storage.run import run
from memwalk.simcore.storage.server import DeviceServer, Served, serve_devices
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volume_server import VolumeServer
from memwalk.simcore.storage.volumes import Part, StripedVolume
from memwalk.traces.storage import Transfer
from memwalk.workloads.programs import transfers

PAGE = 16


def device(blocks=10_000, block_ps=1_000, positioning=50_000):
    return SequentialRandomDevice(blocks, 1, block_ps, positioning)


def test_a_request_waits_for_the_one_before():
    env = simpy.Environment()
    server = DeviceServer(env, device())
    first, second = server.submit(0, 10), server.submit(10, 5)
    env.run()
    assert first.value == Served(0, 0, 60_000, Parts(seek_ps=50_000, transfer_ps=10_000))
    assert second.value == Served(0, 60_000, 65_000, Parts(transfer_ps=5_000))
    assert (second.value.queue_ps, second.value.response_ps) == (60_000, 65_000)


def test_a_process_waits_for_its_request():
    env = simpy.Environment()
    server = DeviceServer(env, device())

    def client():
        yield env.timeout(7)
        served = yield server.submit(3, 1, write=True)
        return served, env.now

    served, now = env.run(env.process(client()))
    assert served.arrival_ps == 7
    assert served.end_ps == now == 7 + 51_000


def test_a_device_chooses_among_all_requests_of_the_moment_in_which_it_ends():
    """The nearer request comes in the picosecond in which the device ends, after its end."""
    env = simpy.Environment()
    server = DeviceServer(env, device(), QUEUES["sptf"]())
    order = []
    server.submit_call(0, 10, False, lambda _: server.submit_call(10, 1, False, lambda _: order.append("near")))
    server.submit_call(500, 1, False, lambda _: order.append("far"))
    env.run()
    assert order == ["near", "far"]


@pytest.mark.parametrize(("write", "wait"), [(False, [0, 20]), (True, [0, 20])])
def test_a_shared_bus_adds_waiting_only(write, wait):
    """Two devices move a block in 100 us at the same time, and the bus takes 20 us for one."""
    env = simpy.Environment()
    bus = Bus(512 * 50_000)
    servers = serve_devices(env, [device(block_ps=100 * 10**6, positioning=0) for _ in range(2)], bus=bus)
    events = [server.submit(0, 1, write=write) for server in servers]
    env.run()
    assert [event.value.parts.bus_ps // 10**6 for event in events] == wait
    assert all(event.value.end_ps == sum(event.value.parts) for event in events)


@pytest.mark.parametrize(("bus_us", "end_us"), [(50, 1000), (100, 1000), (1000, 1900)])
def test_nothing_flows_before_the_head_is_there(bus_us, end_us):
    """900 us until it is, and 100 us for the block: a bus that takes longer for it begins with the block."""
    env = simpy.Environment()
    (server,) = serve_devices(env, [device(block_ps=100 * 10**6, positioning=900 * 10**6)], bus=Bus(512 * 10**6 // bus_us))
    event = server.submit(500, 1)
    env.run()
    assert event.value.end_ps == end_us * 10**6 == sum(event.value.parts)
    assert event.value.parts.bus_ps == (end_us - 1000) * 10**6


def test_reads_share_a_bus_that_is_idle_between_their_blocks():
    """Two devices read ten blocks in 1000 us at the same time, and the bus takes 20 us for one: only the last ones meet."""
    env = simpy.Environment()
    servers = serve_devices(env, [device(block_ps=100 * 10**6, positioning=0) for _ in range(2)], bus=Bus(512 * 50_000))
    events = [server.submit(0, 10) for server in servers]
    env.run()
    assert [event.value.end_ps // 10**6 for event in events] == [1000, 1020]


def test_a_long_read_flows_around_a_short_one():
    """The bus takes 80 us for a block.

    The short read has its block from 900 to 950 us, which the bus takes up to 980 us. The long one has ten blocks up to 1000 us: nine
    have gone over before 900 us, and the last one does so behind the other.
    """
    env = simpy.Environment()
    devices = [device(block_ps=block_us * 10**6, positioning=0) for block_us in (100, 50)]
    long, short = serve_devices(env, devices, bus=Bus(512 * 12_500))
    event = long.submit(0, 10)
    env.run(900 * 10**6)
    other = short.submit(0, 1)
    env.run()
    assert other.value.parts.bus_ps == 30 * 10**6
    assert event.value.end_ps == 1060 * 10**6 == sum(event.value.parts)


def test_a_bus_bounds_the_bandwidth():
    """Four devices that need 1 us for a block, behind a bus that needs 10 us."""
    for write in (False, True):
        env = simpy.Environment()
        servers = serve_devices(env, [device(block_ps=10**6, positioning=0) for _ in range(4)], bus=Bus(512 * 100_000))
        for server, block in itertools.product(servers, range(25)):
            server.submit(block, 1, write=write)
        env.run()
        assert 100 * 10 <= env.now / 10**6 <= 100 * 10 + 10


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("megabytes_per_second", [5, 20, 100, 1000])
def test_requests_that_wait_for_a_bus_wait_for_no_command(megabytes_per_second, write):
    """A MEMStore has taken the command of what waits, and moves its sled for it while blocks of the request before wait for the bus."""
    blocks = [draw * 16 for draw in random.Random(5).sample(range(10_000), 50)]

    def served(bus):
        env = simpy.Environment()
        (server,) = serve_devices(env, [load_device("mems-g2").device()], bus=bus)
        events = [server.submit(block, 16, write=write) for block in blocks]
        env.run()
        return [event.value for event in events]

    bus = Bus(megabytes_per_second * 10**6)
    alone, shared = served(None), served(bus)
    for before, one in itertools.pairwise(shared):
        assert one.parts.overhead_ps == 0
        assert sum(one.parts) == one.end_ps - one.start_ps
        assert one.start_ps == before.end_ps
    # Nobody else is on the bus: it costs what it is slower than the device, and one request at the beginning and the end.
    slowest = max(alone[-1].end_ps, len(blocks) * bus.transfer_ps(16))
    longest = max(one.end_ps - one.start_ps for one in alone) + bus.transfer_ps(16)
    assert alone[-1].end_ps <= shared[-1].end_ps <= 1.1 * slowest + 2 * longest


@given(
    st.sampled_from(["cheetah-36es", "cheetah-15k4", "mems-g1", "mems-g3", "nvme-ssd"]),
    st.sampled_from([3, 20, 130, 9_000]),
    st.lists(st.tuples(st.integers(0, 20 * 10**9), st.integers(0, 5_000), st.integers(1, 800), st.booleans()), max_size=20),
)
def test_a_bus_that_nobody_else_is_on_costs_what_it_is_slower_than_the_devices_own(name, megabytes_per_second, accesses):
    bytes_per_second = megabytes_per_second * 10**6

    def served(system):
        server = system.switched_on()
        for pause, block, blocks, write in accesses:
            server.env.run(server.env.now + 1 + pause)
            yield server.env.run(server.submit(block, blocks, write=write))

    shared, own = System(load_device(name), bus=bytes_per_second), System(load_device(name).on_bus(bytes_per_second))
    assert list(served(shared)) == list(served(own))


@pytest.mark.parametrize(
    ("name", "megabytes_per_second", "request_", "us"),
    [
        # Nothing flows before a flash page is read (15 us for the command, 56 us) and off its channel: 13.653 us, or 3.413 for 4 KiB.
        ("nvme-ssd", 160, (0, 32, False), 15 + 56 + 13.653 + 102.4),
        ("nvme-ssd", 20, (0, 8, False), 15 + 56 + 3.413 + 204.8),
        # The drive's own link is as fast: 512 pages, on eight channels that bring the first to the link at the same time.
        ("nvme-ssd", 7_000, (0, 16_384, False), 15 + 56 + 13.653 + 512 * 2.34054),
        # A command, a parked sled over the row that is wanted, its pass, and then 12.8 us for each of its blocks.
        ("mems-g2", 40, (3_376_340, 20, False), 200 + 500 + 128.571 + 20 * 12.8),
        # A pass begins when its blocks are there, 128 us for each.
        ("mems-g2", 4, (3_376_340, 20, True), 200 + 20 * 128 + 128.571),
    ],
)
def test_one_request_over_a_bus_by_hand(name, megabytes_per_second, request_, us):
    block, blocks, write = request_
    server = System(load_device(name), bus=megabytes_per_second * 10**6).switched_on()
    served = server.env.run(server.submit(block, blocks, write=write))
    assert served.end_ps / 10**6 == pytest.approx(us, abs=0.02)
    assert served.end_ps == sum(served.parts)


def test_wrong_arguments_are_refused():
    env = simpy.Environment()
    with pytest.raises(ValueError, match="carries nothing"):
        Bus(0)
    with pytest.raises(ValueError, match="needs as many servers, not 1"):
        VolumeServer(env, StripedVolume(2, 4, 100), serve_devices(env, [device()]))
    with pytest.raises(ValueError, match="device number -1"):
        DeviceServer(env, device(), number=-1)
    with pytest.raises(ValueError, match="hold no units of 0 blocks"):
        StripedVolume(2, 0, 100)
    with pytest.raises(ValueError, match="blocks 199 to 200 are not all in a volume of 200 blocks"):
        StripedVolume(2, 4, 100).split(199, 2)


def test_striping_by_hand():
    volume = StripedVolume(3, 4, 10)  # two units of 4 blocks on each disk
    assert volume.blocks == 24
    assert volume.split(0, 4) == [Part(0, 0, 4)]
    assert volume.split(3, 2) == [Part(0, 3, 1), Part(1, 0, 1)]
    assert volume.split(6, 12) == [Part(1, 2, 4), Part(2, 0, 4), Part(0, 4, 4)]
    assert volume.split(0, 24) == [Part(0, 0, 8), Part(1, 0, 8), Part(2, 0, 8)]


@given(st.integers(1, 5), st.integers(1, 7), st.integers(1, 6), st.data())
def test_striping_is_a_bijection(disks, unit, units, data):
    volume = StripedVolume(disks, unit, unit * units + 1)
    block = data.draw(st.integers(0, volume.blocks - 1))
    blocks = data.draw(st.integers(1, volume.blocks - block))
    expected = {(b // unit % disks, b // unit // disks * unit + b % unit) for b in range(block, block + blocks)}
    parts = volume.split(block, blocks)
    covered = [(part.disk, b) for part in parts for b in range(part.block, part.block + part.blocks)]
    assert len(covered) == blocks
    assert set(covered) == expected
    assert len({part.disk for part in parts}) == len(parts), "one part for each disk"


def test_a_volume_is_done_with_its_last_part():
    env = simpy.Environment()
    volume = StripedVolume(2, 4, 100)
    server = VolumeServer(env, volume, serve_devices(env, [device(), device()]))
    done = server.submit(0, 6)
    env.run()
    assert done.value == Served(0, 0, 54_000, Parts(seek_ps=50_000, transfer_ps=4_000))


def random_pages(pages, seed=1):
    chance = random.Random(seed)
    return [Access(chance.randrange(500) * PAGE, PAGE, chance.random() < 0.3) for _ in range(pages)]


@pytest.mark.parametrize("disks", [1, 2, 3, 8])
@pytest.mark.parametrize("accesses", [list(scan(400, PAGE)), random_pages(400)], ids=["scan", "random"])
@pytest.mark.parametrize("unit", [PAGE, 5, 4 * PAGE])
def test_plain_loop_workers_and_callbacks_end_at_the_same_picosecond(disks, accesses, unit):
    volume = StripedVolume(disks, unit, 10_000)

    def server():
        env = simpy.Environment()
        return VolumeServer(env, volume, serve_devices(env, [device() for _ in range(disks)]))

    ends = {
        run_plain([device() for _ in range(disks)], volume, accesses, 32),
        run_workers(server(), accesses, 32),
        run_callbacks(server(), accesses, 32),
    }
    assert len(ends) == 1
    assert ends.pop() > 0


@pytest.mark.parametrize("disks", [1, 4])
@pytest.mark.parametrize("random_order", [False, True])
@pytest.mark.parametrize("name", ["cheetah-x15", "nvme-ssd"])
def test_a_program_ends_with_the_plain_loop(disks, random_order, name):
    accesses = random_pages(400) if random_order else list(scan(400, PAGE))
    system = System(load_device(name), disks, "striped", stripe_blocks=PAGE)
    program = transfers.clients((Transfer([(block, blocks)], write) for block, blocks, write in accesses), 32)
    (period,) = run(system, program).values()
    assert period.elapsed_ps == run_plain(system.devices(), system.layout(), accesses, 32)
    assert (period.asked.requests, period.asked.blocks) == (400, 400 * PAGE)


class ThreeAtOnce(SequentialRandomDevice):
    """A device that takes three requests at once."""

    queue_depth = 3


@pytest.mark.parametrize("disks", [1, 4])
@pytest.mark.parametrize("random_order", [False, True])
@pytest.mark.parametrize("make", [load_device("cheetah-x15").device, lambda: ThreeAtOnce(10_000, 1, 1_000, 50_000)], ids=["disk", "wide"])
def test_the_three_clients_end_together_on_other_devices(disks, random_order, make):
    accesses = random_pages(400) if random_order else list(scan(400, PAGE))
    volume = StripedVolume(disks, PAGE, 10_000)

    def server():
        env = simpy.Environment()
        return VolumeServer(env, volume, serve_devices(env, [make() for _ in range(disks)]))

    ends = {
        run_plain([make() for _ in range(disks)], volume, accesses, 32),
        run_workers(server(), accesses, 32),
        run_callbacks(server(), accesses, 32),
    }
    assert len(ends) == 1


@pytest.mark.parametrize("policy", QUEUES)
@pytest.mark.parametrize("megabytes_per_second", [None, 40])
def test_workers_and_callbacks_agree_under_every_policy_and_on_a_bus(policy, megabytes_per_second):
    """Devices of two constant times end together all the time, so that ties decide."""
    volume = StripedVolume(4, PAGE, 10_000)
    ends = []
    for go in (run_workers, run_callbacks):
        env = simpy.Environment()
        bus = None if megabytes_per_second is None else Bus(megabytes_per_second * 10**6)
        servers = serve_devices(env, [device(block_ps=3 * 10**6, positioning=6 * 10**6) for _ in range(4)], QUEUES[policy], bus)
        ends.append(go(VolumeServer(env, volume, servers), random_pages(2_000), 32))
    assert ends[0] == ends[1]
