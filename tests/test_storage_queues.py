"""Queue policies: nothing lost or served twice, the order of each policy, ties by arrival and sequence."""

import random
from itertools import pairwise

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.storage import SequentialRandomDevice
from memwalk.simcore.storage.device import Parts, Run
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.queues import QUEUES, AgedSptf, CLook, Fcfs, Queue, Request, Sptf
from memwalk.simcore.storage.queues.sptf import AGE_MS, FEW
from memwalk.simcore.storage.server import DeviceServer, Served
from memwalk.simcore.units import PS_PER_SECOND

BLOCKS = 1000


class Arm:
    """A device whose positioning takes 10 ps per block of distance, and a block 3 ps."""

    blocks = BLOCKS
    parts = Parts()

    def __init__(self):
        self.head = 0

    def positioning_ps(self, now_ps, request):  # noqa: ARG002
        return 10 * abs(request.block - self.head)

    def serve(self, start_ps, block, blocks, *, write):  # noqa: ARG002
        self.parts = Parts(seek_ps=10 * abs(block - self.head), transfer_ps=3 * blocks)
        self.head = block + blocks
        return start_ps + sum(self.parts)


def request(sequence, block, *, arrival=0, blocks=1):
    return Request(arrival, sequence, block, blocks, False, print)


def drained(queue, device=None):
    return [queue.pop(0, device or Arm()).sequence for _ in range(len(queue))]


@pytest.mark.parametrize("policy", QUEUES.values())
def test_equal_requests_leave_by_arrival_then_sequence(policy):
    queue = policy()
    for sequence, arrival in enumerate([0, 0, 0, 5, 5, 5]):
        queue.push(request(sequence, 0, arrival=arrival, blocks=0))
    assert drained(queue) == [0, 1, 2, 3, 4, 5]


def test_c_look_sweeps_up_and_returns_to_the_lowest():
    queue = CLook()
    for sequence, block in enumerate([50, 10, 90, 30]):
        queue.push(request(sequence, block))
    assert drained(queue) == [1, 3, 0, 2]
    for sequence, block in enumerate([95, 20, 91, 90]):  # the head is at 91
        queue.push(request(sequence, block))
    assert drained(queue) == [2, 0, 1, 3]


def batch(sequence, *runs):
    return request(sequence, runs[0].block, blocks=sum(run.blocks for run in runs))._replace(runs=runs)


def test_c_look_goes_on_behind_the_last_run_of_a_batch():
    """A batch is served as one request: its first block and all its blocks together say nothing of where it ends."""
    queue = CLook()
    queue.push(batch(0, Run(0, 16), Run(500, 16)))
    assert queue.pop(0, Arm()).sequence == 0
    for sequence, block in enumerate([250, 900], 1):
        queue.push(request(sequence, block))
    assert drained(queue) == [2, 1]


def test_no_batch_turns_the_sweep_of_c_look_back():
    queue = CLook()
    queue.push(batch(0, Run(500, 16), Run(0, 16)))
    assert queue.pop(0, Arm()).sequence == 0
    for sequence, block in enumerate([250, 900], 1):
        queue.push(request(sequence, block))
    assert drained(queue) == [2, 1], "or else the high blocks could wait for ever"


def test_sptf_asks_the_device_each_time():
    queue, arm = Sptf(), Arm()
    for sequence, block in enumerate([100, 10, 40, 7]):
        queue.push(request(sequence, block))
    order = []
    while len(queue):
        taken = queue.pop(0, arm)
        arm.serve(0, taken.block, taken.blocks, write=False)
        order.append(taken.block)
    assert order == [7, 10, 40, 100]


@pytest.mark.parametrize("policy", QUEUES.values())
def test_an_empty_queue_gives_nothing(policy):
    with pytest.raises(IndexError):
        policy().pop(0, Arm())


class Watched:
    """A queue that notes what it gives, and what could have been given instead."""

    def __init__(self, queue: Queue):
        self.queue = queue
        self.waiting: list[Request] = []
        self.given: list[tuple[Request, list[Request], int]] = []

    def __len__(self):
        return len(self.queue)

    def push(self, request):
        self.waiting.append(request)
        self.queue.push(request)

    def pop(self, now_ps, device):
        choice = list(self.waiting)
        taken = self.queue.pop(now_ps, device)
        self.waiting.remove(taken)
        self.given.append((taken, choice, device.head))
        return taken


# Many of the same moment, of the same block, and gaps longer than any service.
streams = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 7, 400, 30_000]), st.integers(0, BLOCKS - 9), st.integers(1, 8)),
    min_size=1,
    max_size=60,
)


def run(policy, stream):
    """Submit a stream of (gap, block, blocks); returns the watched queue and what came back, by sequence."""
    env = simpy.Environment()
    watched = Watched(policy())
    server = DeviceServer(env, Arm(), watched)
    back: list[tuple[int, Served]] = []

    def client():
        for sequence, (gap, block, blocks) in enumerate(stream):
            yield env.timeout(gap)
            server.submit_call(block, blocks, False, lambda served, sequence=sequence: back.append((sequence, served)))

    env.process(client())
    env.run()
    return watched, back


