"""Traces of requests on devices: where the time of each request goes.

An ASCII trace is an open loop: requests arrive when the trace says, and wait for those before them. Device numbers are devices of
one kind, made when they first occur, each with a queue of its own. A validation trace is a closed loop on one device: a request
begins when the gap behind the end of the one before is over, at its simulated end, not at the measured one.

Devices that share nothing need no events: each is taken forward to the next arrival that is its own. The times are those of
`DeviceServer`, several times faster.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heapreplace
from typing import TypeAlias

from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.device import MOST_DEVICES, AnticipatingDevice, StorageDevice, queue_depth
from memwalk.simcore.storage.disksim import Arrival, Measured
from memwalk.simcore.storage.queues import Queue, Request
from memwalk.simcore.storage.trace_lines import TraceLines

DEPTH = 128
"""Requests that a queue chooses among unless something else is asked for: as many as Linux queues for a disk (nr_requests)."""

Times: TypeAlias = tuple[int, ...]
"""Of one request: whether it writes, and `PARTS` in ps; behind them the measured response time of a validation trace."""


class _Station:
    """A device with its queue, and when it chooses its next request, if any waits."""

    def __init__(self, device: StorageDevice, queue: Queue) -> None:
        self.device = device
        self._anticipates = device if isinstance(device, AnticipatingDevice) else None
        self.queue = queue
        self.ready = 0
        self._ends = [0] * queue_depth(device)
        """When each of the requests ends that the device has at once; a heap."""

    def arrive(self, request: Request) -> None:
        if not len(self.queue):
            self.ready = max(self._ends[0], request.arrival_ps)
        self.queue.push(request)

    def serve(self) -> Times:
        start, device = self.ready, self.device
        request = self.queue.pop(start, device)
        if self._anticipates is not None:
            self._anticipates.expect(request.arrival_ps)
        heapreplace(self._ends, device.serve(start, request.block, request.blocks, write=request.write))
        self.ready = max(start, self._ends[0])
        return (request.write, start - request.arrival_ps, *device.parts)


def replay_open(
    lines: TraceLines, requests: Iterable[Arrival], make_device: Callable[[], StorageDevice], make_queue: Callable[[], Queue], depth: int
) -> Iterator[Times]:
    """Replay an open loop; times come in the order in which each device serves.

    A queue sees the ``depth`` oldest requests of its device; the others wait before it in order of arrival, which bounds memory and
    is as good as any depth for first come, first served. Raises UserError for a request that the device has no room for, and for
    too many devices.
    """
    stations: dict[int, _Station] = {}
    for sequence, (arrival, number, block, blocks, write) in enumerate(requests):
        station = stations.get(number)
        if station is None:
            if len(stations) == MOST_DEVICES:
                raise lines.mistake(f"device {number} is one more than the {MOST_DEVICES} devices that a trace may have; split it")
            station = stations[number] = _Station(make_device(), make_queue())
        if block + blocks > station.device.blocks:
            raise _beyond(lines, block, blocks, station.device)
        # What arrives when the device chooses is still to be chosen from.
        while (waiting := len(station.queue)) and (station.ready < arrival or waiting == depth):
            yield station.serve()
        station.arrive(Request(arrival, sequence, block, blocks, write))
    for station in stations.values():
        while len(station.queue):
            yield station.serve()


def replay_closed(lines: TraceLines, requests: Iterable[Measured], make_device: Callable[[], StorageDevice]) -> Iterator[Times]:
    """Replay measured requests, one at a time. Raises UserError for a request that the device has no room for."""
    device = make_device()
    start = 0
    for write, _, block, blocks, response, gap in requests:
        if block + blocks > device.blocks:
            raise _beyond(lines, block, blocks, device)
        start = device.serve(start, block, blocks, write=write) + gap
        yield (write, 0, *device.parts, response)


def _beyond(lines: TraceLines, block: int, blocks: int, device: StorageDevice) -> UserError:
    return lines.mistake(f"blocks {block} to {block + blocks - 1} are not on a device of {device.blocks} blocks; take a larger device")