@pytest.mark.parametrize("policy", QUEUES.values())
@given(stream=streams)
def test_every_request_is_served_once(policy, stream):
    watched, back = run(policy, stream)
    assert sorted(sequence for sequence, _ in back) == list(range(len(stream)))
    assert sorted(taken.sequence for taken, _, _ in watched.given) == list(range(1, len(stream) + 1))
    arrival = 0
    by_sequence = dict(back)
    for sequence, (gap, *_) in enumerate(stream):
        arrival += gap
        served = by_sequence[sequence]
        assert served.arrival_ps == arrival <= served.start_ps
        assert served.end_ps == served.start_ps + sum(served.parts)
    times = sorted((served.start_ps, served.end_ps) for _, served in back)
    assert all(before[1] <= after[0] for before, after in pairwise(times)), "one request at a time"


@given(stream=streams)
def test_fcfs_gives_the_first(stream):
    for taken, choice, _ in run(Fcfs, stream)[0].given:
        assert taken == min(choice)


@given(stream=streams)
def test_sptf_gives_the_least_positioning_time(stream):
    for taken, choice, head in run(Sptf, stream)[0].given:
        assert (abs(taken.block - head), taken) == min((abs(other.block - head), other) for other in choice)


@given(waiting=st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 20)), min_size=1, max_size=2 * FEW))
def test_aged_sptf_gives_the_least_positioning_time_less_what_the_wait_counts(waiting):
    now, arm = 20 * PS_PER_SECOND, Arm()
    requests = [
        request(number, block, arrival=now - seconds * PS_PER_SECOND)
        for number, (block, seconds) in enumerate(sorted(waiting, key=lambda one: -one[1]))
    ]
    queue = AgedSptf()
    for each in requests:
        queue.push(each)
    worth = {each: 10 * each.block - (now - each.arrival_ps) * AGE_MS // 1000 for each in requests}
    assert queue.pop(now, arm) == min(requests, key=lambda each: (worth[each], each))


def test_a_request_that_is_far_comes_when_it_has_waited_long():
    second = PS_PER_SECOND
    ages = {"sptf": False, "aged-sptf": True}
    for name, comes in ages.items():
        queue = QUEUES[name]()
        queue.push(request(0, AGE_MS * second // 10_000))
        served = []
        for number in range(1, 4):
            queue.push(request(number, 0)._replace(arrival_ps=number * second))
            served.append(queue.pop(number * second, Arm()).sequence)
        # It counts as near as its neighbours after a second, and goes first among equals as it came first.
        assert served == ([0, 1, 2] if comes else [1, 2, 3])


def test_bounds_and_ages_together_choose_as_the_device_says():
    device = load_device("cheetah-36es").device()
    for waited in range(20):
        queue = AgedSptf()
        requests = [
            request(number, 71 * number**3)._replace(arrival_ps=(number * 977 % 19) * PS_PER_SECOND // 4) for number in range(2 * FEW)
        ]
        for each in sorted(requests):
            queue.push(each)
        now = (5 + waited) * PS_PER_SECOND
        taken = queue.pop(now, device)
        worth = {each: device.positioning_ps(now, each) - (now - each.arrival_ps) * AGE_MS // 1000 for each in requests}
        assert worth[taken] <= min(worth.values()) + 1


@given(stream=streams)
def test_c_look_gives_the_next_block_upwards_or_the_lowest(stream):
    for taken, choice, head in run(CLook, stream)[0].given:
        assert (taken.block < head, taken.block, taken) == min((other.block < head, other.block, other) for other in choice)


@pytest.mark.parametrize("policy", [CLook, Sptf, AgedSptf])
@given(stream=streams, seed=st.integers(0, 9))
def test_the_order_in_which_a_queue_that_chooses_holds_its_requests_does_not_matter(policy, stream, seed):
    requests = [request(sequence, block, blocks=blocks) for sequence, (_, block, blocks) in enumerate(stream)]
    mixed = random.Random(seed).sample(requests, len(requests))
    orders = []
    for arrivals in (requests, mixed):
        queue = policy()
        for each in arrivals:
            queue.push(each)
        orders.append(drained(queue, SequentialRandomDevice(BLOCKS, 1, 3, 50)))
    assert orders[0] == orders[1]


def test_sptf_chooses_among_the_requests_that_the_device_holds():
    queue, arm = Sptf(tags=2), Arm()
    for sequence, block in enumerate((500, 300, 0)):
        queue.push(request(sequence, block))
    assert len(queue) == 3
    assert [queue.pop(0, arm).block for _ in range(3)] == [300, 0, 500]  # block 0 is nearest, but comes in for 300
